// Hashes and checks of the attributes in TickAttributes.td.
#include "dialects/tick/Tick.h"

#include "machine/PartialSums.h"

using namespace mlir;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

namespace orrery {

using llvm::hash_combine;

llvm::hash_code hash_value(const BurstShape &shape) {
  return hash_combine(shape.length, shape.stride, shape.runs, shape.period);
}

llvm::hash_code hash_value(const AddressPattern &address) {
  return hash_combine(
      address.base,
      llvm::hash_combine_range(address.extent.begin(), address.extent.end()),
      llvm::hash_combine_range(address.step.begin(), address.step.end()),
      address.dynamic, address.dynamicStep);
}

llvm::hash_code hash_value(const StreamRef &stream) {
  return hash_combine(stream.direction, stream.stream);
}

llvm::hash_code hash_value(const StreamOut &out) {
  return hash_combine(out.ref, out.stop);
}

llvm::hash_code hash_value(const LogitsPlace &place) {
  return hash_combine(place.slice, place.bank, place.base, place.vectors,
                      place.vocab);
}

llvm::hash_code hash_value(const AluStep &step) {
  return hash_combine(step.op, step.a, step.b,
                      std::bit_cast<uint32_t>(step.immediate), step.bound,
                      step.position, step.width,
                      hash_combine(step.token.divide, step.token.modulo,
                                   step.tile.divide, step.tile.modulo));
}

llvm::hash_code hash_value(const VectorOutput &output) {
  return hash_combine(output.value, output.type, output.reduction);
}

} // namespace orrery

namespace orrery::tick {

static uint32_t immediateBits(const AluStep &step) {
  return std::bit_cast<uint32_t>(step.immediate);
}

bool sameBits(const AluStep &a, const AluStep &b) {
  AluStep sameImmediate = b;
  sameImmediate.immediate = a.immediate;
  // A NaN is not equal to itself, so the steps are compared without it.
  AluStep left = a;
  left.immediate = sameImmediate.immediate = 0;
  return left == sameImmediate && immediateBits(a) == immediateBits(b);
}

LogicalResult ShapeAttr::verify(EmitError emitError, BurstShape shape) {
  if (shape.length < 1 || shape.stride < 1 || shape.runs < 1) { // (C1)
    return emitError() << "length, stride and runs are at least 1, found "
                       << shape.length << ", " << shape.stride << ", "
                       << shape.runs;
  }
  const uint64_t run = uint64_t(shape.length - 1) * shape.stride + 1;
  if (shape.runs > 1 && shape.period < run) { // (C2)
    return emitError() << "a run takes " << run
                       << " ticks, the next begins after " << shape.period;
  }
  return success();
}

// In 128 bits: three steps times three extents of 32 bits do not fit in 64.
static bool hasNegative(const AddressPattern &address) {
  __int128 lowest = address.base;
  for (int k = 0; k < 3; ++k) {
    lowest += std::min<__int128>(0, __int128(address.step[k]) *
                                        (address.extent[k] - 1));
  }
  return lowest < 0;
}

LogicalResult AddressAttr::verify(EmitError emitError, AddressPattern address) {
  for (uint32_t extent : address.extent) {
    if (extent < 1) { // (C1)
      return emitError() << "extents are at least 1, found 0";
    }
  }
  if (address.dynamic == orrery::Dynamic::None && address.dynamicStep != 0) {
    return emitError() << "no step register, but a dynamic step of "
                       << address.dynamicStep; // (C2)
  }
  if (hasNegative(address)) { // (C3)
    return emitError() << "the lowest address is negative";
  }
  return success();
}

LogicalResult StreamAttr::verify(EmitError, StreamRef) { return success(); }

LogicalResult OutAttr::verify(EmitError emitError, StreamOut out) {
  if (out.stop < 0) { // (C1)
    return emitError() << "the stop is not negative, found " << out.stop;
  }
  return success();
}

LogicalResult LogitsAttr::verify(EmitError emitError, LogitsPlace place) {
  // A stage that is not the last leaves none.
  bool none = place.vectors == 0 && place.vocab == 0;
  if (!none && (place.vectors < 1 || place.vocab < 1)) { // (C1)
    return emitError() << "vectors and vocab are at least 1, found "
                       << place.vectors << ", " << place.vocab;
  }
  return success();
}

LogicalResult OutputAttr::verify(EmitError emitError, VectorOutput output) {
  if (!reducesTo(output.reduction, output.type)) { // (C1)
    return emitError() << "a reduction gives f32, add_sums also sum";
  }
  return success();
}

} // namespace orrery::tick
