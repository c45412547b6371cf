#include "tests/conformance/CaseRun.h"

#include "models/RandomWeights.h"
#include "runtime/StageChips.h"
#include "tests/CutStages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <unistd.h>

namespace orrery::test {

namespace {

std::string n(int64_t value) { return std::to_string(value); }

/// Runs `reads` from position 0; one vector of logits a position.
class SequenceRun {
public:
  SequenceRun(runtime::Session &session, const models::WeightSource &weights,
              CaseOutcome &outcome)
      : session(session), interpreter(weights), outcome(outcome) {}

  bool run(const std::vector<std::vector<int32_t>> &reads) {
    for (const auto &ids : reads) {
      auto records = session.read(ids);
      if (!records) {
        return fail(records.error().message);
      }
      size_t at = 0;
      for (const auto &record : *records) {
        if (!step(record, std::span(ids).subspan(at, record.validTokens))) {
          return false;
        }
        at += record.validTokens;
      }
    }
    return true;
  }
  std::vector<std::vector<float>> logits;

private:
  bool fail(const std::string &what) {
    outcome.failure = "position " + n(session.currentPosition()) + ": " + what;
    return false;
  }
  bool step(const runtime::StepRecord &record, std::span<const int32_t> ids) {
    auto module = session.stepModule(*record.program);
    auto function = *module.getOps<mlir::func::FuncOp>().begin();
    auto expected = interpreter.run(function, ids, record.position);
    if (!expected) {
      return fail("interpreter: " + expected.error().message);
    }
    std::string wrong = compareStep(record, *expected);
    if (wrong.empty()) {
      wrong = auditStep(record, session.machine());
    }
    if (!wrong.empty()) {
      return fail(wrong);
    }
    ++outcome.steps;
    outcome.positions += record.validTokens;
    outcome.ticks += record.result.ticks;
    for (const sim::ChipStep &chip : record.result.simulated) {
      outcome.instructions += int64_t(chip.result.executed.size());
      outcome.linkVectors += int64_t(chip.result.counters.linkBytesOut()) /
                             session.machine().lanes;
      outcome.fetches += int64_t(chip.result.counters.fetchedBytes) /
                         session.machine().fetchBytes();
    }
    for (const auto &row : record.logits) {
      outcome.logits += int64_t(row.size());
      logits.push_back(row);
    }
    return true;
  }

  runtime::Session &session;
  llm::Interpreter interpreter;
  CaseOutcome &outcome;
};

/// Compiles all that reads of up to `positions` tokens can need, so that no
/// chip is found too small half way.
Status prepareAll(runtime::Session &session, int64_t positions) {
  for (int64_t p = 1; p <= positions; ++p) {
    if (auto one = session.program(1, session.bucketFor(p)); !one) {
      return one.error();
    }
  }
  return session.prepare(positions, positions);
}

/// The same ids, a token at a time up to the first third, then all the rest.
std::vector<std::vector<int32_t>>
otherChunks(const std::vector<std::vector<int32_t>> &reads) {
  std::vector<int32_t> all;
  for (const auto &ids : reads) {
    all.insert(all.end(), ids.begin(), ids.end());
  }
  std::vector<std::vector<int32_t>> out;
  size_t singles = std::min<size_t>(all.size() / 3, 6);
  for (size_t k = 0; k < singles; ++k) {
    out.push_back({all[k]});
  }
  out.emplace_back(all.begin() + std::ptrdiff_t(singles), all.end());
  return out;
}

} // namespace

std::string writeMachine(const Machine &machine) {
  static int number = 0;
  std::string path = testing::TempDir() + "orrery-" + n(getpid()) + "-" +
                     n(number++) + ".json";
  std::ofstream(path) << formatMachine(machine);
  return path;
}

namespace {

/// Opens a session and compiles everything; null with the reason in `outcome`.
std::unique_ptr<runtime::Session>
openSession(const models::WeightSource &weights,
            const runtime::SessionOptions &options, int64_t positions,
            CaseOutcome &outcome) {
  auto session = runtime::Session::open(weights, options);
  Status ok =
      session ? prepareAll(**session, positions) : Status(session.error());
  if (ok) {
    return std::move(*session);
  }
  // A schedule that its own verifier refuses is a defect of the compiler.
  bool defect = ok.error().message.find("verify") != std::string::npos;
  (defect ? outcome.failure : outcome.refusal) = ok.error().message;
  return nullptr;
}

int64_t partialsOf(const SystemProgram &program) {
  int64_t out = 0;
  for (const Program &part : program.parts) {
    out += std::ranges::count_if(part.instructions, [](const Instruction &i) {
      auto *matmul = std::get_if<MatmulOp>(&i.operation);
      return matmul != nullptr && matmul->sums;
    });
  }
  return out;
}

void runBothWays(runtime::Session &session, const models::WeightSource &weights,
                 const RandomCase &drawn, CaseOutcome &outcome) {
  SequenceRun first(session, weights, outcome);
  SequenceRun second(session, weights, outcome);
  if (!first.run(drawn.reads)) {
    return;
  }
  session.reset();
  if (second.run(otherChunks(drawn.reads)) && first.logits != second.logits) {
    outcome.failure = "other chunks, other logits";
  }
}

} // namespace

CaseOutcome runCase(const RandomCase &drawn) {
  CaseOutcome outcome;
  models::RandomWeights weights(drawn.model, drawn.seed);
  runtime::SessionOptions options = drawn.options;
  options.machine = writeMachine(drawn.machine);
  int64_t positions = 0;
  for (const auto &ids : drawn.reads) {
    positions += int64_t(ids.size());
  }
  auto session = openSession(weights, options, positions, outcome);
  if (session) {
    runBothWays(*session, weights, drawn, outcome);
    if (outcome.failure.empty()) {
      outcome.failure = auditPrograms(*session);
    }
    std::set<uint32_t> buckets;
    for (const SystemProgram *p : session->programs()) {
      buckets.insert(p->parts.front().bucket);
      outcome.partials += partialsOf(*p);
    }
    auto stages = runtime::stageChips(*session->programs().front());
    outcome.stages = int64_t(stages.size());
    outcome.cutStages = cutStages(*session->programs().front());
    outcome.relays = runtime::relayCount(*session->programs().front());
    outcome.cables = int64_t(
        runtime::linksOnward(*session->programs().front(), drawn.machine)
            .size());
    outcome.ranks = int64_t(stages.front().size());
    outcome.chips = outcome.stages * outcome.ranks;
    outcome.programs = int64_t(session->programs().size());
    outcome.buckets = int64_t(buckets.size());
  }
  std::remove(options.machine.c_str());
  return outcome;
}

} // namespace orrery::test
