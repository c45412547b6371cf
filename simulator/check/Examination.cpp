#include "simulator/check/Examination.h"

namespace orrery::check {

std::string directionName(Direction d) {
  return d == Direction::East ? "east" : "west";
}

const char *kindName(RegionKind kind) {
  switch (kind) {
  case RegionKind::Weight:
    return "weight";
  case RegionKind::Table:
    return "table";
  case RegionKind::Kv:
    return "kv";
  case RegionKind::Temporary:
    return "temporary";
  case RegionKind::Instructions:
    return "instructions";
  }
  return "unknown";
}

static std::string slices(int slice, int width) {
  return width == 1 ? "MEM slice " + std::to_string(slice)
                    : "MEM slices " + std::to_string(slice) + "-" +
                          std::to_string(slice + width - 1);
}

namespace {
struct UnitName {
  std::string operator()(const ReadOp &op) const {
    return slices(op.slice, op.width) + " read port";
  }
  std::string operator()(const WriteOp &op) const {
    return slices(op.slice, op.width) + " write port";
  }
  std::string operator()(const LoadOp &op) const {
    return "MXM plane " + std::to_string(op.plane) + " load port";
  }
  std::string operator()(const InstallOp &op) const {
    return "MXM plane " + std::to_string(op.plane) + " install port";
  }
  std::string operator()(const MatmulOp &op) const {
    return "MXM plane " + std::to_string(op.plane) + " array";
  }
  std::string operator()(const VectorOp &) const { return "VXM"; }
  std::string operator()(const PermuteOp &op) const {
    return "SXM " + std::to_string(op.sxm);
  }
  std::string operator()(const ReceiveOp &op) const {
    return linkName(op.link) + " in";
  }
  std::string operator()(const SendOp &op) const {
    return linkName(op.link) + " out";
  }
  std::string operator()(const FetchOp &) const { return "ICU"; }
  static std::string linkName(LinkNumber link) {
    return link == kHostLink ? "host link" : "link " + std::to_string(link);
  }
};
} // namespace

std::string Examination::unitOf(uint32_t index) const {
  return std::visit(UnitName(), program.instructions[index].operation);
}

std::string describe(const Program &program, uint32_t index) {
  const Instruction &i = program.instructions[index];
  std::string text =
      "instruction " + std::to_string(index) + " " + mnemonic(i.operation);
  if (i.location < program.locations.size()) {
    text += " (" + program.locations[i.location] + ")";
  }
  return text;
}

std::string Examination::describe(uint32_t index) const {
  return check::describe(program, index);
}

void Examination::keep(Violation violation) {
  if (report.violations.size() < kMaxViolations) {
    report.violations.push_back(std::move(violation));
  } else {
    ++report.violationsNotKept;
  }
}

void Examination::fail(Rule rule, uint32_t index, Tick tick,
                       const std::string &found) {
  std::string message = std::string(ruleName(rule)) + ": " + unitOf(index) +
                        ": " + describe(index) + " due at tick " +
                        std::to_string(tick) + ": " + found;
  keep({ruleName(rule), std::move(message), index, tick});
}

void Examination::fail(Rule rule, const std::string &found) {
  keep({ruleName(rule), std::string(ruleName(rule)) + ": " + found,
        kNoInstruction, 0});
}

} // namespace orrery::check
