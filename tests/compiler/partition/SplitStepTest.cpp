// Splitting changes no bit: all ranks of all stages together give the logits of
// the step they were made from, for any shape and any split.
#include "compiler/partition/SplitStep.h"

#include "tests/compiler/partition/RankRun.h"

#include "compiler/Passes.h"
#include "compiler/import/ImportModel.h"
#include "dialects/llm/Interpreter.h"
#include "models/RandomWeights.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <random>

namespace orrery::partition {
namespace {

struct Shape {
  models::ModelConfig config;
  compiler::ImportOptions options;

  std::string text() const {
    std::string out;
    for (int64_t n : {config.layers, config.hidden, config.heads,
                      config.kvHeads, config.headDim, config.intermediate,
                      config.vocab, int64_t(options.weightFormat),
                      int64_t(options.kvFormat), options.tokens}) {
      out += std::to_string(n) + " ";
    }
    return out;
  }
};

// Odd sizes on purpose: heads that tp does not divide, head_dims that are no
// multiple of 32, hidden and ffn that end inside a block.
Shape randomShape(std::mt19937_64 &random) {
  auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  Shape s;
  models::ModelConfig &c = s.config;
  c.name = "random";
  c.architecture = "llama";
  c.layers = pick({1, 2, 3, 5});
  c.kvHeads = pick({1, 2, 3, 4, 8});
  c.heads = c.kvHeads * pick({1, 2, 3, 4});
  c.headDim = pick({8, 16, 24, 32, 64});
  c.hidden = pick({32, 40, 64, 96, 160});
  c.intermediate = pick({33, 64, 100, 192});
  c.vocab = pick({31, 64, 97, 256});
  c.contextLength = 64;
  c.normEps = 1e-5f;
  c.ropeDimension = pick({2, 4, 8});
  c.ropePairing =
      random() % 2 ? models::RopePairing::Half : models::RopePairing::Adjacent;
  c.tiedEmbeddings = random() % 2;
  s.options.tokens = pick({1, 2, 5});
  auto formats = {llm::WeightFormat::Q8_0, llm::WeightFormat::Q4_0,
                  llm::WeightFormat::F16};
  s.options.weightFormat = formats.begin()[random() % formats.size()];
  s.options.kvFormat = random() % 2 ? llm::KvFormat::Q8 : llm::KvFormat::F16;
  return s;
}

/// Sections and the head dealt to stages at random, every stage at least one,
/// sometimes with relays between them.
std::vector<StageSite> randomSites(std::mt19937_64 &random, int64_t sections,
                                   int64_t tp) {
  std::vector<StageSite> sites;
  for (int64_t section = 0; section < sections; ++section) {
    bool begins = section == 0 || random() % 2;
    size_t relays = begins && section > 0 && random() % 4 == 0 ? 2 : 0;
    for (size_t s = 0; s < relays + (begins ? 1 : 0); ++s) {
      StageSite site{section, {}};
      for (int64_t r = 0; r < tp; ++r) {
        site.chips.push_back(int32_t(int64_t(sites.size()) * tp + r));
      }
      sites.push_back(site);
    }
  }
  return sites;
}

/// Each product in a form of its own, by a hash of its name; sometimes all in
/// one form.
FormOf randomForms(std::mt19937_64 &random) {
  uint64_t salt = random();
  return [salt](llm::LinearOp op) {
    uint64_t bits = salt % 4 == 3
                        ? std::hash<std::string>()(op.getWeight().str() +
                                                   std::to_string(salt))
                        : salt;
    return ProductForm(bits % 3);
  };
}

TEST(SplitStep, ChangesNoBit) {
  int64_t scattered = 0, reduced = 0, relays = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 random(seed);
    Shape shape = randomShape(random);
    int64_t tp = 1 + int64_t(random() % 9);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + shape.text());
    mlir::MLIRContext context;
    context.loadDialect<grid::GridDialect>();
    auto module = compiler::importModel(context, shape.config, shape.options);
    ASSERT_TRUE(module);
    auto whole = module->lookupSymbol<mlir::func::FuncOp>("step");
    auto split = mlir::cast<mlir::func::FuncOp>(whole->clone());
    split.setName("split");
    module->push_back(split);

    auto layers = findSections(split);
    ASSERT_TRUE(mlir::succeeded(layers));
    ASSERT_EQ(int64_t(layers->size()), kSections * shape.config.layers + 1);
    auto sites = randomSites(random, int64_t(layers->size()), tp);
    ASSERT_TRUE(mlir::succeeded(
        splitStep(split, *layers, sites, {false, int32_t(1 + seed % 3)},
                  Bytes(1) << 40, randomForms(random))));
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
    split.walk([&](grid::ReduceScatterOp) { ++scattered; });
    split.walk([&](grid::StageOp stage) { relays += stage.isRelay(); });
    split.walk([&](grid::AllReduceOp) { ++reduced; });
    ASSERT_EQ(size_t(std::distance(split.getOps<grid::StageOp>().begin(),
                                   split.getOps<grid::StageOp>().end())),
              sites.size());

    models::RandomWeights weights(shape.config, seed);
    llm::Interpreter interpreter(weights);
    RankRun ranks(split, weights);
    for (int64_t at = 0; at < 3 * shape.options.tokens;
         at += shape.options.tokens) {
      std::vector<int32_t> ids;
      for (int64_t t = 0; t < shape.options.tokens; ++t) {
        ids.push_back(int32_t(random() % uint64_t(shape.config.vocab)));
      }
      auto expected = interpreter.run(whole, ids, uint32_t(at));
      ASSERT_TRUE(expected) << expected.error().message;
      auto found = ranks.run(ids, at);
      ASSERT_EQ(found.logits.values.size(), expected->logits.values.size());
      ASSERT_EQ(std::memcmp(found.logits.values.data(),
                            expected->logits.values.data(),
                            found.logits.values.size() * sizeof(float)),
                0)
          << "tp " << tp << ", " << sites.size() << " stages, position " << at;
      ASSERT_EQ(found.next, expected->next);
    }
  }
  EXPECT_GT(scattered, 100);
  EXPECT_GT(reduced, 100);
  EXPECT_GT(relays, 100);
}

// Programs for other T and other buckets share weights and caches.
TEST(SplitStep, DoesNotDependOnTokensOrBucket) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Shape shape = randomShape(random);
    shape.config.layers = 6;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + shape.text());
    using Site = std::tuple<int64_t, std::vector<int32_t>, bool>;
    std::vector<std::vector<Site>> splits;
    for (int64_t tokens : {1, 5, 32}) {
      mlir::MLIRContext context;
      context.loadDialect<grid::GridDialect>();
      shape.options.tokens = tokens;
      shape.options.context = 512;
      shape.options.bucket = tokens == 1 ? 512 : 64;
      auto module = compiler::importModel(context, shape.config, shape.options);
      ASSERT_TRUE(module);
      PlaceStagesOptions options;
      options.machine = "lpu-small-node";
      options.pp = 1 + int64_t(seed % 4);
      mlir::PassManager passes(&context);
      passes.addNestedPass<mlir::func::FuncOp>(createPlaceStages(options));
      ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
      auto &sites = splits.emplace_back();
      module->walk([&](grid::StageOp stage) {
        sites.push_back({int64_t(stage.getFirstLayer()), stage.getChips().vec(),
                         bool(stage.getRing())});
      });
    }
    EXPECT_EQ(splits[0].size(), 1 + seed % 4);
    EXPECT_EQ(splits[0], splits[1]);
    EXPECT_EQ(splits[0], splits[2]);
  }
}

/// The first error of splitting a step over two ranks.
std::string refusal(const char *body) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::func::FuncDialect, llm::LlmDialect,
                      grid::GridDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      std::string("func.func @step(%ids: tensor<1xi32>) -> tensor<1x64xf32> "
                  "attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64, "
                  "llm.context = 64 : i64, llm.model = \"m\"} {\n"
                  "%x = llm.embed %ids table(\"e\") format(q8_0) vocab(9) : "
                  "tensor<1xi32> -> tensor<1x64xf32>\n"
                  "%n = llm.rms_norm %x weight(\"n\") eps(1.0e-05) : "
                  "tensor<1x64xf32>\n") +
          body + "return %r : tensor<1x64xf32>\n}",
      &context);
  EXPECT_TRUE(module);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        message = message.empty() ? diagnostic.str() : message;
        return mlir::success();
      });
  auto step = *module->getOps<mlir::func::FuncOp>().begin();
  auto layers = findSections(step);
  EXPECT_TRUE(mlir::failed(
      splitStep(step, *layers, StageSite{0, {0, 1}}, {}, 1 << 20)));
  return message;
}

TEST(SplitStep, RefusesHeadsThatAreNoShards) {
  EXPECT_EQ(refusal("%q = llm.linear %n weight(\"q\") format(q8_0) : "
                    "tensor<1x64xf32> -> tensor<1x64xf32>\n"
                    "%r = llm.attention %q, %n, %q layer(0) heads(2) "
                    "kv_heads(2) head_dim(32) kv_format(q8) context(64) : "
                    "tensor<1x64xf32>, tensor<1x64xf32>\n"),
            "'llm.attention' op cannot be shared by tensor-parallel ranks: q, "
            "k and v are not its own heads, from an llm.linear");
  EXPECT_EQ(refusal("%r = llm.rope %n heads(2) head_dim(32) rope_dim(32) "
                    "theta(1.0e+04) pairing(half) : tensor<1x64xf32>\n"),
            "'llm.rope' op cannot be shared by tensor-parallel ranks: its rows "
            "are not the heads of one llm.attention, straight from an "
            "llm.linear");
}

} // namespace
} // namespace orrery::partition
