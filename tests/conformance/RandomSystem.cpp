#include "tests/conformance/RandomSystem.h"

#include <algorithm>

namespace orrery::test {

namespace {

std::string n(int64_t value) { return std::to_string(value); }

/// What the `system` object of a machine says.
struct Cables {
  int64_t chips, nodeChips;
  std::string topology; ///< its JSON object
  int64_t ports;        ///< that a chip needs
};

/// A group of `tp` chips that are linked each to each, or in a ring, in a chain
/// of `pp` of them.
Cables drawCables(int64_t tp, int64_t pp, Random &random) {
  int64_t all = tp * pp;
  std::vector<Cables> fitting = {
      {all, all, R"({"kind": "fully_connected"})", all - 1},
      // Nodes of a rank each on a ring: every node is a group.
      {all, tp, R"({"kind": "node_ring", "reach": 1})", tp - 1 + 2}};
  if (tp == 1 || pp == 1 || (tp == 2 && pp == 2)) {
    fitting.push_back({all, 1, R"({"kind": "ring"})", 2});
  }
  // Chips in two columns: a ring of all of them, or pairs one above the other.
  if (all % 2 == 0 && (tp <= 2 || pp == 1)) {
    fitting.push_back({all, 1, R"({"kind": "mesh2d", "columns": 2})", 4});
  }
  // A node ring of fewer than three nodes has no use for all its ports.
  std::erase_if(fitting, [&](const Cables &c) {
    return c.chips / c.nodeChips < 3 &&
           c.topology.find("node_ring") != std::string::npos;
  });
  return random.of(fitting);
}

std::string systemJson(const Cables &cables) {
  const std::string kSource = "\"assumed: drawn\"";
  return R"({"chips": )" + n(cables.chips) + R"(, "node_chips": )" +
         n(cables.nodeChips) + R"(, "topology": )" + cables.topology +
         R"(, "source": {"chips": )" + kSource + R"(, "node_chips": )" +
         kSource + R"(, "topology": )" + kSource + "}}";
}

/// A list of cables, each on the next free port of both chips.
class CableList {
public:
  explicit CableList(int64_t chips) : free(size_t(chips), 0) {}

  void add(int64_t a, int64_t b) {
    text += (text.empty() ? "[" : ", [") + n(a) + ", " + n(free[size_t(a)]++) +
            ", " + n(b) + ", " + n(free[size_t(b)]++) + "]";
  }
  Cables cables() const {
    return {int64_t(free.size()), 1,
            R"({"kind": "links", "links": [)" + text + "]}",
            *std::ranges::max_element(free)};
  }

private:
  std::vector<int64_t> free; ///< port, by chip
  std::string text;
};

Cables drawRouteCables(int64_t tp, int64_t pp, Random &random) {
  std::vector<bool> relay;
  for (int64_t s = 0; s < pp; ++s) {
    relay.push_back(false);
    bool room = int64_t(relay.size() + 2) * tp <= 30;
    int64_t third = room && s + 1 < pp ? random.between(0, 2) : 0;
    relay.insert(relay.end(), size_t(third), true);
  }
  std::vector<int64_t> chips(relay.size() * size_t(tp));
  for (size_t i = 0; i < chips.size(); ++i) {
    chips[i] = int64_t(i);
    std::swap(chips[i], chips[size_t(random.between(0, int64_t(i)))]);
  }
  auto chip = [&](size_t group, int64_t rank) {
    return chips[group * size_t(tp) + size_t(rank % tp)];
  };
  CableList out(int64_t(chips.size()));
  bool ring = tp >= 3 && random.chance(40);
  int64_t parallel = random.between(1, 3);
  for (size_t g = 0; g < relay.size(); ++g) {
    for (int64_t r = 0; r < tp; ++r) {
      int64_t last = ring ? r + 1 : tp - 1;
      for (int64_t other = r + 1; !relay[g] && other <= last; ++other) {
        out.add(chip(g, r), chip(g, other));
      }
      int64_t more = random.chance(30) ? 1 : 0;
      for (int64_t k = 0; g > 0 && k < parallel + more; ++k) {
        out.add(chip(g - 1, r), chip(g, r));
      }
    }
  }
  return out.cables();
}

/// Small enough that eight chips take no longer than one of RandomStepTest.
void shrink(RandomCase &drawn, int64_t stages, bool cut, Random &random) {
  drawn.machine.lanes = random.of<int32_t>({32, 64, 64, 96, 128});
  drawn.machine.matrix.installStreams = random.of<int32_t>({8, 16});
  drawn.machine.sram.slicesPerHemisphere = 28 + int32_t(random.between(0, 16));
  drawn.machine.sram.vectorsPerBank = 4096;
  models::ModelConfig &c = drawn.model;
  // Up to a stage for each section of a layer, and one for the head alone.
  int64_t least = std::max<int64_t>(1, (stages + 1) / 3);
  c.layers = cut ? least : least + random.between(0, 2);
  c.kvHeads = random.of<int64_t>({1, 2, 3, 4, 5, 8});
  c.heads = c.kvHeads * random.of<int64_t>({1, 2, 3, 4});
  c.headDim = random.of<int64_t>({8, 16, 24, 32});
  c.ropeDimension = random.chance(70) ? c.headDim : 8;
  c.hidden = random.chance(50) ? random.of<int64_t>({64, 96, 192})
                               : random.between(1, 230);
}

/// Layers of other formats make stages differ.
void drawFormats(RandomCase &drawn, Random &random) {
  using llm::WeightFormat;
  drawn.options.tensorFormats.clear();
  if (random.chance(70)) {
    return;
  }
  for (const auto &shape : models::expectedTensors(drawn.model)) {
    if (!shape.isVector && random.chance(20)) {
      drawn.options.tensorFormats[shape.name] = random.of<WeightFormat>(
          {WeightFormat::Q8_0, WeightFormat::Q4_0, WeightFormat::F16});
    }
  }
}

void drawTokens(RandomCase &drawn, Random &random) {
  // Past a bucket border where the lanes are few.
  int64_t tokens = random.between(2, drawn.machine.lanes <= 64 ? 40 : 14);
  if (random.chance(30)) {
    tokens = drawn.machine.lanes + random.between(1, 4);
  }
  drawn.reads.clear();
  for (int64_t left = tokens; left > 0;) {
    int64_t now = std::min(left, random.between(1, 8));
    std::vector<int32_t> ids;
    for (int64_t k = 0; k < now; ++k) {
      ids.push_back(int32_t(random.between(0, drawn.model.vocab - 1)));
    }
    drawn.reads.push_back(std::move(ids));
    left -= now;
  }
  drawn.options.context = tokens + random.of<int64_t>({0, 1, 31, 70});
  drawn.model.contextLength = drawn.options.context;
  drawn.options.chunk = random.between(1, 8);
}

void joinChips(RandomSystem &out, const Cables &cables, Random &random) {
  RandomCase &drawn = out.drawn;
  out.topology = cables.topology;
  LinkParameters &link = drawn.machine.link;
  link.ports = int32_t(cables.ports + random.between(0, 2));
  link.latency = random.between(1, 300);
  link.vectorTicks = random.between(1, 12);
  link.bufferVectors = random.of<int32_t>({64, 128, 256, 1024});
  drawn.machine.system.json = systemJson(cables);
  auto read = parseMachine(formatMachine(drawn.machine), "drawn");
  if (!read) {
    out.topology += " " + read.error().message;
  } else {
    drawn.machine = *read;
  }
}

} // namespace

std::string RandomSystem::text() const {
  return drawn.text() + "; tp " + n(drawn.options.split.tensorParallel) +
         " pp " + n(drawn.options.split.stages) +
         (drawn.options.split.cut ? " cut " : " ") + topology + " chips " +
         n(drawn.machine.system.chips) + " ports " +
         n(drawn.machine.link.ports) + " link " +
         n(drawn.machine.link.latency) + " + " +
         n(drawn.machine.link.vectorTicks) + " buffer " +
         n(drawn.machine.link.bufferVectors);
}

RandomSystem drawSystem(uint64_t seed) {
  Random random(seed * 104729 + 5);
  RandomSystem out;
  RandomCase &drawn = out.drawn;
  drawn = drawCase(seed);
  int64_t tp = 1, pp = 1;
  // Stages that end inside feed-forward networks: there are too many for whole
  // ones, or it is asked for. On up to 32 chips.
  Random forCut(seed * 32452843 + 7);
  bool cut = forCut.chance(45);
  int64_t most = cut && forCut.chance(30) ? 32 : 16;
  while (tp * pp == 1 || tp * pp > most || (cut && pp < 2)) {
    tp = random.between(1, 8);
    pp = random.chance(cut ? 60 : 30) ? random.between(4, 8)
                                      : random.between(1, 4);
  }
  drawn.options.split = {tp, pp};
  shrink(drawn, pp, cut, random);
  if (cut && pp <= 2 * drawn.model.layers + 1) {
    drawn.options.split.cut = true;
  }
  drawTokens(drawn, random);
  drawFormats(drawn, random);

  Random fetch(seed * 15485863 + 3);
  drawFetch(drawn.machine, fetch);
  joinChips(out, drawCables(tp, pp, random), random);
  return out;
}

RandomSystem drawRoutes(uint64_t seed) {
  for (uint64_t other = 1000 * seed;; ++other) {
    RandomSystem out = drawSystem(other);
    auto [tp, pp] = std::pair(out.drawn.options.split.tensorParallel,
                              out.drawn.options.split.stages);
    if (pp > 1 && tp * pp <= 16) {
      Random random(other * 49979687 + 11);
      joinChips(out, drawRouteCables(tp, pp, random), random);
      return out;
    }
  }
}

} // namespace orrery::test
