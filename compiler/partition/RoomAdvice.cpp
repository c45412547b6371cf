#include "compiler/partition/RoomAdvice.h"

#include <algorithm>

namespace orrery::partition {

static std::string bytes(Bytes n) { return std::to_string(n) + " B"; }

// Of which limit there is how much too much.
static std::string overLimit(const Shortage &s) {
  auto limit = [&](const std::string &name, const std::string &what) {
    std::string spilled = s.spilled > 0
                              ? " and " + bytes(s.spilled) +
                                    " of weights beyond the weight slices"
                              : "";
    return " for " + name + " (" + what + spilled + ": " + bytes(s.needed) +
           " of " + bytes(s.available) + ")";
  };
  std::string tooMany = bytes(s.bytes()) + " too many";
  switch (s.limit) {
  case Shortage::Limit::Chip:
    break;
  case Shortage::Limit::DataSlices:
    return tooMany + limit("the data slices", "KV cache, tables, temporaries");
  case Shortage::Limit::TileBank:
    return tooMany + limit("the one bank of data slices for tiles", "KV cache");
  }
  return tooMany;
}

std::string lackOfRoom(const Machine &machine, const StepShape &shape,
                       const std::string &split, const Deal &deal) {
  auto worst = std::max_element(deal.stages.begin(), deal.stages.end(),
                                [&](const StagePlan &a, const StagePlan &b) {
                                  return shortage(machine, a.bytes) <
                                         shortage(machine, b.bytes);
                                });
  const StageBytes &b = worst->bytes;
  return shape.model + " does not fit " + machine.name + ": " + split +
         " takes " + bytes(b.total()) + " a chip in stage " +
         std::to_string(worst - deal.stages.begin()) + " (weights " +
         bytes(b.weights) + ", KV cache " + bytes(b.kv) + " at " +
         std::to_string(shape.context) + " positions, tables " +
         bytes(b.tables) + ", temporaries " + bytes(b.temporaries) +
         ", program " + bytes(b.program) + "), a chip has " +
         bytes(machine.sramBytes()) + ", " + overLimit(shortageOf(machine, b));
}

static std::string smallestPreset(const StepShape &shape,
                                  const SplitRequest &request) {
  std::vector<std::pair<Bytes, Machine>> presets;
  for (const std::string &name : presetNames()) {
    if (Expected<Machine> machine = loadMachine(name)) {
      Bytes bytes = machine->sramBytes() * machine->system.chips;
      presets.push_back({bytes, std::move(*machine)});
    }
  }
  std::ranges::sort(presets, {}, [](const auto &preset) {
    return std::pair(preset.first, preset.second.name);
  });
  for (const auto &[ignored, machine] : presets) {
    if (findSplit(machine, shape, request)) {
      return "; the smallest preset that would do is " + machine.name;
    }
  }
  return "; no preset would do";
}

static void setFormat(StepShape &shape, WeightFormat format) {
  for (LayerShape &l : shape.layers) {
    for (Matrix *m : {&l.q, &l.k, &l.v, &l.output, &l.gate, &l.up, &l.down}) {
      m->format = format;
    }
  }
  shape.head.format = format;
}

// The most context in whole position tiles; 0: none.
static int64_t contextThatFits(const Machine &machine, const StepShape &shape,
                               const SplitRequest &request) {
  int64_t lanes = machine.lanes, low = 0;
  int64_t high = (shape.context + lanes - 1) / lanes, middle = 1;
  while (high - low > 1) {
    StepShape shorter = shape;
    shorter.context = middle * lanes;
    shorter.bucket = std::min(shorter.bucket, shorter.context);
    bool fits = bool(findSplit(machine, shorter, request));
    if (!fits && low == 0) {
      return 0;
    }
    (fits ? low : high) = middle;
    middle = (low + high) / 2;
  }
  return low * lanes;
}

static std::string cheapestChange(const Machine &machine,
                                  const StepShape &shape,
                                  const SplitRequest &request) {
  SplitRequest free{0, 0, request.objective, request.products};
  if (request.tp > 0 || request.pp > 0) {
    if (Expected<Split> other = findSplit(machine, shape, free)) {
      return "; tp=" + std::to_string(other->tp) +
             ", pp=" + std::to_string(other->pp) + " would fit";
    }
  }
  StepShape changed = shape;
  if (shape.halfKv) {
    changed.halfKv = false;
    if (findSplit(machine, changed, request)) {
      return "; a q8 KV cache would fit";
    }
  }
  if (int64_t context = contextThatFits(machine, shape, request)) {
    return "; a context of " + std::to_string(context) + " would fit";
  }
  changed = shape;
  setFormat(changed, WeightFormat::Q4);
  if (findSplit(machine, changed, request)) {
    return "; q4_0 weights would fit";
  }
  return "";
}

std::string advice(const Machine &machine, const StepShape &shape,
                   const SplitRequest &request) {
  return smallestPreset(shape, request) +
         cheapestChange(machine, shape, request);
}

} // namespace orrery::partition
