// The form that a product is estimated to be fastest in, against the schedules
// of all forms.
#include "compiler/partition/StageTicks.h"

#include "compiler/Compile.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdio>

namespace orrery::partition {
namespace {

struct Case {
  const char *model;
  int64_t hidden, heads, kvHeads, headDim, ffn;
  const char *machine;
  int64_t tp;
  bool ring = false;
  int64_t layers = 2;
};

const Case kCases[] = {
    {"SmolLM2-135M", 576, 9, 3, 64, 1536, "lpu-v1-node", 2},
    {"SmolLM2-135M", 576, 9, 3, 64, 1536, "lpu-v1-node", 3},
    {"TinyLlama", 2048, 32, 4, 64, 5632, "lpu-v1-node", 2},
    {"TinyLlama", 2048, 32, 4, 64, 5632, "lpu-v1-node", 8},
    {"Qwen2.5-7B", 3584, 28, 4, 128, 18944, "lpu-v1-node", 4},
    {"Qwen2.5-32B", 5120, 40, 8, 128, 27648, "lpu-v1-node", 8, false, 1},
    {"Llama-2-7B", 4096, 32, 32, 128, 11008, "lpu-v1-node", 8},
    {"Llama-2-70B", 8192, 64, 8, 128, 28672, "lpu-v1-node", 8, false, 1},
    {"stories260K", 64, 8, 4, 8, 172, "lpu-v1-node", 2},
    {"stories15M", 288, 6, 6, 48, 768, "lpu-v1-node", 2},
    {"Llama-3.2-1B", 2048, 32, 8, 64, 8192, "lp30-rack", 4},
    {"Llama-2-70B", 8192, 64, 8, 128, 28672, "lp30-rack", 8, false, 1},
    {"narrow", 96, 4, 2, 32, 100, "lpu-small-ring", 4, true},
    {"middling", 512, 8, 4, 64, 1536, "lpu-small-ring", 4, true},
    {"middling", 512, 8, 4, 64, 1536, "lpu-small-node", 4},
    {"wide FFN", 64, 4, 2, 32, 4096, "lpu-small-node", 4},
};

models::ModelConfig shapeOf(const Case &c) {
  models::ModelConfig m;
  m.name = c.model;
  m.architecture = "llama";
  m.layers = c.layers;
  m.hidden = c.hidden;
  m.heads = c.heads;
  m.kvHeads = c.kvHeads;
  m.headDim = m.ropeDimension = c.headDim;
  m.intermediate = c.ffn;
  m.vocab = 320;
  m.contextLength = 320;
  m.normEps = 1e-5f;
  return m;
}

/// Ticks of a token step, by the model that chooses.
Tick estimated(const TickModel &model, const StepShape &shape) {
  StageTicks out = model.embedding();
  for (const LayerShape &layer : shape.layers) {
    out += model.layer(layer);
  }
  out += model.head(shape.head);
  return out.total();
}

/// The same of the program.
Tick scheduled(mlir::MLIRContext &context, const Case &c,
               const char *products) {
  CompileRequest request;
  request.machine = c.machine;
  request.split = {c.tp, 1, products};
  auto step = compileStep(context, shapeOf(c), request);
  EXPECT_TRUE(step) << c.model << ": " << step.error().message;
  return step ? step->system.predictedTicks : 0;
}

const char *nameOf(ProductForm form) {
  constexpr const char *kNames[] = {"column", "scatter", "reduce"};
  return kNames[size_t(form)];
}

// Each product in the best form is at least as good as both in one form, but
// for what an estimate may be off.
TEST(ProductForms, TheChosenOnesAreScheduledFastest) {
  auto context = makeContext();
  std::printf("scheduled ticks (estimated) of a token step\n");
  int row = 0;
  for (const Case &c : kCases) {
    Machine machine = *loadMachine(c.machine);
    StepShape shape = uniformShape(shapeOf(c), WeightFormat::Q8, false, 320);
    std::printf("%-12s %lld of %-14s", c.model, (long long)c.tp, c.machine);
    Tick least = 0, ticks = 0;
    for (auto [word, products] : {std::pair("column", Products::Column),
                                  {"scatter", Products::Scatter},
                                  {"reduce", Products::Reduce},
                                  {"", Products::Chosen}}) {
      TickModel model(machine, shape, c.tp, c.ring, products);
      ticks = scheduled(*context, c, word);
      least = least == 0 ? ticks : std::min(least, ticks);
      std::printf(" | %lld (%lld)", (long long)ticks,
                  (long long)estimated(model, shape));
    }
    TickModel model(machine, shape, c.tp, c.ring);
    ProductForm forms[] = {
        model.form(Section::Attention, shape.layers[0].output),
        model.form(Section::Down, shape.layers[0].down)};
    std::printf(" | %s, %s\n", nameOf(forms[0]), nameOf(forms[1]));
    row += int(std::ranges::count(forms, ProductForm::Column) < 2);
    EXPECT_LE(double(ticks), 1.02 * double(least)) << c.model;
  }
  EXPECT_GT(row, 2);
  EXPECT_LT(row, int(std::size(kCases)));
}

// What partials cost: bytes over links; what they save: a crossing's latency.
TEST(ProductForms, FollowTheLinks) {
  Machine machine = *loadMachine("lpu-v1-node");
  StepShape shape =
      uniformShape(shapeOf(kCases[2]), WeightFormat::Q8, false, 320);
  const Matrix &down = shape.layers[0].down;
  auto form = [&](bool ring, Products products = Products::Chosen) {
    return TickModel(machine, shape, 8, ring, products)
        .form(Section::Down, down);
  };
  EXPECT_EQ(form(false), ProductForm::Column);
  EXPECT_EQ(form(false, Products::Row), ProductForm::Scatter);
  EXPECT_EQ(form(false, Products::Reduce), ProductForm::Reduce);
  machine.link.vectorTicks = 1;
  machine.link.latency = 2000;
  EXPECT_EQ(form(false), ProductForm::Reduce) << "latency is all";
  EXPECT_EQ(form(true, Products::Row), ProductForm::Scatter)
      << "a ring has no shorter way";
}

} // namespace
} // namespace orrery::partition
