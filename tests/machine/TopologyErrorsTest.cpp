// Each way to get a system's description wrong.
#include "tests/machine/SystemObject.h"

#include <gtest/gtest.h>

#include <functional>

namespace orrery {
namespace {

using testing::errorOf;
using testing::object;
using Json = nlohmann::json;

//===-- The object --------------------------------------------------------===//

Json ring(int32_t chips = 4) { return object(chips, 1, {{"kind", "ring"}}); }

/// The error of a ring of 4 after an edit.
std::string ringError(const std::function<void(Json &)> &edit) {
  Json system = ring();
  edit(system);
  return errorOf(system);
}

TEST(TopologyErrors, TheObject) {
  EXPECT_EQ(ringError([](Json &) {}), "no error");
  EXPECT_EQ(errorOf(7), "system: expected an object, found 7");
  EXPECT_EQ(ringError([](Json &s) { s["nodes"] = 2; }),
            "system: expected only the keys chips, node_chips, source, "
            "topology, found \"nodes\"");
  for (const char *key : {"chips", "node_chips", "topology", "source"}) {
    EXPECT_EQ(ringError([&](Json &s) { s.erase(key); }),
              "system." + std::string(key) +
                  ": expected a value, found "
                  "nothing");
  }
  for (const char *key : {"chips", "node_chips", "topology"}) {
    std::string path = "system.source." + std::string(key);
    EXPECT_EQ(ringError([&](Json &s) { s["source"].erase(key); }),
              path + ": expected a value, found nothing");
    EXPECT_EQ(ringError([&](Json &s) { s["source"][key] = ""; }),
              path + ": expected a text that says where the number comes "
                     "from, found \"\"");
  }
  EXPECT_EQ(ringError([](Json &s) { s["source"]["reach"] = "x"; }),
            "system.source: expected only the keys chips, node_chips, "
            "topology, found \"reach\"");
}

TEST(TopologyErrors, Numbers) {
  auto chips = [](const Json &value) {
    return ringError([&](Json &s) { s["chips"] = value; });
  };
  EXPECT_EQ(chips(0), "system.chips: expected 1 to 16384, found 0");
  EXPECT_EQ(chips(-4), "system.chips: expected 1 to 16384, found -4");
  EXPECT_EQ(chips(16'385), "system.chips: expected 1 to 16384, found 16385");
  EXPECT_EQ(chips((uint64_t(1) << 32) + 4),
            "system.chips: expected 1 to 16384, found 4294967300");
  EXPECT_EQ(chips(~uint64_t(0)),
            "system.chips: expected 1 to 16384, found 18446744073709551615");
  EXPECT_EQ(chips(4.0), "system.chips: expected a whole number, found 4.0");
  EXPECT_EQ(chips("4"), "system.chips: expected a whole number, found \"4\"");
  auto node = [](const Json &value) {
    return ringError([&](Json &s) { s["node_chips"] = value; });
  };
  EXPECT_EQ(node(2), "no error");
  EXPECT_EQ(node(0), "system.node_chips: expected 1 to 4, found 0");
  EXPECT_EQ(node(5), "system.node_chips: expected 1 to 4, found 5");
  EXPECT_EQ(node(3), "system.chips: expected a multiple of "
                     "system.node_chips = 3, found 4");
}

TEST(TopologyErrors, ChipsWithoutPorts) {
  EXPECT_EQ(errorOf(ring(), 0),
            "system.chips: expected 1, as c2c.ports is 0, found 4");
  EXPECT_EQ(errorOf(object(1, 1, {{"kind", "fully_connected"}}), 0),
            "no error");
}

TEST(TopologyErrors, Kinds) {
  auto topology = [](const Json &value) {
    return ringError([&](Json &s) { s["topology"] = value; });
  };
  EXPECT_EQ(topology("ring"),
            "system.topology: expected an object, found \"ring\"");
  EXPECT_EQ(topology(Json::object()),
            "system.topology.kind: expected a value, found nothing");
  const std::string kinds =
      "system.topology.kind: expected one of \"dragonfly\", "
      "\"fully_connected\", \"links\", \"mesh2d\", \"node_ring\", \"ring\", "
      "found ";
  EXPECT_EQ(topology({{"kind", "torus"}}), kinds + "\"torus\"");
  EXPECT_EQ(topology({{"kind", 1}}), kinds + "1");
  EXPECT_EQ(topology({{"kind", "ring"}, {"columns", 2}}),
            "system.topology: expected only the keys kind, found \"columns\"");
  EXPECT_EQ(topology({{"kind", "mesh2d"}}),
            "system.topology.columns: expected a value, found nothing");
  EXPECT_EQ(topology({{"kind", "node_ring"}}),
            "system.topology.reach: expected a value, found nothing");
  EXPECT_EQ(topology({{"kind", "links"}}),
            "system.topology.links: expected a value, found nothing");
}

//===-- Each kind ---------------------------------------------------------===//

TEST(TopologyErrors, TooFewPorts) {
  EXPECT_EQ(errorOf(object(8, 8, {{"kind", "fully_connected"}}), 6),
            "c2c.ports: expected at least 7, one to each other chip, found 6");
  EXPECT_EQ(errorOf(ring(), 1),
            "c2c.ports: expected at least 2, for this topology, found 1");
  EXPECT_EQ(errorOf(object(4, 1, {{"kind", "mesh2d"}, {"columns", 2}}), 3),
            "c2c.ports: expected at least 4, for this topology, found 3");
  EXPECT_EQ(errorOf(object(16, 8, {{"kind", "dragonfly"}}), 7),
            "c2c.ports: expected at least 8, one to each other chip of a node "
            "and a global one, found 7");
  EXPECT_EQ(errorOf(object(40, 8, {{"kind", "node_ring"}, {"reach", 2}}), 10),
            "c2c.ports: expected at least 11, one to each other chip of a node "
            "and two a node reached, found 10");
}

TEST(TopologyErrors, RefusedBeforeItIsGenerated) {
  // All pairs of 16384 chips would take gigabytes.
  EXPECT_EQ(errorOf(object(16'384, 1, {{"kind", "fully_connected"}}), 128),
            "c2c.ports: expected at least 16383, one to each other chip, found "
            "128");
}

TEST(TopologyErrors, TooFewChips) {
  EXPECT_EQ(errorOf(ring(1)),
            "system.chips: expected at least 2, for a ring, found 1");
  EXPECT_EQ(errorOf(object(8, 8, {{"kind", "dragonfly"}})),
            "system.chips: expected at least 16, two nodes of a dragonfly, "
            "found 8");
  EXPECT_EQ(errorOf(object(16, 8, {{"kind", "node_ring"}, {"reach", 1}})),
            "system.chips: expected at least 24, three nodes of a ring, found "
            "16");
}

TEST(TopologyErrors, Parameters) {
  auto mesh = [](const Json &columns) {
    return errorOf(object(6, 1, {{"kind", "mesh2d"}, {"columns", columns}}));
  };
  EXPECT_EQ(mesh(0), "system.topology.columns: expected 1 to 6, found 0");
  EXPECT_EQ(mesh(7), "system.topology.columns: expected 1 to 6, found 7");
  EXPECT_EQ(mesh(4), "system.chips: expected a multiple of "
                     "system.topology.columns = 4, found 6");
  EXPECT_EQ(mesh("3"),
            "system.topology.columns: expected a whole number, found \"3\"");
  auto nodes = [](const Json &reach) {
    return errorOf(object(16, 2, {{"kind", "node_ring"}, {"reach", reach}}));
  };
  EXPECT_EQ(nodes(3), "no error");
  EXPECT_EQ(nodes(0), "system.topology.reach: expected 1 to 3, found 0");
  // The fourth node is the same in both directions.
  EXPECT_EQ(nodes(4), "system.topology.reach: expected 1 to 3, found 4");
  auto fly = [](const Json &ports) {
    return errorOf(
        object(12, 4, {{"kind", "dragonfly"}, {"global_ports", ports}}));
  };
  EXPECT_EQ(fly(8), "no error");
  EXPECT_EQ(fly(0), "system.topology.global_ports: expected 1 to 8, found 0");
  EXPECT_EQ(fly(9), "system.topology.global_ports: expected 1 to 8, found 9");
}

TEST(TopologyErrors, DragonfliesThatDoNotWorkOut) {
  EXPECT_EQ(errorOf(object(80, 8, {{"kind", "dragonfly"}})),
            "system.topology: expected nodes that can all be linked equally, "
            "straight, by 4 global ports of each of 8 chips, found 10 nodes");
}

//===-- Listed links ------------------------------------------------------===//

std::string linksError(const Json &links, int32_t chips = 3) {
  return errorOf(object(chips, 1, {{"kind", "links"}, {"links", links}}));
}

TEST(TopologyErrors, Links) {
  const std::string path = "system.topology.links";
  Json good = {{0, 0, 1, 0}, {1, 1, 2, 0}};
  EXPECT_EQ(linksError(good), "no error");
  EXPECT_EQ(linksError(5), path + ": expected an array of [chip, port, chip, "
                                  "port], found 5");
  EXPECT_EQ(linksError({{0, 0, 1, 0}, 9}),
            path + "[1]: expected [chip, port, chip, port], found 9");
  EXPECT_EQ(linksError(Json::parse("[[0, 0, 1]]")),
            path + "[0]: expected [chip, port, chip, port], found 3 elements");
  EXPECT_EQ(linksError({{0, 0, 3, 0}}),
            path + "[0][2] (chip): expected 0 to 2, found 3");
  EXPECT_EQ(linksError({{-1, 0, 2, 0}}),
            path + "[0][0] (chip): expected 0 to 2, found -1");
  EXPECT_EQ(linksError({{0, 0, 1, 11}}),
            path + "[0][3] (port): expected 0 to 10, found 11");
  EXPECT_EQ(linksError({{0, "0", 1, 1}}),
            path + "[0][1] (port): expected a whole number, found \"0\"");
  EXPECT_EQ(linksError({{1, 0, 1, 1}}),
            path + "[0]: expected two chips, found chip 1 linked to itself");
  EXPECT_EQ(linksError({{0, 0, 1, 0}, {1, 1, 2, 0}, {2, 1, 0, 0}}),
            path + "[2]: expected ports without a cable, found port 0 of chip "
                   "0, which has one");
}

TEST(TopologyErrors, SystemsThatFallApart) {
  EXPECT_EQ(linksError({{0, 0, 1, 0}}),
            "system.topology: expected a path from chip 0 to every chip, found "
            "none to chip 2");
  EXPECT_EQ(linksError(Json::array(), 2),
            "system.topology: expected a path from chip 0 to every chip, found "
            "none to chip 1");
  EXPECT_EQ(linksError({{0, 0, 1, 0}, {2, 0, 3, 0}}, 4),
            "system.topology: expected a path from chip 0 to every chip, found "
            "none to chip 2");
}

TEST(TopologyErrors, ALongText) {
  Json system = ring();
  system["source"]["chips"] = std::string(1 << 18, 'x');
  EXPECT_TRUE(errorOf(system).starts_with(
      "system: expected at most 262144 bytes, found 262"));
}

} // namespace
} // namespace orrery
