// No knob of a machine description is dead: each number, changed alone, moves
// at least one output of a step that uses everything the chips have, links
// between ranks and between stages among it.
#include "machine/MachineFields.h"
#include "models/RandomWeights.h"
#include "simulator/check/SystemCheck.h"
#include "tests/conformance/CaseRun.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace orrery::test {
namespace {

/// What a user reads off a run.
struct Outputs {
  std::string refusal;
  Tick ticks = 0;
  double microseconds = 0, joules = 0;
  Bytes capacity = 0, free = 0;
  int64_t instructions = 0;
  bool operator==(const Outputs &) const = default;
};

/// Mixed formats, heads that must be packed, three position tiles.
models::ModelConfig fixtureModel() {
  models::ModelConfig c;
  c.name = "fixture";
  c.architecture = "llama";
  c.layers = 2;
  c.hidden = 150;
  c.heads = 6;
  c.kvHeads = 3;
  c.headDim = 24;
  c.intermediate = 172;
  c.vocab = 503;
  c.contextLength = 190;
  c.normEps = 1e-5f;
  c.ropeDimension = 24;
  return c;
}

Outputs measure(const Machine &machine, const SplitOptions &split = {2, 2}) {
  Outputs out;
  models::RandomWeights weights(fixtureModel(), 1);
  runtime::SessionOptions options;
  options.machine = writeMachine(machine);
  options.split = split;
  options.tensorFormats["blk.0.ffn_up.weight"] = llm::WeightFormat::F16;
  options.tensorFormats["blk.1.ffn_up.weight"] = llm::WeightFormat::Q4_0;
  auto session = runtime::Session::open(weights, options);
  if (!session) {
    std::remove(options.machine.c_str());
    out.refusal = session.error().message;
    return out;
  }
  auto program = (*session)->program(1, 190);
  std::remove(options.machine.c_str());
  if (!program) {
    out.refusal = program.error().message;
    return out;
  }
  // As the session's compiler read it: with the cables that its words describe.
  const Machine &system = (*session)->machine();
  auto report = check::checkSystem(**program, system);
  EXPECT_TRUE(report.ok()) << report.violations[0].message;
  sim::SystemSimulator simulator(system);
  auto result = simulator.run(**program, {0, 1, {}});
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return out;
  }
  out.ticks = result->ticks;
  out.microseconds = machine.microseconds(result->ticks);
  out.joules = result->energy.totalJoules();
  for (const check::Report &part : report.parts) {
    out.capacity += part.sram.capacity;
    out.free += part.sram.free;
  }
  for (const Program &part : (*program)->parts) {
    out.instructions += int64_t(part.instructions.size());
  }
  return out;
}

std::string moved(const Outputs &from, const Outputs &to) {
  if (!to.refusal.empty()) {
    return "refused: " + to.refusal;
  }
  char text[200];
  std::snprintf(
      text, sizeof(text),
      "ticks %+lld, us %+.3g, energy %+.3g nJ, capacity %+lld B, free "
      "%+lld B",
      (long long)(to.ticks - from.ticks), to.microseconds - from.microseconds,
      1e9 * (to.joules - from.joules), (long long)(to.capacity - from.capacity),
      (long long)(to.free - from.free));
  return text;
}

/// Other values that a field may take. Far ones too: what stands beside the
/// critical path shows only when it becomes it.
std::vector<double> others(const NumberField &field, const Machine &machine) {
  double now = field.get(machine);
  std::vector<double> out;
  for (double value :
       {2 * now, now / 2, field.low, 10 * now, 100 * now, field.high}) {
    if (value != now && field.allows(value)) {
      out.push_back(value);
    }
  }
  return out;
}

TEST(KnobTest, EachMovesAnOutput) {
  Machine base = *loadMachine("lpu-small-node");
  base.queueBytes = 256; // so that this model's text must be fetched
  Outputs before = measure(base);
  ASSERT_EQ(before.refusal, "");
  // Beside them the system's own: chips, node_chips, topology.
  ASSERT_EQ(numberFields().size() + 3, base.numbers.size());
  int tried = 0;
  for (const NumberField &field : numberFields()) {
    if (field.low == field.high) {
      std::printf("%-28s can only be %g\n", field.path().c_str(), field.low);
      continue;
    }
    ++tried;
    bool alive = false;
    for (double value : others(field, base)) {
      Machine other = base;
      field.set(other, value);
      if (!checkRelations(other)) {
        continue;
      }
      Outputs after = measure(other);
      alive = after != before;
      if (alive) {
        std::printf("%-28s %g -> %g: %s\n", field.path().c_str(),
                    field.get(base), value, moved(before, after).c_str());
        break;
      }
    }
    EXPECT_TRUE(alive) << field.path() << " changes nothing";
  }
  std::printf("%d knobs moved\n", tried);
}

/// lpu-small-node with other chips and cables.
Machine systemOf(int chips, int nodeChips, const std::string &topology) {
  Machine machine = *loadMachine("lpu-small-node");
  machine.system.json =
      R"({"chips": )" + std::to_string(chips) + R"(, "node_chips": )" +
      std::to_string(nodeChips) + R"(, "topology": )" + topology +
      R"(, "source": {"chips": "assumed", "node_chips": "assumed", )" +
      R"("topology": "assumed"}})";
  return machine;
}

// The system's own three: chips and cables that four ranks are put on.
TEST(KnobTest, SystemsMoveAnOutput) {
  const std::string full = R"({"kind": "fully_connected"})",
                    ring = R"({"kind": "ring"})",
                    nodes = R"({"kind": "node_ring", "reach": 1})";
  SplitOptions four{4, 1};
  Outputs before = measure(systemOf(4, 4, full), four);
  ASSERT_EQ(before.refusal, "");
  Outputs topology = measure(systemOf(4, 1, ring), four);
  ASSERT_EQ(topology.refusal, "");
  EXPECT_NE(topology.ticks, before.ticks);
  Outputs chips = measure(systemOf(3, 3, full), four);
  EXPECT_NE(chips.refusal.find("the 3 chips"), std::string::npos)
      << chips.refusal;
  // Nodes of four are groups, nodes of two are not.
  Outputs wide = measure(systemOf(12, 4, nodes), four);
  EXPECT_EQ(wide.refusal, "");
  Outputs narrow = measure(systemOf(12, 2, nodes), four);
  EXPECT_NE(narrow, wide);
  std::printf("topology: %s\nchips: %s\nnode_chips: %s\n",
              moved(before, topology).c_str(), moved(before, chips).c_str(),
              moved(wide, narrow).c_str());
}

} // namespace
} // namespace orrery::test
