#include "runtime/timing/StepParts.h"

#include "compiler/schedule/Outcome.h"
#include "machine/Timing.h"
#include "runtime/StageChips.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace orrery::runtime {

PartTicks &PartTicks::operator+=(const PartTicks &o) {
  ticks += o.ticks;
  installing += o.installing;
  vectors += o.vectors;
  crossing += o.crossing;
  return *this;
}

std::array<Tick, StepParts::kCount> StepParts::inLayers() const {
  std::array<Tick, kCount> out = {};
  for (const auto &layer : layers) {
    for (size_t part = 0; part < kCount; ++part) {
      out[part] += layer[part];
    }
  }
  return out;
}

bool StepParts::addsUp() const {
  auto within = inLayers();
  Tick sum = 0;
  for (size_t part = 0; part < kCount; ++part) {
    if (step[part].ticks < within[part]) {
      return false;
    }
    sum += step[part].ticks;
  }
  return sum == ticks;
}

int64_t layerOf(std::string_view location) {
  constexpr std::string_view kLayer = "layer ";
  int64_t number = -1;
  if (location.starts_with(kLayer)) {
    std::from_chars(location.data() + kLayer.size(),
                    location.data() + location.size(), number);
  }
  return number;
}

StepPart partOf(std::string_view location, bool firstStage, bool lastStage) {
  static constexpr std::pair<std::string_view, StepPart> kNames[] = {
      {"attn_norm", StepPart::Vectors},
      {"ffn_norm", StepPart::Vectors},
      {"output_norm", StepPart::Vectors},
      {"attn_q", StepPart::Matrix},
      {"attn_k", StepPart::Matrix},
      {"attn_v", StepPart::Matrix},
      {"attention", StepPart::Attention},
      {"attn_output", StepPart::Matrix},
      {"ffn_gate", StepPart::Matrix},
      {"ffn_up", StepPart::Matrix},
      {"ffn_gated", StepPart::Vectors},
      {"ffn_down", StepPart::Matrix},
      {"attn_residual", StepPart::Vectors},
      {"ffn_residual", StepPart::Vectors},
      {"output", StepPart::Matrix},
      {"argmax", StepPart::Vectors},
      {"gather", StepPart::Collectives},
      {"sum", StepPart::Collectives},
      {"own", StepPart::Hops},
      {"step", StepPart::Hops}};
  std::string_view name = location.substr(location.rfind(' ') + 1);
  // Rows of the token and of its position come in, and results go out.
  if (name == "token_embd" || name == "rope_q" || name == "rope_k") {
    return firstStage ? StepPart::Host : StepPart::Hops;
  }
  if (name == "return") {
    return lastStage ? StepPart::Host : StepPart::Hops;
  }
  for (auto [known, part] : kNames) {
    if (name == known) {
      return part;
    }
  }
  return StepPart::Other;
}

namespace {

/// For each tick t of a chip, how many ticks before t something goes on.
class BusyBefore {
public:
  explicit BusyBefore(Tick ticks) : counts(size_t(ticks) + 1, 0) {}

  void mark(Tick from, Tick until) {
    auto last = Tick(counts.size()) - 1;
    for (Tick t = std::max<Tick>(from, 0); t < std::min(until, last); ++t) {
      counts[size_t(t) + 1] = 1;
    }
  }
  void sum() { std::partial_sum(counts.begin(), counts.end(), counts.begin()); }
  Tick within(Tick from, Tick until) const {
    auto at = [&](Tick t) {
      return counts[size_t(std::clamp<Tick>(t, 0, Tick(counts.size()) - 1))];
    };
    return until > from ? at(until) - at(from) : 0;
  }

private:
  std::vector<int32_t> counts;
};

/// What goes on on a chip that runs one part, on the chip's clock.
struct UnderWay {
  BusyBefore installing, vectors, crossing;

  UnderWay(const Program &part, const Machine &machine)
      : installing(part.predictedTicks), vectors(part.predictedTicks),
        crossing(part.predictedTicks),
        linkFree(size_t(machine.link.ports) + 1, 0) {
    for (const Instruction &i : part.instructions) {
      add(i, part, machine);
    }
    installing.sum();
    vectors.sum();
    crossing.sum();
  }

private:
  void add(const Instruction &i, const Program &part, const Machine &machine) {
    if (auto *op = std::get_if<InstallOp>(&i.operation)) {
      for (uint64_t n = 0; n < op->shape.count(); ++n) {
        Tick at = i.tick + op->shape.at(n);
        installing.mark(at, at + 1);
      }
    } else if (auto *op = std::get_if<VectorOp>(&i.operation)) {
      const VectorProgram &program = part.vectorPrograms[op->program];
      vectors.mark(i.tick,
                   i.tick + Tick(op->count) * vectorInterval(machine, program));
    } else if (auto *op = std::get_if<SendOp>(&i.operation);
               op && op->link != kHostLink) {
      Tick &free = linkFree[op->link];
      Tick from = std::max(i.tick, free);
      free = crossLink(machine, i.tick, op->shape, op->width, free).linkFree;
      crossing.mark(from, free);
    }
  }

  std::vector<Tick> linkFree; ///< by link number
};

/// When the last effects of an op of one stage are there, on the step's clock.
struct OpEnd {
  Tick tick;
  size_t order; ///< of ops that end together
  size_t stage, location;
};

/// The stages of a step, each with one of its chips.
class Sweep {
public:
  Sweep(const CompiledStep &step, const Machine &machine)
      : step(step), machine(machine), stages(stageChips(step.system)) {
    for (const Program &part : step.system.parts) {
      underWay.emplace_back(part, machine);
    }
    for (size_t s = 0; s < stages.size(); ++s) {
      addEnds(s);
    }
    std::ranges::sort(ends, {}, [](const OpEnd &end) {
      return std::pair(end.tick, end.order);
    });
  }

  StepParts run() {
    out.ticks = step.system.predictedTicks;
    Tick before = 0;
    for (const OpEnd &end : ends) {
      Tick until = std::min(end.tick, out.ticks);
      give(end, before, until);
      before = std::max(before, until);
    }
    // What follows the last effect is the last op's.
    if (!ends.empty()) {
      give(ends.back(), before, out.ticks);
    }
    return std::move(out);
  }

private:
  const ChipProgram &chipOf(size_t stage) const {
    return step.system.chips[stages[stage].front()];
  }
  const Program &partOfStage(size_t stage) const {
    return step.system.parts[chipOf(stage).part];
  }

  void addEnds(size_t stage) {
    const Program &part = partOfStage(stage);
    std::vector<Tick> last(part.locations.size(), -1);
    for (const Instruction &i : part.instructions) {
      Tick done = schedule::completionTick(machine, part.vectorPrograms, i);
      last[i.location] = std::max(last[i.location], done);
    }
    for (size_t place = 0; place < last.size(); ++place) {
      if (last[place] >= 0) {
        ends.push_back(
            {chipOf(stage).start + last[place], ends.size(), stage, place});
      }
    }
  }

  void give(const OpEnd &end, Tick from, Tick until) {
    if (until <= from) {
      return;
    }
    const ChipProgram &chip = chipOf(end.stage);
    const std::string &name = partOfStage(end.stage).locations[end.location];
    auto kind =
        size_t(partOf(name, end.stage == 0, end.stage + 1 == stages.size()));
    const UnderWay &busy = underWay[chip.part];
    Tick a = from - chip.start, b = until - chip.start;
    out.step[kind] += {until - from, busy.installing.within(a, b),
                       busy.vectors.within(a, b), busy.crossing.within(a, b)};
    // Stages that share a part have locations of the first of them.
    if (int64_t layer = layerOf(name); layer >= 0) {
      layer += step.stages[end.stage].firstLayer -
               step.firstOfPart(chip.part).firstLayer;
      if (size_t(layer) >= out.layers.size()) {
        out.layers.resize(size_t(layer) + 1);
      }
      out.layers[size_t(layer)][kind] += until - from;
    }
  }

  const CompiledStep &step;
  const Machine &machine;
  std::vector<std::vector<size_t>> stages;
  std::vector<UnderWay> underWay; ///< by part
  std::vector<OpEnd> ends;
  StepParts out;
};

} // namespace

StepParts stepParts(const CompiledStep &step, const Machine &machine) {
  return Sweep(step, machine).run();
}

} // namespace orrery::runtime
