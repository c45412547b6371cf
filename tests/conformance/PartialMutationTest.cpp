// A partial that is dropped, added twice or not an accumulator is seen: what
// breaks a rule by the checker and by the run, what only breaks a sum by the
// logits.
#include "dialects/llm/Interpreter.h"
#include "models/RandomWeights.h"
#include "runtime/StepHost.h"
#include "simulator/check/SystemCheck.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace orrery::test {
namespace {

models::ModelConfig smallModel() {
  models::ModelConfig c;
  c.name = "partial sums";
  c.architecture = "llama";
  c.layers = 1;
  c.hidden = 96;
  c.heads = c.kvHeads = 4;
  c.headDim = c.ropeDimension = 32;
  c.intermediate = 100;
  c.vocab = 70;
  c.contextLength = 64;
  c.normEps = 1e-5f;
  return c;
}

/// A step for one token over ranks, and what it takes to run it.
struct SharedStep {
  models::ModelConfig config = smallModel();
  models::RandomWeights weights{config, 7};
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  Machine machine;
  std::optional<CompiledStep> step;

  SharedStep(const char *preset, int64_t tp, const char *products)
      : machine(*loadMachine(preset)) {
    CompileRequest request;
    request.machine = preset;
    request.split = {tp, 1, products};
    auto compiled = compileStep(*context, config, request);
    EXPECT_TRUE(compiled) << compiled.error().message;
    step = std::move(*compiled);
  }

  /// The logits of `program`; none, with the run's complaint, if it broke a
  /// rule.
  std::vector<float> logitsOf(const SystemProgram &program,
                              std::string &complaint) const {
    auto images = runtime::fillImages(*step, machine, weights, nullptr);
    auto table =
        runtime::EmbeddingTable::open(weights, llm::WeightFormat::Q8_0);
    EXPECT_TRUE(images && table);
    runtime::HostInput host(*step, machine, std::move(*table));
    sim::SystemSimulator simulator(machine, std::move(*images));
    int32_t id = 5;
    auto result = simulator.run(program, {0, 1, host.of(program, {&id, 1}, 0)});
    if (!result) {
      complaint = result.error().message;
      return {};
    }
    return runtime::gatherLogits(*step, simulator, 0);
  }

  std::vector<float> expected() {
    llm::Interpreter interpreter(weights);
    auto function = *step->step->getOps<mlir::func::FuncOp>().begin();
    std::vector<int32_t> ids = {5};
    auto out = interpreter.run(function, ids, 0);
    EXPECT_TRUE(out);
    return out->logits.values;
  }
};

/// Instructions that `wanted` says yes to, in all parts.
std::vector<size_t> findAll(const Program &part,
                            const std::function<bool(const Operation &)> &is) {
  std::vector<size_t> out;
  for (size_t i = 0; i < part.instructions.size(); ++i) {
    if (is(part.instructions[i].operation)) {
      out.push_back(i);
    }
  }
  return out;
}

bool receivesSums(const Operation &o) {
  auto *op = std::get_if<ReceiveOp>(&o);
  return op != nullptr && op->width == 8;
}
bool sendsSums(const Operation &o) {
  auto *op = std::get_if<SendOp>(&o);
  return op != nullptr && op->width == 8;
}
bool leavesSums(const Operation &o) {
  auto *op = std::get_if<MatmulOp>(&o);
  return op != nullptr && op->sums;
}

/// Both the checker and the run must complain.
void expectNamed(const SharedStep &shared, const SystemProgram &broken,
                 const char *what) {
  EXPECT_FALSE(check::checkSystem(broken, shared.machine).ok()) << what;
  std::string complaint;
  shared.logitsOf(broken, complaint);
  EXPECT_NE(complaint, "") << what;
}

class PartialMutationTest : public testing::TestWithParam<
                                std::tuple<const char *, int, const char *>> {};

TEST_P(PartialMutationTest, IsSeen) {
  auto [preset, tp, products] = GetParam();
  SharedStep shared(preset, tp, products);
  const SystemProgram &whole = shared.step->system;
  std::string complaint;
  ASSERT_TRUE(check::checkSystem(whole, shared.machine).ok());
  std::vector<float> logits = shared.logitsOf(whole, complaint);
  ASSERT_EQ(complaint, "");
  ASSERT_EQ(logits, shared.expected());

  auto mutants = [&](auto is, auto mutate, const char *what) {
    auto found = findAll(whole.parts[0], is);
    EXPECT_FALSE(found.empty()) << what;
    for (size_t i : found) {
      SystemProgram broken = whole;
      mutate(broken.parts[0].instructions, i);
      expectNamed(shared, broken, what);
    }
  };
  using List = std::vector<Instruction>;
  auto erase = [](List &all, size_t i) {
    all.erase(all.begin() + std::ptrdiff_t(i));
  };
  mutants(receivesSums, erase, "a partial that is not received");
  mutants(sendsSums, erase, "a partial that is not sent");
  mutants(
      sendsSums,
      [](List &all, size_t i) {
        all.insert(all.begin() + std::ptrdiff_t(i), all[i]);
      },
      "a partial that is sent twice");
  mutants(
      leavesSums,
      [](List &all, size_t i) {
        std::get<MatmulOp>(all[i].operation).sums = false;
      },
      "f32 in place of accumulators");

  // Into the sums of one burst the first partial in place of all: dropped ones,
  // and one that is added twice.
  Position vxm = shared.machine.geometry().ofVxm();
  auto added = findAll(whole.parts[0], [&](const Operation &o) {
    auto *op = std::get_if<ReadOp>(&o);
    return op != nullptr && op->width == 8 && op->out.stop == vxm;
  });
  EXPECT_FALSE(added.empty());
  int differ = 0;
  for (size_t i : added) {
    SystemProgram broken = whole;
    auto &op = std::get<ReadOp>(broken.parts[0].instructions[i].operation);
    op.address.step[0] = 0;
    complaint.clear();
    std::vector<float> found = shared.logitsOf(broken, complaint);
    differ += complaint.empty() && found != logits;
    EXPECT_TRUE(!complaint.empty() || found != logits);
  }
  EXPECT_GT(differ, 0) << "no sum was wrong without a broken rule";
}

INSTANTIATE_TEST_SUITE_P(
    Forms, PartialMutationTest,
    testing::Values(std::tuple("lpu-small-node", 2, "scatter"),
                    std::tuple("lpu-small-node", 3, "scatter"),
                    std::tuple("lpu-small-node", 3, "reduce"),
                    std::tuple("lpu-small-ring", 4, "scatter")));

} // namespace
} // namespace orrery::test
