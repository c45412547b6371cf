// orrery simulate: a program file on its machine: ticks alone, or, with the
// model it was compiled from, values too.
#include "runtime/command/Json.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/ProgramImage.h"
#include "runtime/command/RunReport.h"
#include "runtime/command/Stopwatch.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <bit>

using llvm::formatv;

namespace orrery::command {
namespace {

using namespace runtime;

struct Outcome {
  explicit Outcome(const Machine &machine) : receipt(machine) {}
  Receipt receipt;
  Figures figures;
  double seconds = 0;
  std::optional<int32_t> next; ///< functional
  std::string nextText;
};

Status runStep(sim::Simulator &simulator, const Program &program,
               const sim::StepInput &input, Outcome &outcome) {
  Stopwatch watch;
  auto result = simulator.run(program, input);
  if (!result) {
    return result.error();
  }
  outcome.seconds += watch.seconds();
  outcome.receipt.addStep(program, *result);
  outcome.figures.add(program, *result, input.validTokens);
  if (!result->hostOutput.empty()) {
    const auto &best = result->hostOutput[input.validTokens - 1];
    outcome.next = int32_t(std::bit_cast<uint32_t>(best[1]));
  }
  return Success{};
}

/// Tokens from `position` that one step may read: inside the bucket and inside
/// one position tile.
int64_t roomAt(const Program &program, const Machine &machine,
               int64_t position) {
  return std::min({int64_t(program.tokens), program.bucket - position,
                   machine.lanes - position % machine.lanes});
}

Status timingOnly(const SimulateArguments &a, const Program &program,
                  const Machine &machine, Outcome &outcome) {
  sim::Simulator simulator(machine);
  sim::StepInput input;
  input.position = uint32_t(a.position);
  input.validTokens = uint32_t(roomAt(program, machine, a.position));
  return runStep(simulator, program, input, outcome);
}

Status functional(const Program &program, const Machine &machine,
                  ProgramImage image, std::span<const int32_t> ids,
                  Outcome &outcome) {
  sim::Simulator simulator(machine, std::move(image.sram));
  size_t row = size_t(program.inputVectors) * size_t(machine.lanes);
  for (size_t at = 0; at < ids.size();) {
    size_t now = std::min(ids.size() - at,
                          size_t(roomAt(program, machine, int64_t(at))));
    sim::StepInput input;
    input.position = uint32_t(at);
    input.validTokens = uint32_t(now);
    input.hostVectors.resize(program.tokens * row);
    for (size_t t = 0; t < now; ++t) {
      auto values = image.embedding.row(ids[at + t]);
      std::copy(values.begin(), values.end(),
                input.hostVectors.begin() + std::ptrdiff_t(t * row));
    }
    if (Status ok = runStep(simulator, program, input, outcome); !ok) {
      return ok;
    }
    at += now;
  }
  return Success{};
}

std::string toText(const Program &p, const Machine &m, const Outcome &o) {
  const Figures &f = o.figures;
  double instructions = double(p.instructions.size()) * double(f.steps);
  std::string out = formatv(
      "{0} on {1}: {2} of {3:N} ticks, {4:f2} us; {5:e2} J and {6:f1} W "
      "a step\n"
      "host: {7:f3} s, {8:N} instructions/s\n",
      p.modelName, m.name, counted(f.steps, "step"), f.most,
      m.microseconds(f.most), f.joules / double(f.steps),
      f.joules / (m.microseconds(f.ticks) * 1e-6), o.seconds,
      int64_t(instructions / o.seconds));
  if (o.next) {
    out += formatv("next token: {0} {1}\n", *o.next, Json(o.nextText).dump());
  }
  return out + receiptText(o.receipt, m);
}

Json document(const Program &p, const Machine &m, const Outcome &o) {
  Json out = {{"model", p.modelName},
              {"machine", m.name},
              {"mode", o.next ? "functional" : "timing only"},
              {"steps", toJson(o.figures, m)},
              {"host_seconds", o.seconds}};
  if (o.next) {
    out["next_id"] = *o.next;
    out["next_text"] = o.nextText;
  }
  out["receipt"] = toJson(o.receipt, m);
  return out;
}

/// Values: the model's file, its image, the prompt.
ExitCode runFunctional(const SimulateArguments &a, const Program &program,
                       const Machine &machine, Outcome &outcome) {
  auto model = models::WeightFile::open(a.model);
  if (!model) {
    return fail(kBadInput, model.error());
  }
  auto ids = promptIds(*model, a.prompt, program.bucket);
  if (!ids) {
    return fail(kBadInput, ids.error());
  }
  auto image = programImage(program, machine, *model);
  if (!image) {
    return fail(kBadInput, image.error());
  }
  Status ok = functional(program, machine, std::move(*image), *ids, outcome);
  if (!ok) {
    return fail(kBroken, ok.error());
  }
  outcome.nextText = model->tokenizer()->tokenBytes(*outcome.next, true);
  return kOk;
}

ExitCode runTiming(const SimulateArguments &a, const Program &program,
                   const Machine &machine, Outcome &outcome) {
  if (a.position >= program.bucket) {
    return fail(kBadInput, {"--position " + std::to_string(a.position) +
                            ": the program reaches " +
                            std::to_string(program.bucket) + " positions"});
  }
  Status ok = timingOnly(a, program, machine, outcome);
  return ok ? kOk : fail(kBroken, ok.error());
}

} // namespace

ExitCode execute(const SimulateArguments &a) {
  auto program = loadProgram(a.program);
  if (!program) {
    return fail(kBadInput, program.error());
  }
  auto machine = parseMachine(program->machineJson, a.program);
  if (!machine) {
    return fail(kBadInput, machine.error());
  }
  Outcome outcome(*machine);
  ExitCode code = a.model.empty()
                      ? runTiming(a, *program, *machine, outcome)
                      : runFunctional(a, *program, *machine, outcome);
  if (code != kOk) {
    return code;
  }
  const Program *set[] = {&*program};
  outcome.receipt.addPrograms(set);
  llvm::outs() << (a.json ? dump(document(*program, *machine, outcome))
                          : toText(*program, *machine, outcome));
  return outcome.receipt.ok() ? kOk : kBroken;
}

} // namespace orrery::command
