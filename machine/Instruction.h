// The instruction set of an `lpu` chip. machine/README.md is its prose.
//
// An instruction is a burst: one unit doing the same thing to several vectors
// at times fixed by its tick and its shape. Streams are named by direction and
// number; what travels on them where and when follows from machine/Geometry.h.
#pragma once

#include "machine/Geometry.h"
#include "machine/VectorProgram.h"

#include <array>
#include <compare>
#include <cstdint>
#include <variant>

namespace orrery {

/// Times of a burst's vectors, from its tick: vector (r, i) comes at
/// r * period + i * stride, for run r < runs and i < length; vector number
/// r * length + i.
struct BurstShape {
  uint32_t length = 1;
  uint32_t stride = 1;
  uint32_t runs = 1;
  uint32_t period = 0;

  uint64_t count() const { return uint64_t(length) * runs; }
  Tick at(uint64_t vector) const {
    return Tick(vector / length) * period + Tick(vector % length) * stride;
  }
  /// Ticks from the first vector to the last.
  Tick span() const { return at(count() - 1); }
  bool operator==(const BurstShape &) const = default;
};

/// What a step register adds to an address. POS is the position of the step's
/// first token, NTOK the number of valid tokens (1 .. T).
enum class Dynamic : uint8_t {
  None,
  Position, ///< POS * dynamicStep
  Chunk,    ///< (POS / lanes) * dynamicStep
};

/// Address of vector n: base + sum over k of step[k] * i_k, plus the dynamic
/// term; n = i_0 + extent[0] * (i_1 + extent[1] * i_2).
struct AddressPattern {
  uint32_t base = 0;
  std::array<uint32_t, 3> extent = {1, 1, 1};
  std::array<int32_t, 3> step = {0, 0, 0};
  Dynamic dynamic = Dynamic::None;
  uint32_t dynamicStep = 0;

  uint64_t count() const { return uint64_t(extent[0]) * extent[1] * extent[2]; }
  std::array<uint32_t, 3> indices(uint64_t n) const {
    return {uint32_t(n % extent[0]), uint32_t(n / extent[0] % extent[1]),
            uint32_t(n / extent[0] / extent[1])};
  }
  /// Without the dynamic term.
  int64_t at(uint64_t n) const {
    auto i = indices(n);
    return int64_t(base) + int64_t(step[0]) * i[0] + int64_t(step[1]) * i[1] +
           int64_t(step[2]) * i[2];
  }
  bool operator==(const AddressPattern &) const = default;
};

/// A stream group: `stream` is the first of as many as the value needs.
struct StreamRef {
  Direction direction = Direction::East;
  uint8_t stream = 0;
  bool operator==(const StreamRef &) const = default;
};
/// A driven group: the vectors vanish after position `stop`, so that the
/// stream is free beyond it.
struct StreamOut {
  StreamRef ref;
  Position stop = 0;
  bool operator==(const StreamOut &) const = default;
};

enum class WeightFormat : uint8_t {
  Q8,  ///< int8 codes; f16 scale of each 32-block
  Q4,  ///< 4-bit codes 0..15 standing for code - 8; f16 scale of each 32-block
  I8,  ///< int8 codes, scale 1 (KV cache)
  F16, ///< two byte planes; takes both planes' array (see README)
};

/// MEM: burst from slices [slice, slice+width) to streams
/// [stream, stream+width); slice k of the range drives stream k. `tick` is the
/// issue cycle at slice `slice`; slice g issues at tick +- (its position minus
/// that of `slice`), + eastward, - westward, so that vector n of every slice
/// lies on one diagonal. The vector is at the slice's own position
/// timing.read ticks after issue.
struct ReadOp {
  uint16_t slice = 0;
  uint8_t width = 1;
  uint8_t bank = 0;
  AddressPattern address;
  StreamOut out;
  BurstShape shape;
  bool operator==(const ReadOp &) const = default;
};

/// Which lanes a write changes.
enum class LaneMask : uint8_t {
  All,
  Range,     ///< lanes [low, high)
  TokenLane, ///< lane (POS + token) % lanes, when token < NTOK
  TokenSpan, ///< lanes [POS % lanes, POS % lanes + NTOK)
};

/// MEM: burst from streams to slices; times as in ReadOp, without latency:
/// slice g takes its vector when it passes. Vector n's token is its index in
/// dimension `tokenDimension` of the address pattern.
///
/// Striped (`stripeBytes` > 0; KV append): streams are `stripeBytes` wide, all
/// `width` slices watch them, and byte plane b of token j's vector goes to the
/// one slice  slice + u % width  at address
///   base + pattern + (R / lanes) * stripeStep + u / width,
/// R = POS + j, u = (R % lanes) * stripeBytes + b; tokens j >= NTOK are not
/// written. The write port of every slice of the range is taken.
struct WriteOp {
  uint16_t slice = 0;
  uint8_t width = 1;
  uint8_t bank = 0;
  AddressPattern address;
  StreamRef in;
  BurstShape shape;
  LaneMask mask = LaneMask::All;
  uint16_t low = 0, high = 0;
  uint8_t tokenDimension = 0;
  uint8_t stripeBytes = 0;
  uint32_t stripeStep = 0;
  bool operator==(const WriteOp &) const = default;
};

/// MXM: activation rows from an outward stream group (A8 or F16) into the
/// plane's activation buffer; vector n goes to entry base + n.
struct LoadOp {
  uint8_t plane = 0;
  bool f16 = false;
  uint8_t stream = 0;
  uint16_t base = 0;
  BurstShape shape;
  bool operator==(const LoadOp &) const = default;
};

/// MXM: weights from `width` outward streams into the plane's next free
/// buffer. One run of the shape is one tile; the vector in cycle c on stream s
/// of the run is number u = c * width + s of the tile:
///   Q8   u < R: codes of row u; then vector R + g holds the scales of rows
///        16g .. 16g+15, row r's block b as f16 in bytes
///        (r % 16) * lanes/16 + 2b
///   Q4   u < R/2: codes of rows 2u (low nibbles) and 2u+1 (high nibbles);
///        then scales as above
///   I8   u < R: codes of row u
///   F16  u < 2R: byte plane u % 2 of row u / 2
/// R = high - low rows, for array columns [low, high); vectors past the end
/// are ignored. Rows run along lanes (the reduced dimension K). R is even for
/// Q4 and a multiple of 16 for Q8 and Q4.
struct InstallOp {
  uint8_t plane = 0;
  WeightFormat format = WeightFormat::Q8;
  uint8_t stream = 0;
  uint8_t width = 16;
  uint16_t low = 0, high = 0;
  BurstShape shape;
  bool operator==(const InstallOp &) const = default;
};

/// MXM: tiles * inner passes, one a `period`; pass (n, k) uses the next
/// installed tile and activation entries base + k * rows + m, m < rows. After
/// pass (n, inner-1) the exact sums of the n-th tile leave as `rows` f32
/// vectors inward on 4 streams: lanes [low, high) hold the results, the others
/// zero. With `sums` they leave as they are, accumulators on 8 streams, to be
/// added to others. Row m of the pass starting at tick p enters at p + m *
/// ticksPerRow and its result leaves timing.matmul later. A tile is freed when
/// its last row has entered.
struct MatmulOp {
  uint8_t plane = 0;
  WeightFormat format = WeightFormat::Q8;
  uint16_t low = 0, high = 0;
  uint32_t tiles = 1; ///< N tiles
  uint32_t inner = 1; ///< K tiles
  uint32_t rows = 1;
  uint32_t period = 0;
  uint16_t base = 0;
  uint8_t stream = 0; ///< inward
  Position stop = 0;
  bool sums = false;

  StreamType result() const { return sums ? StreamType::Sum : StreamType::F32; }
  bool operator==(const MatmulOp &) const = default;
};

/// VXM: `count` vectors through a program; at most 8 inputs, 4 outputs.
/// Vectors of all inputs are taken in the same cycle, one set every
/// ceil(steps / alusPerLane) ticks.
struct VectorOp {
  uint16_t program = 0; ///< index into Program::vectorPrograms
  uint32_t count = 1;
  uint8_t inputs = 0, outputs = 0;
  std::array<StreamRef, 8> in;
  std::array<StreamOut, 4> out;
  bool operator==(const VectorOp &) const = default;
};

enum class PermuteKind : uint8_t {
  LaneMap,   ///< out lane l = in lane map[l], or zero where map[l] is 0xffff
  Transpose, ///< tokens to columns, see PermuteOp
};

/// SXM. LaneMap: `count` vectors of `width` streams, each permuted, out in the
/// same shape timing.permute ticks later.
/// Transpose (V cache): takes `count` token vectors of `width` streams (bytes
/// of an element), then puts out `ceil(rows * width / outWidth)` cycles of
/// `outWidth` streams for in-lanes 0 .. rows-1; the vector in cycle c on stream
/// s has number u = c * outWidth + s and carries byte plane u % width of
/// in-lane u / width (a zero vector when that is >= rows):
/// token j's in lane (POS + j) % lanes, zero elsewhere. The first leaves
/// timing.transpose ticks after the last token vector came.
struct PermuteOp {
  uint8_t sxm = 0;
  PermuteKind kind = PermuteKind::LaneMap;
  uint16_t map = 0; ///< index into Program::laneMaps
  uint8_t width = 1, outWidth = 1;
  uint16_t rows = 0; ///< Transpose only
  uint32_t count = 1;
  StreamRef in;
  StreamOut out;
  bool operator==(const PermuteOp &) const = default;
};

/// Which link of the chip: 0 is the host's; k >= 1 a chip-to-chip (C2C) link,
/// by the number under which the chip's program knows it (SystemProgram.h says
/// which physical port that is). All links have their port at the chip's east
/// edge (Geometry::ofHost).
using LinkNumber = uint8_t;
inline constexpr LinkNumber kHostLink = 0;

/// Link in: `width` streams westward from the port.
/// Host: f32, so width 4; vector n is the host's n-th vector of the step's
/// input, row-major [T, vectors].
/// C2C: the next `shape.count()` vectors of `width` streams out of the link's
/// receive buffer, in the order in which the other chip sent them; each must
/// have arrived (Timing.h).
struct ReceiveOp {
  uint8_t stream = 0;
  Position stop = 0;
  BurstShape shape;
  LinkNumber link = kHostLink;
  uint8_t width = 4;
  bool operator==(const ReceiveOp &) const = default;
};
/// Link out: takes `width` eastward streams at the port.
/// Host: f32, width 4. C2C: the vectors cross the link one after another.
struct SendOp {
  uint8_t stream = 0;
  BurstShape shape;
  LinkNumber link = kHostLink;
  uint8_t width = 4;
  bool operator==(const SendOp &) const = default;
};

/// One instruction queue of the chip; the kinds are in the order of
/// `Operation`. `index`: slice, plane, SXM or link; 0 where there is only one.
struct QueueId {
  enum class Kind : uint8_t {
    Read,
    Write,
    Load,
    Install,
    Matmul,
    Vector,
    Permute,
    Receive,
    Send,
    Fetch,
  };
  Kind kind = Kind::Read;
  uint16_t index = 0;
  auto operator<=>(const QueueId &) const = default;
};
inline constexpr int kQueueKinds = 10;

/// ICU: the next chunk of the text of queue `target` (InstructionText.h) from
/// SRAM into the queue's instruction buffer: `icu.fetch_vectors` successive
/// vectors from `address` on, one a tick from `tick` on, through the slice's
/// read port, but on a path of their own and not over streams (assumed). They
/// are there `timing.fetch` after the last.
struct FetchOp {
  QueueId target;
  uint16_t slice = 0;
  uint8_t bank = 0;
  uint32_t address = 0;
  bool operator==(const FetchOp &) const = default;
};

using Operation = std::variant<ReadOp, WriteOp, LoadOp, InstallOp, MatmulOp,
                               VectorOp, PermuteOp, ReceiveOp, SendOp, FetchOp>;

/// An operation, when it is issued, and the line of the program's location
/// table that leads back to the `llm` op.
struct Instruction {
  Tick tick = 0;
  uint32_t location = 0;
  Operation operation;
  bool operator==(const Instruction &) const = default;
};

/// The mnemonic: "read", "write", "load", "install", "matmul", "vector",
/// "permute", "receive", "send", "fetch".
const char *mnemonic(const Operation &operation);

} // namespace orrery
