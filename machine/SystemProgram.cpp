#include "machine/SystemProgram.h"

#include "machine/FirstProblem.h"
#include "machine/Validate.h"

#include <algorithm>
#include <map>
#include <set>

namespace orrery {

SystemProgram onOneChip(Program program) {
  SystemProgram system;
  system.predictedTicks = program.predictedTicks;
  system.parts.push_back(std::move(program));
  system.chips.emplace_back();
  return system;
}

//===-- PortMap -----------------------------------------------------------===//

PortMap::PortMap(const Machine &machine)
    : ports(machine.link.ports),
      ends(size_t(machine.system.chips) * size_t(ports), {-1, -1}) {
  for (const Link &link : machine.system.links) {
    ends[size_t(link.chip) * size_t(ports) + size_t(link.port)] = {
        link.otherChip, link.otherPort};
    ends[size_t(link.otherChip) * size_t(ports) + size_t(link.otherPort)] = {
        link.chip, link.port};
  }
}

std::pair<int32_t, int32_t> PortMap::otherEnd(int32_t chip,
                                              int32_t port) const {
  return ends[size_t(chip) * size_t(ports) + size_t(port)];
}

//===-- validateSystemProgram ---------------------------------------------===//

namespace {

class SystemCheck {
public:
  SystemCheck(const SystemProgram &program, const Machine &machine)
      : program(program), machine(machine), cables(machine) {}

  Status run() {
    bool valid = parts() && chips() && stages() && end();
    return valid ? Status(Success{}) : Status(Error{place + problem.message()});
  }

private:
  bool parts();
  bool agrees(const Program &part);
  bool chips();
  bool chip(const ChipProgram &chip);
  bool usedLinks(const ChipProgram &chip);
  bool ports(const ChipProgram &chip);
  bool port(std::string_view path, int32_t chip, int32_t port,
            std::set<int32_t> &taken);
  bool stages();
  bool sameStage(const ChipProgram &chip, const ChipProgram &first);
  bool end();

  /// The link numbers a part sends on and receives from.
  struct UsedLinks {
    std::set<LinkNumber> out, in;
  };

  const SystemProgram &program;
  const Machine &machine;
  PortMap cables;
  std::vector<UsedLinks> used; ///< by part
  FirstProblem problem;
  std::string place; ///< what the problem is in
};

bool SystemCheck::parts() {
  auto count = int64_t(program.parts.size());
  if (!problem.within("parts", count, 1, machine.system.chips)) {
    return false;
  }
  for (size_t i = 0; i < program.parts.size(); ++i) {
    const Program &part = program.parts[i];
    place = "part " + std::to_string(i) + ": ";
    if (!agrees(part)) {
      return false;
    }
    if (Status valid = validateProgram(part, machine); !valid) {
      return problem.fail(valid.error().message);
    }
    UsedLinks &links = used.emplace_back();
    for (const Instruction &each : part.instructions) {
      if (auto *send = std::get_if<SendOp>(&each.operation)) {
        links.out.insert(send->link);
      } else if (auto *receive = std::get_if<ReceiveOp>(&each.operation)) {
        links.in.insert(receive->link);
      }
    }
  }
  return true;
}

/// With part 0, in what they were made for.
bool SystemCheck::agrees(const Program &part) {
  const Program &first = program.parts.front();
  auto same = [&](std::string_view path, int64_t value, int64_t expected) {
    return problem.within(path, value, expected, expected);
  };
  return (part.machineJson == first.machineJson ||
          problem.fail("machine", "that of part 0", "another")) &&
         (part.modelName == first.modelName ||
          problem.fail("model name", "that of part 0", "another")) &&
         (part.modelHash == first.modelHash ||
          problem.fail("model hash", "that of part 0", "another")) &&
         same("tokens", part.tokens, first.tokens) &&
         same("bucket", part.bucket, first.bucket) &&
         same("context", part.context, first.context);
}

//===-- Chips -------------------------------------------------------------===//

bool SystemCheck::chips() {
  place.clear();
  int64_t next = 0;
  if (!problem.within("chips", int64_t(program.chips.size()), 1,
                      machine.system.chips)) {
    return false;
  }
  for (const ChipProgram &each : program.chips) {
    place = "chip " + std::to_string(each.chip) + ": ";
    if (!problem.within("number (ascending)", each.chip, next,
                        machine.system.chips - 1) ||
        !chip(each)) {
      return false;
    }
    next = int64_t(each.chip) + 1;
  }
  return true;
}

bool SystemCheck::chip(const ChipProgram &each) {
  auto parts = int64_t(program.parts.size());
  auto chips = int64_t(program.chips.size());
  return problem.within("part", each.part, 0, parts - 1) &&
         problem.within("stage", each.stage, 0, chips - 1) &&
         problem.within("rank", each.rank, 0, chips - 1) &&
         problem.within("start", each.start, 0, kMaxTick) &&
         problem.within("links", int64_t(each.links.size()), 0,
                        machine.link.ports) &&
         usedLinks(each) && ports(each);
}

/// Each has a port.
bool SystemCheck::usedLinks(const ChipProgram &each) {
  auto all = [&](std::string_view direction, const std::set<LinkNumber> &links,
                 int32_t LinkPorts::*port) {
    return std::ranges::all_of(links, [&](LinkNumber number) {
      bool has = number == kHostLink || (number <= each.links.size() &&
                                         each.links[number - 1].*port >= 0);
      return has || problem.fail("link " + std::to_string(number) + " " +
                                     std::string(direction),
                                 "a port, as its part uses it", "none");
    });
  };
  return all("out", used[each.part].out, &LinkPorts::out) &&
         all("in", used[each.part].in, &LinkPorts::in);
}

bool SystemCheck::ports(const ChipProgram &each) {
  std::set<int32_t> out, in;
  for (size_t k = 0; k < each.links.size(); ++k) {
    std::string name = "link " + std::to_string(k + 1);
    if (!port(name + " out", each.chip, each.links[k].out, out) ||
        !port(name + " in", each.chip, each.links[k].in, in)) {
      return false;
    }
  }
  return true;
}

/// `taken`: the ports of the direction that other link numbers have.
bool SystemCheck::port(std::string_view path, int32_t chip, int32_t port,
                       std::set<int32_t> &taken) {
  if (!problem.within(path, port, -1, machine.link.ports - 1)) {
    return false;
  }
  return port == -1 || (problem.require(cables.otherEnd(chip, port).first >= 0,
                                        path, "a port with a cable", port) &&
                        problem.require(taken.insert(port).second, path,
                                        "a port of no other link", port));
}

//===-- Stages ------------------------------------------------------------===//

/// Stages and ranks are numbered without gaps; a stage's ranks run one part
/// from one start; each part runs.
bool SystemCheck::stages() {
  std::map<uint32_t, std::map<uint32_t, const ChipProgram *>> stages;
  std::set<uint32_t> running;
  for (const ChipProgram &each : program.chips) {
    place = "chip " + std::to_string(each.chip) + ": ";
    auto &ranks = stages[each.stage];
    running.insert(each.part);
    if (!ranks.emplace(each.rank, &each).second) {
      return problem.fail(
          "rank", "one of its own in stage " + std::to_string(each.stage),
          std::to_string(each.rank));
    }
    if (!sameStage(each, *ranks.begin()->second)) {
      return false;
    }
  }
  place.clear();
  uint32_t next = 0;
  for (const auto &[stage, ranks] : stages) {
    auto last = int64_t(ranks.size()) - 1;
    if (!problem.within("stages: the next", stage, next, next) ||
        !problem.within("stage " + std::to_string(stage) + ": last rank",
                        ranks.rbegin()->first, last, last)) {
      return false;
    }
    ++next;
  }
  return problem.require(running.size() == program.parts.size(), "parts",
                         "chips that run each of " +
                             std::to_string(program.parts.size()),
                         int64_t(running.size()));
}

bool SystemCheck::sameStage(const ChipProgram &each, const ChipProgram &first) {
  return problem.within("part (that of its stage)", each.part, first.part,
                        first.part) &&
         problem.within("start (that of its stage)", each.start, first.start,
                        first.start);
}

bool SystemCheck::end() {
  Tick last = 0;
  for (const ChipProgram &each : program.chips) {
    last = std::max(last, each.start + program.parts[each.part].predictedTicks);
  }
  return problem.within("predicted ticks (the last chip's end)",
                        program.predictedTicks, last, last);
}

} // namespace

Status validateSystemProgram(const SystemProgram &program,
                             const Machine &machine) {
  return SystemCheck(program, machine).run();
}

} // namespace orrery
