// Rules form and order: every field means something on this machine, so that
// the other rules may index, multiply and expand without looking.
#include "simulator/check/Examination.h"

#include "machine/PartialSums.h"
#include "machine/Timing.h"

namespace orrery::check {

namespace {

/// Bounds that no real program comes near; beyond them sums could overflow.
constexpr Tick kMaxTick = Tick(1) << 40;
constexpr uint64_t kMaxRuns = 1 << 18;

class FormCheck {
public:
  explicit FormCheck(Examination &exam)
      : exam(exam), program(exam.program), m(exam.machine), g(exam.geometry) {}

  void run() {
    checkTables();
    Tick before = 0;
    for (uint32_t i = 0; i < program.instructions.size(); ++i) {
      const Instruction &instruction = program.instructions[i];
      current = i;
      tick = instruction.tick;
      if (tick < 0 || tick > kMaxTick) {
        fail("its tick is outside the step");
      } else if (tick < before) {
        exam.fail(Rule::Order, i, tick,
                  "it follows an instruction of tick " +
                      std::to_string(before));
      } else {
        before = tick;
      }
      require(instruction.location < program.locations.size() ||
                  program.locations.empty(),
              "its location is not in the table");
      std::visit([this](const auto &op) { check(op); }, instruction.operation);
    }
  }

private:
  void fail(const std::string &found) {
    exam.fail(Rule::Form, current, tick, found);
  }
  bool require(bool holds, const char *otherwise) {
    if (!holds) {
      fail(otherwise);
    }
    return holds;
  }

  void checkTables();
  void checkVectorProgram(size_t index);

  void shape(const BurstShape &s) {
    if (!require(s.length > 0 && s.runs > 0, "its burst is empty")) {
      return;
    }
    require(s.length == 1 || s.stride > 0,
            "two vectors of its burst come at once: stride is 0");
    require(s.runs == 1 || s.period > uint64_t(s.length - 1) * s.stride,
            "its runs overlap: period is too short");
    auto span =
        __int128(s.runs - 1) * s.period + __int128(s.length - 1) * s.stride;
    require(span <= kMaxTick && s.runs <= kMaxRuns, "its burst is too long");
  }
  void streams(StreamRef ref, int width) {
    require(width > 0 && ref.stream + width <= m.streamsPerDirection,
            "its streams are not on the chip");
  }
  void stop(Position at) {
    require(at >= 0 && at <= g.ofHost(), "its stop is not on the chip");
  }
  bool plane(int p) {
    return require(p < g.planes(), "its plane is not on the chip");
  }
  bool slices(int slice, int width, int bank) {
    return require(width > 0 && slice + width <= g.slices(),
                   "its slices are not on the chip") &&
           require(bank < m.sram.banks, "its bank is not in the slice");
  }
  /// Rule 3: also the skewed issue of every slice lies within the step.
  void skew(int slice, int width, Direction d) {
    if (d == Direction::West && slice + width <= g.slices()) {
      Tick first = tick - (g.ofSlice(slice + width - 1) - g.ofSlice(slice));
      require(first >= 0, "a slice of its range comes before tick 0");
    }
  }
  void address(const AddressPattern &a, const BurstShape &s) {
    auto count = __int128(a.extent[0]) * a.extent[1] * a.extent[2];
    require(count == __int128(s.count()),
            "its address pattern is not as long as its burst");
  }
  void columns(int low, int high) {
    require(low < high && high <= m.lanes, "its columns are not in the array");
  }
  void f16Plane(int p) {
    require(p % g.planesPerHemisphere == 0,
            "f16 names the first plane of a hemisphere only");
  }

  void check(const ReadOp &op) {
    shape(op.shape);
    streams(op.out.ref, op.width);
    stop(op.out.stop);
    slices(op.slice, op.width, op.bank);
    skew(op.slice, op.width, op.out.ref.direction);
    address(op.address, op.shape);
  }
  void check(const WriteOp &op) {
    shape(op.shape);
    streams(op.in, op.stripeBytes > 0 ? op.stripeBytes : op.width);
    slices(op.slice, op.width, op.bank);
    skew(op.slice, op.width, op.in.direction);
    address(op.address, op.shape);
    require(op.tokenDimension < 3, "its token dimension is not one of three");
    require(op.mask != LaneMask::Range ||
                (op.low < op.high && op.high <= m.lanes),
            "its lanes are not in the vector");
  }
  void check(const LoadOp &op) {
    shape(op.shape);
    plane(op.plane);
    streams({Direction::East, op.stream}, 2);
  }
  void check(const InstallOp &op) {
    shape(op.shape);
    plane(op.plane);
    streams({Direction::East, op.stream}, op.width);
    require(op.width <= m.matrix.installStreams,
            "it takes more streams than a plane can");
    columns(op.low, op.high);
    int rows = op.high - op.low;
    require((op.format != WeightFormat::Q8 && op.format != WeightFormat::Q4) ||
                rows % 16 == 0,
            "the rows of block formats come in sixteens");
    if (op.format == WeightFormat::F16) {
      f16Plane(op.plane);
    }
  }
  void check(const MatmulOp &op) {
    plane(op.plane);
    streams({Direction::East, op.stream}, streamsOf(op.result()));
    stop(op.stop);
    columns(op.low, op.high);
    uint64_t passes = uint64_t(op.tiles) * op.inner;
    if (!require(passes > 0 && op.rows > 0, "it has no pass or no row") ||
        !require(passes <= kMaxRuns && uint64_t(op.inner) * op.period <=
                                           std::numeric_limits<uint32_t>::max(),
                 "its burst is too long")) {
      return;
    }
    require(passes == 1 || op.period >= uint64_t(op.rows) *
                                            matmulTicksPerRow(m, op.format),
            "its passes overlap: period is too short");
    if (op.format == WeightFormat::F16) {
      f16Plane(op.plane);
    }
  }
  void check(const VectorOp &op) {
    if (!require(op.program < program.vectorPrograms.size(),
                 "its vector program is not in the table")) {
      return;
    }
    const VectorProgram &p = program.vectorPrograms[op.program];
    require(op.inputs == p.inputs.size() && op.outputs == p.outputs.size(),
            "its streams are not those of its vector program");
    require(op.count > 0, "its burst is empty");
    for (size_t i = 0; i < p.inputs.size() && i < op.in.size(); ++i) {
      streams(op.in[i], streamsOf(p.inputs[i]));
    }
    for (size_t i = 0; i < p.outputs.size() && i < op.out.size(); ++i) {
      streams(op.out[i].ref, streamsOf(p.outputs[i].type));
      stop(op.out[i].stop);
      require(p.outputs[i].reduction == Reduction::None ||
                  op.count % p.group == 0,
              "its burst ends within a reduction group");
    }
  }
  void check(const PermuteOp &op) {
    require(op.sxm < 2, "its SXM is not on the chip");
    require(op.count > 0, "its burst is empty");
    streams(op.in, op.width);
    stop(op.out.stop);
    if (op.kind == PermuteKind::LaneMap) {
      require(op.map < program.laneMaps.size(),
              "its lane map is not in the table");
      streams(op.out.ref, op.width);
      return;
    }
    streams(op.out.ref, op.outWidth);
    require(op.rows > 0 && op.rows <= m.lanes && op.outWidth > 0,
            "it transposes more lanes than there are, or none");
  }
  void check(const ReceiveOp &op) {
    shape(op.shape);
    streams({Direction::West, op.stream}, op.width);
    stop(op.stop);
    link(op.link, op.width, op.shape);
  }
  void check(const SendOp &op) {
    shape(op.shape);
    streams({Direction::East, op.stream}, op.width);
    link(op.link, op.width, op.shape);
  }
  void check(const FetchOp &op) {
    slices(op.slice, 1, op.bank);
    require(int64_t(op.address) + m.fetchVectors <= m.sram.vectorsPerBank,
            "its addresses are not in the bank");
    require(op.target.index < queuesOf(op.target.kind),
            "its queue is not on the chip");
  }
  int queuesOf(QueueId::Kind kind) const {
    switch (kind) {
    case QueueId::Kind::Read:
    case QueueId::Kind::Write:
      return g.slices();
    case QueueId::Kind::Load:
    case QueueId::Kind::Install:
    case QueueId::Kind::Matmul:
      return g.planes();
    case QueueId::Kind::Permute:
      return 2;
    case QueueId::Kind::Receive:
    case QueueId::Kind::Send:
      return 1 + m.link.ports;
    case QueueId::Kind::Vector:
    case QueueId::Kind::Fetch:
      return 1;
    }
    return 0;
  }
  void link(LinkNumber number, int width, const BurstShape &s) {
    if (number == kHostLink) {
      require(width == streamsOf(StreamType::F32),
              "the host link takes f32, 4 streams");
      return;
    }
    require(number <= m.link.ports, "its link is not on the chip");
    require(width > 0 && s.count() <= uint64_t(m.link.bufferVectors) / width,
            "its burst does not fit a link's receive buffer");
  }

  Examination &exam;
  const Program &program;
  const Machine &m;
  Geometry g;
  uint32_t current = 0;
  Tick tick = 0;
};

void FormCheck::checkTables() {
  for (size_t i = 0; i < program.vectorPrograms.size(); ++i) {
    checkVectorProgram(i);
  }
  for (size_t i = 0; i < program.laneMaps.size(); ++i) {
    bool whole = program.laneMaps[i].size() == size_t(m.lanes);
    for (uint16_t from : program.laneMaps[i]) {
      whole = whole && (from < m.lanes || from == 0xffff);
    }
    if (!whole) {
      exam.fail(Rule::Form, "lane map " + std::to_string(i) +
                                " does not map lanes to lanes");
    }
  }
  if (program.tokens == 0 || program.bucket == 0 ||
      program.tokens > uint32_t(m.lanes) || program.context < program.bucket ||
      program.tokens > program.bucket || program.context > (1u << 24)) {
    exam.fail(Rule::Form, "expected 1 <= tokens <= lanes, tokens <= bucket "
                          "<= context, found " +
                              std::to_string(program.tokens) + ", " +
                              std::to_string(program.bucket) + " and " +
                              std::to_string(program.context));
  }
}

void FormCheck::checkVectorProgram(size_t index) {
  const VectorProgram &p = program.vectorPrograms[index];
  bool ok = p.group > 0 && p.inputs.size() <= 8 && p.outputs.size() <= 4 &&
            !p.outputs.empty() && p.inputs.size() + p.steps.size() <= 256;
  for (StreamType t : p.inputs) {
    ok = ok && t != StreamType::A8;
  }
  size_t values = p.inputs.size();
  for (const AluStep &s : p.steps) {
    ok = ok && (s.op == AluOp::Immediate || (s.a < values && s.b < values));
    ok = ok && s.token.divide > 0 && s.token.modulo > 0 && s.tile.divide > 0 &&
         s.tile.modulo > 0;
    ++values;
  }
  for (const VectorOutput &o : p.outputs) {
    ok = ok && o.value < values && reducesTo(o.reduction, o.type);
  }
  ok = ok && sumsAreOnlyAdded(p);
  if (!ok) {
    exam.fail(Rule::Form, "vector program " + std::to_string(index) +
                              " refers to values it does not have");
  }
}

} // namespace

void checkForm(Examination &exam) { FormCheck(exam).run(); }

} // namespace orrery::check
