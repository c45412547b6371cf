#include "machine/Cables.h"

#include <algorithm>

namespace orrery {

std::vector<Link> nodeCables(int32_t chips, int32_t nodeChips) {
  std::vector<Link> cables;
  for (int32_t first = 0; first < chips; first += nodeChips) {
    for (int32_t a = 0; a < nodeChips; ++a) {
      for (int32_t b = a + 1; b < nodeChips; ++b) {
        cables.push_back({first + a, b - 1, first + b, a});
      }
    }
  }
  return cables;
}

std::vector<Link> ringCables(int32_t chips) {
  std::vector<Link> cables;
  for (int32_t chip = 0; chip < chips; ++chip) {
    cables.push_back({chip, 0, (chip + 1) % chips, 1});
  }
  return cables;
}

std::vector<Link> meshCables(int32_t chips, int32_t columns) {
  std::vector<Link> cables;
  int32_t south = columns > 1 ? 2 : 0;
  for (int32_t chip = 0; chip < chips; ++chip) {
    if ((chip + 1) % columns != 0) {
      cables.push_back({chip, 0, chip + 1, 1});
    }
    if (chip + columns < chips) {
      cables.push_back({chip, south, chip + columns, south + 1});
    }
  }
  return cables;
}

namespace {

/// Where in `offsets` the way back of offset number `k` is: among equal
/// offsets, the first leads back on the first, and so on.
size_t wayBack(const std::vector<int32_t> &offsets, size_t k, int32_t nodes) {
  auto earlier =
      std::count(offsets.begin(), offsets.begin() + long(k), offsets[k]);
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] == nodes - offsets[k] && earlier-- == 0) {
      return i;
    }
  }
  return offsets.size();
}

} // namespace

std::vector<Link>
straightCables(int32_t nodes,
               const std::vector<std::vector<int32_t>> &offsets) {
  std::vector<Link> cables;
  auto nodeChips = int32_t(offsets.size());
  for (int32_t r = 0; r < nodeChips; ++r) {
    for (size_t k = 0; k < offsets[size_t(r)].size(); ++k) {
      size_t back = wayBack(offsets[size_t(r)], k, nodes);
      for (int32_t node = 0; node < nodes; ++node) {
        int32_t other = (node + offsets[size_t(r)][k]) % nodes;
        if (node < other) { // else seen from the other end
          cables.push_back({node * nodeChips + r, nodeChips - 1 + int32_t(k),
                            other * nodeChips + r,
                            nodeChips - 1 + int32_t(back)});
        }
      }
    }
  }
  return cables;
}

std::vector<std::vector<int32_t>>
nodeRingOffsets(int32_t nodes, int32_t nodeChips, int32_t reach) {
  std::vector<int32_t> offsets;
  for (int32_t d = 1; d <= reach; ++d) {
    offsets.insert(offsets.end(), {d, nodes - d});
  }
  return std::vector(size_t(nodeChips), offsets);
}

std::vector<std::vector<int32_t>>
dragonflyOffsets(int32_t nodes, int32_t nodeChips, int32_t globalPorts) {
  int32_t others = nodes - 1;
  std::vector<std::vector<int32_t>> offsets(static_cast<size_t>(nodeChips));
  auto add = [&](int32_t chip, int32_t d) {
    std::vector<int32_t> &list = offsets[size_t(chip)];
    list.push_back(d);
    if (2 * d != nodes) { // halfway round, both ways are one
      list.push_back(nodes - d);
    }
  };
  if (globalPorts % others == 0) {
    for (int32_t chip = 0; chip < nodeChips; ++chip) {
      for (int32_t copy = 0; copy < globalPorts / others; ++copy) {
        for (int32_t d = 1; 2 * d <= nodes; ++d) {
          add(chip, d);
        }
      }
    }
    return offsets;
  }
  int32_t shares = others / globalPorts; // of the other nodes
  bool worksOut = globalPorts % 2 == 0 && others % globalPorts == 0 &&
                  nodeChips % shares == 0;
  if (!worksOut) {
    return {};
  }
  int32_t reached = globalPorts / 2;
  for (int32_t chip = 0; chip < nodeChips; ++chip) {
    int32_t share = chip / (nodeChips / shares);
    for (int32_t k = 1; k <= reached; ++k) {
      add(chip, share * reached + k);
    }
  }
  return offsets;
}

} // namespace orrery
