#include "simulator/Simulator.h"

#include "simulator/function/Lanes.h"
#include "simulator/modules/Chip.h"
#include "simulator/modules/Simulation.h"
#include "simulator/modules/Step.h"
#include "simulator/report/Trace.h"

#include <algorithm>
#include <cstring>

namespace orrery::sim {
namespace {

/// NaN as f32 and f16: a temporary's undefined lanes must not look like values.
constexpr int kPoison = 0xff;

void poisonTemporaries(const Program &program, int32_t lanes,
                       SramImage &image) {
  for (const SramRegion &r : program.regions) {
    if (r.kind != RegionKind::Temporary) {
      continue;
    }
    for (int32_t s = r.slice; s < r.slice + r.width; ++s) {
      std::memset(image.vector(s, r.bank, r.base), kPoison,
                  size_t(r.length) * size_t(lanes));
    }
  }
}

Error inputError(const std::string &what, uint64_t found,
                 const std::string &expected) {
  return Error{"step input: " + what + " " + std::to_string(found) +
               ", expected " + expected};
}

Status checkInput(const Program &program, const StepInput &input,
                  const Machine &machine, bool functional) {
  if (input.validTokens < 1 || input.validTokens > program.tokens) {
    return inputError("valid tokens", input.validTokens,
                      "1 to " + std::to_string(program.tokens));
  }
  uint64_t end = uint64_t(input.position) + input.validTokens;
  if (end > program.bucket) {
    return inputError("end position", end,
                      "at most the bucket, " + std::to_string(program.bucket));
  }
  auto lanes = uint64_t(machine.lanes);
  if (input.position / lanes != (end - 1) / lanes) {
    return inputError("tokens up to position", end - 1,
                      "none across a multiple of " + std::to_string(lanes));
  }
  uint64_t floats = uint64_t(program.tokens) * program.inputVectors * lanes;
  if (functional && input.hostVectors.size() != floats) {
    return inputError("host floats", input.hostVectors.size(),
                      std::to_string(floats));
  }
  return Success{};
}

} // namespace

struct Simulator::State {
  explicit State(const Machine &m) : machine(m), memory(machine) {}
  Machine machine;
  Memory memory;
  Trace *trace = nullptr;
};

Simulator::Simulator(const Machine &machine, SramImage image, Mode mode)
    : state(std::make_unique<State>(machine)) {
  if (mode == Mode::Functional) {
    state->memory.image = std::make_unique<SramImage>(std::move(image));
  }
}

Simulator::Simulator(const Machine &machine)
    : state(std::make_unique<State>(machine)) {}
Simulator::Simulator(Simulator &&) noexcept = default;
Simulator::~Simulator() = default;

void Simulator::setTrace(Trace *trace) { state->trace = trace; }
size_t Simulator::cacheBytes() const { return state->memory.tiles.bytes(); }

const SramImage &Simulator::sram() const {
  assert(state->memory.image && "no SRAM in a timing-only simulator");
  return *state->memory.image;
}

Expected<StepResult> Simulator::run(const Program &program,
                                    const StepInput &input) {
  const Machine &machine = state->machine;
  SramImage *image = state->memory.image.get();
  if (Status status = checkInput(program, input, machine, image != nullptr);
      !status) {
    return status.error();
  }
  try {
    StepResult result;
    Step step(machine, program, input, state->memory, state->trace, result);
    if (image != nullptr) {
      poisonTemporaries(program, machine.lanes, *image);
    }
    Simulation simulation;
    {
      Chip chip("chip", simulation, step);
      simulation.run();
      chip.checkEnd();
    }
    step.finish();
    return result;
  } catch (const Violation &violation) {
    return Error{violation.message};
  } catch (const Illegal &illegal) {
    return Error{"program: cycle " + std::to_string(illegal.due) + ": " +
                 illegal.found};
  } catch (const sc_core::sc_report &report) {
    return Error{std::string("systemc: ") + report.what()};
  }
}

std::vector<float> Simulator::logits(const Program &program,
                                     uint32_t token) const {
  const LogitsPlace &place = program.logits;
  auto lanes = size_t(state->machine.lanes);
  std::vector<float> out(place.vectors * lanes);
  for (uint32_t j = 0; j < place.vectors; ++j) {
    const uint8_t *planes[4];
    for (int32_t k = 0; k < 4; ++k) {
      planes[k] = sram().vector(place.slice + k, place.bank,
                                int64_t(place.base) +
                                    int64_t(token) * place.vectors + j);
    }
    gatherF32(planes, int32_t(lanes), out.data() + j * lanes);
  }
  out.resize(std::min<size_t>(out.size(), place.vocab));
  return out;
}

} // namespace orrery::sim
