// The elementwise programs of the vector unit (VXM).
//
// A program takes one vector from each input stream group, runs a chain of
// steps on f32 lanes, and puts out vectors; a burst repeats it `count` times.
// Values are numbered: inputs first, then one a step.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace orrery {

/// How a value lies on streams. One stream carries `lanes` bytes a cycle.
///   F32   4 streams, byte k of the little-endian value on stream k
///   F16   2 streams, likewise
///   I8    1 stream
///   A8    2 streams: int8 codes; then the f32 scale of 32-block b in bytes
///         4b .. 4b+3 of the second stream's vector, the rest zero
///   Sum   8 streams: an exact accumulator (int64, rule 5 of the numerics),
///   byte
///         k of the little-endian value on stream k
enum class StreamType : uint8_t { F32, F16, I8, A8, Sum };
inline int32_t streamsOf(StreamType t) {
  switch (t) {
  case StreamType::F32:
    return 4;
  case StreamType::F16:
  case StreamType::A8:
    return 2;
  case StreamType::I8:
    return 1;
  case StreamType::Sum:
    return 8;
  }
  return 0;
}

/// f32 unless said otherwise; IEEE, nearest even, no contraction.
enum class AluOp : uint8_t {
  Add,  ///< a + b
  Sub,  ///< a - b
  Mul,  ///< a * b
  Div,  ///< a / b
  Max,  ///< max(a, b)
  Exp,  ///< numerics::expExact(a)
  Sqrt, ///< sqrt(a)
  Silu, ///< numerics::silu(a)
  /// a where the lane's element index is below the limit, else `immediate`.
  /// element = lane + lanes * tile(i); limit = `bound`, plus, when
  /// `position` is set, POS + token(i) + 1.
  Keep,
  /// a in lanes [w*k, w*k + w), else 0; w = `width`, k = tile(i).
  Window,
  /// Every lane gets lane w*k of a; w = `width`, k = tile(i).
  Splat,
  /// Per group of `width` lanes: the KV scale d = f16(amax/127) as f32, in
  /// every lane of the group.
  KvScale,
  /// Per group of `width` lanes: rint(a / KvScale(a)) clamped to +-127, as f32.
  KvCode,
  Immediate, ///< `immediate` in every lane
  AddBits,   ///< a + b as uint32, on the bits: element indices
};

/// Index of vector i of a burst: (i / divide) % modulo.
struct BurstIndex {
  uint32_t divide = 1;
  uint32_t modulo = 1;
  uint32_t operator()(uint32_t i) const { return (i / divide) % modulo; }
  bool operator==(const BurstIndex &) const = default;
};

/// One step of the chain. Unused fields are zero.
struct AluStep {
  AluOp op;
  uint8_t a = 0, b = 0; ///< value numbers
  float immediate = 0;
  uint32_t bound = 0; ///< Keep: elements
  bool position = false;
  uint32_t width = 0; ///< Window, Splat, KvScale, KvCode: lanes
  BurstIndex token{}, tile{};
  bool operator==(const AluStep &) const = default;
};

/// What happens to a value over the lanes and over `group` successive vectors.
///   SumWide   exact sum of f32 terms in the wide accumulator, read as f32
///   SumExact  exact sum in the int64 accumulator, read as f32
///   Max       greatest lane
///   ArgMax    lane 0: greatest value; lane 1: its element index
///             lane + lanes * (i % group), as the bits of a uint32; rest zero
///   ArgBest   the one of `group` results of ArgMax with the greatest value,
///             the lowest index (as uint32) among equals
///   AddSums   each lane for itself: the exact sum of `group` accumulators,
///   read
///             as f32 or, to be added to elsewhere, put out as Sum
/// All but the last three put the result into every lane.
enum class Reduction : uint8_t {
  None,
  SumWide,
  SumExact,
  Max,
  ArgMax,
  ArgBest,
  AddSums
};

struct VectorOutput {
  uint8_t value;
  /// F32 for every reduction, AddSums also Sum; A8 quantizes (rule 4).
  StreamType type;
  Reduction reduction = Reduction::None;
  bool operator==(const VectorOutput &) const = default;
};

struct VectorProgram {
  /// F32, F16 or I8, widened to f32; or Sum, which only AddSums takes.
  std::vector<StreamType> inputs;
  std::vector<AluStep> steps;
  std::vector<VectorOutput> outputs;
  uint32_t group = 1; ///< vectors in one reduction; divides the burst's count
  bool operator==(const VectorProgram &) const = default;
};

} // namespace orrery
