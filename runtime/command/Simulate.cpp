// orrery simulate: a program file on its chips: ticks alone, or, with the model
// it was compiled from, values too.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/ProgramImage.h"
#include "runtime/command/RunReport.h"
#include "runtime/command/Stopwatch.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using llvm::formatv;

namespace orrery::command {
namespace {

using namespace runtime;

struct Outcome {
  explicit Outcome(const Machine &machine) : receipt(machine) {}
  Receipt receipt;
  Figures figures;
  int64_t instructions = 0; ///< that were simulated
  double seconds = 0;
  std::optional<int32_t> next; ///< functional
  std::string nextText;
};

Status runStep(sim::SystemSimulator &simulator, const SystemProgram &program,
               const sim::SystemInput &input, Outcome &outcome) {
  Stopwatch watch;
  auto result = simulator.run(program, input);
  if (!result) {
    return result.error();
  }
  outcome.seconds += watch.seconds();
  for (const sim::ChipStep &chip : result->simulated) {
    outcome.instructions += int64_t(chip.result.executed.size());
  }
  outcome.receipt.addStep(program, *result);
  outcome.figures.add(program, *result, input.validTokens);
  if (input.hostVectors.empty()) {
    return Success{};
  }
  auto ids = sentIds(program, *result, input.validTokens);
  if (!ids) {
    return ids.error();
  }
  outcome.next = ids->back();
  return Success{};
}

/// Tokens from `position` that one step may read: inside the bucket and inside
/// one position tile.
int64_t roomAt(const SystemProgram &program, const Machine &machine,
               int64_t position) {
  const Program &part = program.parts.front();
  return std::min({int64_t(part.tokens), part.bucket - position,
                   machine.lanes - position % machine.lanes});
}

Status timingOnly(const SimulateArguments &a, const SystemProgram &program,
                  const Machine &machine, Outcome &outcome) {
  sim::SystemSimulator simulator(machine);
  sim::SystemInput input;
  input.position = uint32_t(a.position);
  input.validTokens = uint32_t(roomAt(program, machine, a.position));
  return runStep(simulator, program, input, outcome);
}

Status functional(const SystemProgram &program, const Machine &machine,
                  ProgramImages images, std::span<const int32_t> ids,
                  Outcome &outcome) {
  sim::SystemSimulator simulator(machine, std::move(images.sram));
  for (size_t at = 0; at < ids.size();) {
    size_t now = std::min(ids.size() - at,
                          size_t(roomAt(program, machine, int64_t(at))));
    sim::SystemInput input;
    input.position = uint32_t(at);
    input.validTokens = uint32_t(now);
    input.hostVectors =
        images.host.of(program, ids.subspan(at, now), uint32_t(at));
    if (Status ok = runStep(simulator, program, input, outcome); !ok) {
      return ok;
    }
    at += now;
  }
  return Success{};
}

std::string toText(const SystemProgram &p, const Machine &m, const Outcome &o) {
  const Figures &f = o.figures;
  std::string out = formatv(
      "{0} on {1}: {2} of {3:N} ticks, {4:f2} us; {5:e2} J and {6:f1} W "
      "a step\n"
      "host: {7:f3} s, {8:N} instructions/s\n",
      p.parts.front().modelName, m.name, counted(f.steps, "step"), f.most,
      m.microseconds(f.most), f.joules / double(f.steps),
      f.joules / (m.microseconds(f.ticks) * 1e-6), o.seconds,
      int64_t(double(o.instructions) / o.seconds));
  out += chipsText(p);
  if (o.next) {
    out += formatv("next token: {0} {1}\n", *o.next, Json(o.nextText).dump());
  }
  return out + receiptText(o.receipt, m);
}

Json document(const SystemProgram &p, const Machine &m, const Outcome &o) {
  Json out = {{"model", p.parts.front().modelName},
              {"machine", m.name},
              {"chips", chipsJson(p)},
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
ExitCode runFunctional(const SimulateArguments &a, const SystemProgram &program,
                       const Machine &machine, Outcome &outcome) {
  auto model = models::WeightFile::open(a.model);
  if (!model) {
    return fail(kBadInput, model.error());
  }
  auto ids = promptIds(*model, a.prompt, program.parts.front().bucket);
  if (!ids) {
    return fail(kBadInput, ids.error());
  }
  auto images = programImages(program, machine, *model);
  if (!images) {
    return fail(kBadInput, images.error());
  }
  Status ok = functional(program, machine, std::move(*images), *ids, outcome);
  if (!ok) {
    return fail(kBroken, ok.error());
  }
  outcome.nextText = model->tokenizer()->tokenBytes(*outcome.next, true);
  return kOk;
}

ExitCode runTiming(const SimulateArguments &a, const SystemProgram &program,
                   const Machine &machine, Outcome &outcome) {
  uint32_t bucket = program.parts.front().bucket;
  if (a.position >= bucket) {
    return fail(kBadInput, {"--position " + std::to_string(a.position) +
                            ": the program reaches " + std::to_string(bucket) +
                            " positions"});
  }
  Status ok = timingOnly(a, program, machine, outcome);
  return ok ? kOk : fail(kBroken, ok.error());
}

} // namespace

ExitCode execute(const SimulateArguments &a) {
  auto program = loadSystemProgram(a.program);
  if (!program) {
    return fail(kBadInput, program.error());
  }
  auto machine = parseMachine(program->parts.front().machineJson, a.program);
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
  const SystemProgram *set[] = {&*program};
  outcome.receipt.addPrograms(set);
  llvm::outs() << (a.json ? dump(document(*program, *machine, outcome))
                          : toText(*program, *machine, outcome));
  return outcome.receipt.ok() ? kOk : kBroken;
}

} // namespace orrery::command
