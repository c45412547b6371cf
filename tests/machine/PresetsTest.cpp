// Descriptions that extend a preset.
#include "machine/MachineFields.h"
#include "tests/machine/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace orrery {
namespace {

using Json = nlohmann::json;

class Extends : public testing::TemporaryFolder {
protected:
  Expected<Machine> load(const std::string &text) const {
    std::ofstream(path("m.json")) << text;
    return loadMachine(path("m.json"));
  }
  /// Two chips of lpu-small, after an edit.
  Expected<Machine> load(const std::function<void(Json &)> &edit) const {
    Json root = Json::parse(R"({
      "extends": "lpu-small", "name": "pair",
      "system": {
        "chips": 2, "node_chips": 2, "topology": {"kind": "fully_connected"},
        "source": {"chips": "x", "node_chips": "y", "topology": "z"}}})");
    edit(root);
    return load(root.dump());
  }
  std::string error(const std::function<void(Json &)> &edit) const {
    auto machine = load(edit);
    std::string prefix = "machine `" + path("m.json") + "`: ";
    return machine ? "no error" : machine.error().message.substr(prefix.size());
  }
};

TEST_F(Extends, TakesTheRestFromThePreset) {
  auto machine = load([](Json &) {});
  ASSERT_TRUE(machine) << machine.error().message;
  Machine base = *loadMachine("lpu-small");
  EXPECT_EQ(machine->name, "pair");
  EXPECT_EQ(machine->system.chips, 2);
  EXPECT_EQ(machine->system.links, (std::vector<Link>{{0, 0, 1, 0}}));
  machine->name = base.name;
  machine->system = {};
  machine->numbers.resize(base.numbers.size()); // the system's come last
  EXPECT_EQ(*machine, base);
}

TEST_F(Extends, IsWrittenWhole) {
  Machine machine = *load([](Json &) {});
  Json text = Json::parse(formatMachine(machine));
  EXPECT_FALSE(text.contains("extends"));
  EXPECT_EQ(text["lanes"], 64);
  EXPECT_EQ(*parseMachine(text.dump(), "t"), machine);
}

TEST_F(Extends, ReplacesLinkNumbersWithTheirSources) {
  auto machine = load([](Json &root) {
    root["c2c"] = {{"link_ticks", 270}, {"source", {{"link_ticks", "SHIP"}}}};
  });
  ASSERT_TRUE(machine) << machine.error().message;
  Machine base = *loadMachine("lpu-small");
  EXPECT_EQ(machine->link.latency, 270);
  EXPECT_EQ(machine->link.ports, base.link.ports);
  auto number = std::ranges::find(machine->numbers, "c2c.link_ticks",
                                  &SourcedNumber::path);
  ASSERT_NE(number, machine->numbers.end());
  EXPECT_EQ(number->source, "SHIP");
}

TEST_F(Extends, Refusals) {
  EXPECT_EQ(error([](Json &root) { root.erase("name"); }),
            "name: expected a value, found nothing");
  EXPECT_EQ(error([](Json &root) { root["lanes"] = 32; }),
            "description: expected only the keys c2c, extends, name, system, "
            "found \"lanes\"");
  for (const Json &base : {Json("lpu-v9"), Json(1), Json("lpu-small-node"),
                           Json("lpu-small.json")}) {
    EXPECT_EQ(error([&](Json &root) { root["extends"] = base; }),
              "extends: expected one of the presets lp30, lpu-small, lpu-v1, "
              "found " +
                  base.dump());
  }
  EXPECT_EQ(error([](Json &root) { root["name"] = "a b"; }),
            "name: expected 1 to 64 letters, digits, '-', '_' or '.', found "
            "\"a b\"");
  EXPECT_EQ(error([](Json &root) { root["system"]["chips"] = 9; }),
            "system.chips: expected a multiple of system.node_chips = 2, found "
            "9");
}

TEST_F(Extends, RefusalsOfLinkNumbers) {
  auto links = [&](const Json &value) {
    return error([&](Json &root) { root["c2c"] = value; });
  };
  EXPECT_EQ(links(5), "c2c: expected an object, found 5");
  EXPECT_EQ(links({{"link_ticks", 9}}),
            "c2c.source: expected a value, found nothing");
  EXPECT_EQ(links({{"link_ticks", 9}, {"source", Json::object()}}),
            "c2c.source.link_ticks: expected a value, found nothing");
  EXPECT_EQ(links({{"source", {{"ports", "x"}}}}),
            "c2c.source: expected no keys, found \"ports\"");
  EXPECT_EQ(links({{"hops", 9}, {"source", Json::object()}}),
            "c2c: expected only the keys buffer_vectors, link_ticks, "
            "link_vector_ticks, ports, source, found \"hops\"");
  EXPECT_EQ(links({{"ports", 0}, {"source", {{"ports", "x"}}}}),
            "system.chips: expected 1, as c2c.ports is 0, found 2");
  EXPECT_EQ(links({{"link_vector_ticks", 0},
                   {"source", {{"link_vector_ticks", "x"}}}}),
            "c2c.link_vector_ticks: expected a whole number from 1 to "
            "10000000, found 0");
}

TEST_F(Extends, IsNotForTextThatMustBeWhole) {
  auto machine = parseMachine(R"({"extends": "lpu-small", "name": "x"})", "t");
  ASSERT_FALSE(machine);
  EXPECT_TRUE(machine.error().message.ends_with("found \"extends\""));
}

/// The published figures that the numbers of each preset must give.
TEST(Presets, Lp30IsThePublishedChip) {
  Machine m = *loadMachine("lp30");
  EXPECT_NEAR(double(m.sramBytes()), 500e6, 0.1e6);
  double cycles = m.clockMhz * 1e6;
  int64_t weights =
      int64_t(m.geometry().planes()) * m.matrix.installStreams * m.lanes;
  EXPECT_NEAR(double(weights) * cycles, 150e12, 0.1e12);
  // Every weight stream can have a slice of its own.
  EXPECT_GE(m.geometry().slices(), 2 * m.streamsPerDirection);
  int64_t macs = int64_t(m.geometry().planes()) * m.lanes * m.lanes;
  EXPECT_NEAR(2 * double(macs) * cycles, 1.2e15, 0.01e15);
  double link = m.lanes / (double(m.link.vectorTicks) / cycles);
  EXPECT_NEAR(2 * m.link.ports * link, 2.5e12, 0.01e12);
}

TEST(Presets, Lp30RackIsThePublishedOne) {
  Machine m = *loadMachine("lp30-rack");
  EXPECT_EQ(m.system.chips / m.system.nodeChips, 32);
  EXPECT_NEAR(double(m.sramBytes()) * m.system.chips, 128e9, 0.1e9);
}

TEST(Presets, V1LinksAreAsMeasured) {
  Machine m = *loadMachine("lpu-v1");
  EXPECT_NEAR(m.microseconds(m.link.latency), 0.241, 0.001);
  // 12.5 GB/s less 2.5 % of encoding.
  double rate = m.lanes / (m.microseconds(m.link.vectorTicks) * 1e3); // GB/s
  EXPECT_LE(rate, 12.5 * 0.975);
  EXPECT_GE(rate, 12.5 * 0.95);
}

} // namespace
} // namespace orrery
