// Each kind of topology against its closed forms.
#include "machine/SystemProgram.h"
#include "tests/machine/SystemObject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {
namespace {

using testing::kPorts;
using testing::object;
using testing::read;
using Json = nlohmann::json;

/// A generated system that must be there.
System made(int32_t chips, int32_t nodeChips, const Json &topology,
            int32_t ports = kPorts) {
  auto system = read(object(chips, nodeChips, topology), ports);
  EXPECT_TRUE(system) << system.error().message;
  return *system;
}

//===-- What to ask of a system -------------------------------------------===//

using Neighbours = std::vector<std::vector<int32_t>>;

Neighbours neighboursOf(const System &system) {
  Neighbours out(size_t(system.chips));
  for (const Link &link : system.links) {
    out[size_t(link.chip)].push_back(link.otherChip);
    out[size_t(link.otherChip)].push_back(link.chip);
  }
  return out;
}

/// Hops from `chip` to each; -1: none.
std::vector<int> hopsFrom(int32_t chip, const Neighbours &neighbours) {
  std::vector<int> hops(neighbours.size(), -1);
  std::vector<int32_t> queue{chip};
  hops[size_t(chip)] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int32_t other : neighbours[size_t(queue[i])]) {
      if (hops[size_t(other)] < 0) {
        hops[size_t(other)] = hops[size_t(queue[i])] + 1;
        queue.push_back(other);
      }
    }
  }
  return hops;
}

int diameter(const System &system) {
  Neighbours neighbours = neighboursOf(system);
  int most = 0;
  for (int32_t chip = 0; chip < system.chips; ++chip) {
    auto hops = hopsFrom(chip, neighbours);
    EXPECT_EQ(std::ranges::count(hops, -1), 0);
    most = std::max(most, *std::ranges::max_element(hops));
  }
  return most;
}

/// The one number of cables that each chip has.
size_t degree(const System &system) {
  Neighbours neighbours = neighboursOf(system);
  for (const auto &each : neighbours) {
    EXPECT_EQ(each.size(), neighbours[0].size());
  }
  return neighbours[0].size();
}

/// Cables by pair of nodes, each pair once.
std::map<std::pair<int32_t, int32_t>, int> cablesOfNodes(const System &system) {
  std::map<std::pair<int32_t, int32_t>, int> cables;
  for (const Link &link : system.links) {
    int32_t a = link.chip / system.nodeChips;
    int32_t b = link.otherChip / system.nodeChips;
    if (a != b) {
      ++cables[{a, b}];
      EXPECT_EQ(link.chip % system.nodeChips,
                link.otherChip % system.nodeChips); // straight
    }
  }
  return cables;
}

/// What every system keeps, however it was described.
void expectSound(const System &system, int32_t ports) {
  std::set<std::pair<int32_t, int32_t>> used;
  for (const Link &link : system.links) {
    EXPECT_LT(link.chip, link.otherChip);
    EXPECT_GE(link.chip, 0);
    EXPECT_LT(link.otherChip, system.chips);
    for (auto [chip, port] : {std::pair(link.chip, link.port),
                              std::pair(link.otherChip, link.otherPort)}) {
      EXPECT_GE(port, 0);
      EXPECT_LT(port, ports);
      EXPECT_TRUE(used.insert({chip, port}).second) << chip << " " << port;
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(system.links, {}, [](const Link &l) {
    return std::pair(l.chip, l.port);
  }));
  diameter(system);
}

//===-- Closed forms ------------------------------------------------------===//

TEST(Topology, FullyConnected) {
  for (int32_t n : {1, 2, 3, 8, 12}) {
    System system = made(n, n, {{"kind", "fully_connected"}}, n - 1);
    expectSound(system, n - 1);
    EXPECT_EQ(system.links.size(), size_t(n * (n - 1) / 2));
    EXPECT_EQ(degree(system), size_t(n - 1));
    EXPECT_EQ(diameter(system), n == 1 ? 0 : 1);
  }
}

TEST(Topology, Ring) {
  for (int32_t n : {2, 3, 4, 9}) {
    System system = made(n, 1, {{"kind", "ring"}}, 2);
    expectSound(system, 2);
    EXPECT_EQ(system.links.size(), size_t(n));
    EXPECT_EQ(degree(system), 2u);
    EXPECT_EQ(diameter(system), n / 2);
  }
}

TEST(Topology, RingPortsLeadOnAndBack) {
  Machine machine = *loadMachine("lpu-small-ring");
  PortMap ports(machine);
  for (int32_t chip = 0; chip < 4; ++chip) {
    EXPECT_EQ(ports.otherEnd(chip, 0), std::pair((chip + 1) % 4, 1));
    EXPECT_EQ(ports.otherEnd(chip, 1), std::pair((chip + 3) % 4, 0));
    EXPECT_EQ(ports.otherEnd(chip, 2), std::pair(-1, -1));
  }
}

TEST(Topology, Mesh) {
  for (int32_t columns : {1, 2, 3, 5}) {
    for (int32_t rows : {1, 2, 4}) {
      Json mesh = {{"kind", "mesh2d"}, {"columns", columns}};
      System system = made(rows * columns, 1, mesh, 4);
      expectSound(system, 4);
      EXPECT_EQ(system.links.size(),
                size_t(rows * (columns - 1) + columns * (rows - 1)));
      EXPECT_EQ(diameter(system), rows - 1 + columns - 1);
    }
  }
}

TEST(Topology, MeshPortsHaveDirections) {
  System system = made(6, 1, {{"kind", "mesh2d"}, {"columns", 3}});
  // Chip 0's east is 1's west, its south 3's north.
  EXPECT_EQ(system.links[0], (Link{0, 0, 1, 1}));
  EXPECT_EQ(system.links[1], (Link{0, 2, 3, 3}));
  // A column alone needs no ports for east and west.
  System column = made(2, 1, {{"kind", "mesh2d"}, {"columns", 1}}, 2);
  EXPECT_EQ(column.links[0], (Link{0, 0, 1, 1}));
}

/// 8 chips with 4 global ports and 9 nodes: the published rack.
TEST(Topology, Rack) {
  Machine machine = *loadMachine("lpu-v1-rack");
  const System &system = machine.system;
  expectSound(system, machine.link.ports);
  EXPECT_EQ(system.links.size(), 9u * 28 + 36 * 4);
  EXPECT_EQ(degree(system), 11u);
  EXPECT_EQ(diameter(system), 3); // SHIP, MLSys 2026
  auto cables = cablesOfNodes(system);
  EXPECT_EQ(cables.size(), 36u);
  for (const auto &[nodes, count] : cables) {
    EXPECT_EQ(count, 4);
  }
  PortMap ports(machine);
  for (int32_t r = 0; r < 8; ++r) {
    std::set<int32_t> reached;
    for (int32_t port = 7; port < 11; ++port) {
      reached.insert(ports.otherEnd(r, port).first / 8);
    }
    EXPECT_EQ(reached, (r < 4 ? std::set<int32_t>{1, 8, 2, 7}
                              : std::set<int32_t>{3, 6, 4, 5}));
  }
}

TEST(Topology, DeploymentOf576) {
  Machine machine = *loadMachine("lpu-v1-576");
  const System &system = machine.system;
  expectSound(system, machine.link.ports);
  EXPECT_EQ(system.chips, 576);
  EXPECT_EQ(system.links.size(), 72u * 28 + 72 * 8 * 2);
  EXPECT_EQ(degree(system), 11u);
  PortMap ports(machine);
  // Every rank has a cable of its own to the next nodes, and back.
  for (int32_t chip = 0; chip < 576; ++chip) {
    EXPECT_EQ(ports.otherEnd(chip, 7), std::pair((chip + 8) % 576, 8));
    EXPECT_EQ(ports.otherEnd(chip, 9), std::pair((chip + 16) % 576, 10));
  }
}

TEST(Topology, Lp30Rack) {
  Machine machine = *loadMachine("lp30-rack");
  expectSound(machine.system, machine.link.ports);
  EXPECT_EQ(machine.system.chips, 256);
  EXPECT_EQ(machine.system.links.size(), 32u * 28 + 32 * 8 * 8);
  EXPECT_EQ(degree(machine.system), 23u);
}

TEST(Topology, NodeRing) {
  for (int32_t nodeChips : {1, 2, 3}) {
    for (int32_t nodes = 3; nodes < 12; ++nodes) {
      for (int32_t reach = 1; 2 * reach < nodes; ++reach) {
        int32_t ports = nodeChips - 1 + 2 * reach;
        Json ring = {{"kind", "node_ring"}, {"reach", reach}};
        System system = made(nodes * nodeChips, nodeChips, ring, ports);
        expectSound(system, ports);
        EXPECT_EQ(degree(system), size_t(ports));
        auto cables = cablesOfNodes(system);
        EXPECT_EQ(cables.size(), size_t(nodes * reach));
        for (const auto &[pair, count] : cables) {
          EXPECT_EQ(count, nodeChips);
          int32_t apart = pair.second - pair.first;
          EXPECT_LE(std::min(apart, nodes - apart), reach);
        }
      }
    }
  }
}

/// Every pair of nodes has equally many straight cables and no global port is
/// free, or the description is refused.
TEST(Topology, DragonfliesAreEvenOrRefused) {
  int accepted = 0, refused = 0;
  for (int32_t nodes = 2; nodes <= 13; ++nodes) {
    for (int32_t nodeChips = 1; nodeChips <= 8; ++nodeChips) {
      for (int32_t global = 1; global <= 12; ++global) {
        SCOPED_TRACE(::testing::Message() << nodes << " nodes of " << nodeChips
                                          << " with " << global);
        int32_t ports = nodeChips - 1 + global;
        auto system =
            read(object(nodes * nodeChips, nodeChips, {{"kind", "dragonfly"}}),
                 ports);
        // Every chip could reach every node; then it must.
        bool mustWork = global % (nodes - 1) == 0;
        // There are not enough ports, or not an even share.
        bool cannotWork = nodeChips * global % (nodes - 1) != 0;
        EXPECT_TRUE(!mustWork || system);
        EXPECT_TRUE(!cannotWork || !system);
        if (!system) {
          ++refused;
          continue;
        }
        ++accepted;
        expectSound(*system, ports);
        EXPECT_EQ(degree(*system), size_t(ports));
        auto cables = cablesOfNodes(*system);
        EXPECT_EQ(cables.size(), size_t(nodes * (nodes - 1) / 2));
        for (const auto &[pair, count] : cables) {
          EXPECT_EQ(count, nodeChips * global / (nodes - 1));
        }
      }
    }
  }
  EXPECT_GT(accepted, 200);
  EXPECT_GT(refused, 200);
}

TEST(Topology, DragonflyMayLeavePortsFree) {
  Json fly = {{"kind", "dragonfly"}, {"global_ports", 2}};
  System system = made(12, 4, fly);
  EXPECT_EQ(degree(system), 3u + 2);
}

TEST(Topology, LinksAreSortedWhicheverEndComesFirst) {
  Json list = {{"kind", "links"},
               {"links", {{2, 1, 1, 0}, {1, 3, 0, 5}, {0, 4, 1, 4}}}};
  System system = made(3, 1, list);
  expectSound(system, kPorts);
  EXPECT_EQ(system.links,
            (std::vector<Link>{{0, 4, 1, 4}, {0, 5, 1, 3}, {1, 0, 2, 1}}));
}

TEST(Topology, OneChipNeedsNoCable) {
  EXPECT_EQ(
      made(1, 1, {{"kind", "links"}, {"links", Json::array()}}, 0).links.size(),
      0u);
}

TEST(Topology, PortMapIsItsOwnInverse) {
  for (const std::string &name : presetNames()) {
    Machine machine = *loadMachine(name);
    PortMap ports(machine);
    size_t ends = 0;
    for (int32_t chip = 0; chip < machine.system.chips; ++chip) {
      for (int32_t port = 0; port < machine.link.ports; ++port) {
        auto [other, otherPort] = ports.otherEnd(chip, port);
        if (other >= 0) {
          ++ends;
          EXPECT_NE(other, chip);
          EXPECT_EQ(ports.otherEnd(other, otherPort), std::pair(chip, port));
        }
      }
    }
    EXPECT_EQ(ends, 2 * machine.system.links.size());
  }
}

/// Arbitrary numbers are refused or give a sound system.
TEST(Topology, ArbitraryLinks) {
  uint64_t state = 5;
  auto next = [&](int32_t most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return int32_t(state >> 33) % most;
  };
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    int32_t chips = 1 + next(4);
    Json links = Json::array();
    for (int32_t i = next(6); i > 0; --i) {
      links.push_back(
          {next(chips + 1) - next(20) / 19, next(4), next(chips), next(4)});
    }
    auto system =
        read(object(chips, 1, {{"kind", "links"}, {"links", links}}), 4);
    if (system) {
      ++accepted;
      expectSound(*system, 4);
      EXPECT_EQ(system->links.size(), links.size());
    }
  }
  EXPECT_GT(accepted, 200);
}

} // namespace
} // namespace orrery
