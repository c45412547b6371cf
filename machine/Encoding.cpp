#include "machine/Encoding.h"

#include <bit>
#include <cassert>
#include <limits>
#include <type_traits>
#include <utility>

namespace orrery {

namespace {

//===-- Varints -----------------------------------------------------------===//

void putVarint(uint64_t value, std::vector<uint8_t> &text) {
  while (value >= 0x80) {
    text.push_back(uint8_t(value) | 0x80);
    value >>= 7;
  }
  text.push_back(uint8_t(value));
}

Bytes varintBytes(uint64_t value) {
  return (Bytes(std::bit_width(value | 1)) + 6) / 7;
}

/// How a field of type T is written as an unsigned number.
template <class T> uint64_t toBits(T value) {
  if constexpr (std::is_signed_v<T>) {
    auto wide = int64_t(value);
    return (uint64_t(wide) << 1) ^ uint64_t(wide >> 63);
  } else {
    return uint64_t(value);
  }
}
template <class T> bool fromBits(uint64_t bits, T &value) {
  if constexpr (std::is_signed_v<T>) {
    auto wide = int64_t(bits >> 1) ^ -int64_t(bits & 1);
    value = T(wide);
    return int64_t(value) == wide;
  } else {
    value = T(bits);
    return uint64_t(value) == bits;
  }
}

//===-- The two directions ------------------------------------------------===//

class Writer {
public:
  template <class T> void field(const T &value, std::type_identity_t<T> usual) {
    present(value != usual);
    if (value != usual) {
      putVarint(toBits(value), payload);
    }
  }
  /// An enum whose greatest value is `last`.
  template <class T> void choice(const T &value, T last) {
    (void)last;
    field(std::underlying_type_t<T>(value), 0);
  }
  void position(const Position &value) { field(uint32_t(value), 0); }
  void ref(const StreamRef &value) {
    field(uint16_t(value.stream * 2 + uint8_t(value.direction)), 0);
  }

  void finish(std::vector<uint8_t> &text) const {
    putVarint(presence, text);
    text.insert(text.end(), payload.begin(), payload.end());
  }

private:
  void present(bool bit) { presence |= uint64_t(bit) << fields++; }

  uint64_t presence = 0;
  int fields = 0;
  std::vector<uint8_t> payload;
};

/// Counts the bytes that a Writer writes.
class Sizer {
public:
  template <class T> void field(const T &value, std::type_identity_t<T> usual) {
    bool present = value != usual;
    presence |= uint64_t(present) << fields++;
    payload += present ? varintBytes(toBits(value)) : 0;
  }
  template <class T> void choice(const T &value, T) {
    field(std::underlying_type_t<T>(value), 0);
  }
  void position(const Position &value) { field(uint32_t(value), 0); }
  void ref(const StreamRef &value) {
    field(uint16_t(value.stream * 2 + uint8_t(value.direction)), 0);
  }
  Bytes bytes() const { return varintBytes(presence) + payload; }

private:
  uint64_t presence = 0;
  int fields = 0;
  Bytes payload = 0;
};

class Reader {
public:
  explicit Reader(std::span<const uint8_t> text) : text(text) {}

  template <class T> void field(T &value, std::type_identity_t<T> usual) {
    value = usual;
    if (!present()) {
      return;
    }
    uint64_t bits = varint();
    if (!failed() && (!fromBits(bits, value) || value == usual)) {
      fail("a field", "its default, or one out of range");
    }
  }
  template <class T> void choice(T &value, T last) {
    std::underlying_type_t<T> number = 0;
    field(number, 0);
    if (number > std::underlying_type_t<T>(last)) {
      fail("an enumerator", "a greater number");
    }
    value = T(number);
  }
  void position(Position &value) {
    uint32_t number = 0;
    field(number, 0);
    value = Position(number);
  }
  void ref(StreamRef &value) {
    uint16_t number = 0;
    field(number, 0);
    if (number > 2 * 255 + 1) {
      fail("a stream", "a greater number");
    }
    value = {Direction(number & 1), uint8_t(number >> 1)};
  }

  uint8_t byte() {
    if (offset == text.size()) {
      fail("another byte", "the end");
    }
    return failed() ? 0 : text[offset++];
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t next = byte();
      value |= uint64_t(next & 0x7f) << shift;
      bool lost = shift == 63 && next > 1;
      if (lost || (next == 0 && shift > 0)) {
        break;
      }
      if (next < 0x80) {
        return value;
      }
    }
    fail("a varint of 64 bits", "a longer one");
    return 0;
  }
  void startFields() { presence = varint(); }
  /// All presence bits must have had a field.
  void finish() {
    if (presence != 0) {
      fail("presence bits of fields", "more of them");
    }
  }

  void fail(const char *wanted, const char *got) {
    if (!failed()) {
      expected = wanted;
      found = got;
    }
  }
  bool failed() const { return expected != nullptr; }
  Error error() const {
    return {"encoded instruction: byte " + std::to_string(offset) +
            ": expected " + expected + ", found " + found};
  }
  std::span<const uint8_t> rest() const { return text.subspan(offset); }

private:
  bool present() { return std::exchange(presence, presence >> 1) & 1; }

  std::span<const uint8_t> text;
  size_t offset = 0;
  uint64_t presence = 0;
  const char *expected = nullptr; ///< of the first failure
  const char *found = nullptr;
};

//===-- Fields and defaults, the most often present first -----------------===//

/// T is U; const where a Writer reads it.
template <class T, class U>
concept As = std::is_same_v<std::remove_const_t<T>, U>;

template <class A> void fields(A &archive, As<BurstShape> auto &shape) {
  archive.field(shape.length, 1);
  archive.field(shape.runs, 1);
  archive.field(shape.period, 0);
  archive.field(shape.stride, 1);
}

/// The innermost extent follows from the vectors of the burst.
template <class A>
void fields(A &archive, As<AddressPattern> auto &address, uint64_t vectors) {
  archive.field(address.base, 0);
  archive.field(address.step[0], 1);
  archive.field(address.step[1], 0);
  archive.field(address.step[2], 0);
  archive.field(address.extent[1], 1);
  archive.field(address.extent[2], 1);
  uint64_t outer = uint64_t(address.extent[1]) * address.extent[2];
  archive.field(address.extent[0], outer ? uint32_t(vectors / outer) : 1);
  archive.choice(address.dynamic, Dynamic::Chunk);
  archive.field(address.dynamicStep, 0);
}

template <class A> void fields(A &archive, As<StreamOut> auto &out) {
  archive.position(out.stop);
  archive.ref(out.ref);
}

template <class A> void fields(A &archive, As<ReadOp> auto &op) {
  fields(archive, op.shape);
  archive.field(op.width, 1);
  archive.field(op.bank, 0);
  fields(archive, op.out);
  fields(archive, op.address, op.shape.count());
}

template <class A> void fields(A &archive, As<WriteOp> auto &op) {
  fields(archive, op.shape);
  archive.field(op.width, 1);
  archive.field(op.bank, 0);
  archive.ref(op.in);
  fields(archive, op.address, op.shape.count());
  archive.choice(op.mask, LaneMask::TokenSpan);
  archive.field(op.low, 0);
  archive.field(op.high, 0);
  archive.field(op.tokenDimension, 0);
  archive.field(op.stripeBytes, 0);
  archive.field(op.stripeStep, 0);
}

template <class A> void fields(A &archive, As<LoadOp> auto &op) {
  fields(archive, op.shape);
  archive.field(op.f16, false);
  archive.field(op.stream, 0);
  archive.field(op.base, 0);
}

template <class A> void fields(A &archive, As<InstallOp> auto &op) {
  fields(archive, op.shape);
  archive.choice(op.format, WeightFormat::F16);
  archive.field(op.high, 0);
  archive.field(op.stream, 0);
  archive.field(op.low, 0);
  archive.field(op.width, 16);
}

template <class A> void fields(A &archive, As<MatmulOp> auto &op) {
  archive.choice(op.format, WeightFormat::F16);
  archive.field(op.high, 0);
  archive.position(op.stop);
  archive.field(op.period, 0);
  archive.field(op.tiles, 1);
  archive.field(op.inner, 1);
  archive.field(op.rows, 1);
  archive.field(op.low, 0);
  archive.field(op.base, 0);
  archive.field(op.stream, 0);
  archive.field(op.sums, false);
}

template <class A> void fields(A &archive, As<VectorOp> auto &op) {
  archive.field(op.count, 1);
  archive.field(op.program, 0);
  archive.field(op.inputs, 0);
  archive.field(op.outputs, 0);
  for (size_t i = 0; i < op.in.size() && i < op.inputs; ++i) {
    archive.ref(op.in[i]);
  }
  for (size_t i = 0; i < op.out.size() && i < op.outputs; ++i) {
    fields(archive, op.out[i]);
  }
}

template <class A> void fields(A &archive, As<PermuteOp> auto &op) {
  archive.choice(op.kind, PermuteKind::Transpose);
  archive.field(op.count, 1);
  archive.field(op.width, 1);
  archive.field(op.outWidth, 1);
  archive.field(op.map, 0);
  archive.field(op.rows, 0);
  archive.ref(op.in);
  fields(archive, op.out);
}

template <class A> void fields(A &archive, As<ReceiveOp> auto &op) {
  fields(archive, op.shape);
  archive.field(op.stream, 0);
  archive.position(op.stop);
  archive.field(op.width, 4);
}

template <class A> void fields(A &archive, As<SendOp> auto &op) {
  fields(archive, op.shape);
  archive.field(op.stream, 0);
  archive.field(op.width, 4);
}

template <class A> void fields(A &archive, As<FetchOp> auto &op) {
  archive.field(op.slice, 0);
  archive.field(op.address, 0);
  archive.choice(op.target.kind, QueueId::Kind::Fetch);
  archive.field(op.target.index, 0);
  archive.field(op.bank, 0);
}

//===-- Units -------------------------------------------------------------===//

/// The member of an operation that numbers its unit; null where there is only
/// one unit.
std::nullptr_t unitOf(auto &) { return nullptr; }
auto *unitOf(As<ReadOp> auto &op) { return &op.slice; }
auto *unitOf(As<WriteOp> auto &op) { return &op.slice; }
auto *unitOf(As<LoadOp> auto &op) { return &op.plane; }
auto *unitOf(As<InstallOp> auto &op) { return &op.plane; }
auto *unitOf(As<MatmulOp> auto &op) { return &op.plane; }
auto *unitOf(As<PermuteOp> auto &op) { return &op.sxm; }
auto *unitOf(As<ReceiveOp> auto &op) { return &op.link; }
auto *unitOf(As<SendOp> auto &op) { return &op.link; }

/// An operation of the queue's kind and unit, all else at its default.
Operation emptyOperation(QueueId queue) {
  constexpr auto make = []<size_t... I>(QueueId id, std::index_sequence<I...>) {
    Operation operation;
    ((size_t(id.kind) == I ? void(operation.emplace<I>()) : void()), ...);
    return operation;
  };
  Operation operation = make(queue, std::make_index_sequence<kQueueKinds>());
  std::visit(
      [&](auto &op) {
        auto unit = unitOf(op);
        if constexpr (!std::is_null_pointer_v<decltype(unit)>) {
          *unit = std::remove_pointer_t<decltype(unit)>(queue.index);
        }
      },
      operation);
  return operation;
}

constexpr uint8_t opcodeOf(size_t kind) { return uint8_t(kind + 1); }

} // namespace

static_assert(std::variant_size_v<Operation> == kQueueKinds);

const char *mnemonic(const Operation &operation) {
  constexpr const char *kNames[kQueueKinds] = {
      "read",   "write",   "load",    "install", "matmul",
      "vector", "permute", "receive", "send",    "fetch"};
  return kNames[operation.index()];
}

QueueId queueOf(const Operation &operation) {
  return std::visit(
      [&](const auto &op) {
        QueueId queue{QueueId::Kind(operation.index()), 0};
        auto unit = unitOf(op);
        if constexpr (!std::is_null_pointer_v<decltype(unit)>) {
          queue.index = *unit;
        }
        return queue;
      },
      operation);
}

std::string queueName(QueueId queue) {
  constexpr const char *kNames[kQueueKinds] = {
      "read slice",   "write slice", "load plane", "install plane",
      "matmul plane", "vxm",         "sxm",        "link in",
      "link out",     "icu"};
  bool isLink =
      queue.kind == QueueId::Kind::Receive || queue.kind == QueueId::Kind::Send;
  if (isLink && queue.index == kHostLink) {
    return queue.kind == QueueId::Kind::Receive ? "host in" : "host out";
  }
  std::string name = kNames[size_t(queue.kind)];
  bool single =
      queue.kind == QueueId::Kind::Vector || queue.kind == QueueId::Kind::Fetch;
  return single ? name : name + " " + std::to_string(queue.index);
}

void encode(const Instruction &instruction, Tick previous,
            std::vector<uint8_t> &text) {
  assert(instruction.tick >= previous && "queue out of order");
  text.push_back(opcodeOf(instruction.operation.index()));
  putVarint(uint64_t(instruction.tick - previous), text);
  Writer writer;
  std::visit([&](const auto &op) { fields(writer, op); },
             instruction.operation);
  writer.finish(text);
}

Expected<Instruction> decode(QueueId queue, Tick previous,
                             std::span<const uint8_t> &text) {
  Instruction instruction;
  instruction.operation = emptyOperation(queue);
  Reader reader(text);
  if (reader.byte() != opcodeOf(size_t(queue.kind))) {
    reader.fail("the opcode of the queue", "another");
  }
  uint64_t delta = reader.varint();
  if (delta > uint64_t(std::numeric_limits<Tick>::max() - previous)) {
    reader.fail("a tick", "one out of range");
  }
  reader.startFields();
  std::visit([&](auto &op) { fields(reader, op); }, instruction.operation);
  reader.finish();
  if (queueOf(instruction.operation) != queue) {
    reader.fail("a unit number", "a greater one");
  }
  if (reader.failed()) {
    return reader.error();
  }
  instruction.tick = previous + Tick(delta);
  text = reader.rest();
  return instruction;
}

Bytes encodedDelta(Tick delta) { return varintBytes(uint64_t(delta)); }

Bytes encodedRest(const Operation &operation) {
  Sizer sizer;
  std::visit([&](const auto &op) { fields(sizer, op); }, operation);
  return 1 + sizer.bytes(); // the opcode
}

Bytes encodedBytes(const Instruction &instruction, Tick previous,
                   const Machine &machine) {
  Bytes bytes = encodedDelta(instruction.tick - previous) +
                encodedRest(instruction.operation);
  Bytes unit = machine.instructionBytes;
  return (bytes + unit - 1) / unit * unit;
}

} // namespace orrery
