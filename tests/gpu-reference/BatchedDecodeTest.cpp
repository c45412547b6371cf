// Batched decode of the GPU reference, emulated: several sequences over one
// page allocator, each with the bits of the interpreter run on it alone. What
// it refuses: BatchedSequencesTest.cpp.
#include "gpu-reference/emulation/Settings.h"
#include "tests/gpu-reference/BatchedTexts.h"
#include "tests/gpu-reference/OneModel.h"
#include "tests/gpu-reference/Orders.h"

#include <array>

namespace orrery::gpu {
namespace {

using models::KvPages;

struct Formats {
  StoredFormat weights;
  models::KvFormat kv;
};

void PrintTo(const Formats &f, std::ostream *out) {
  *out << "weights " << int(f.weights) << " kv " << int(f.kv);
}

class BatchedBits : public testing::TestWithParam<Formats> {
protected:
  void run(uint32_t seed, Backend backend) {
    std::mt19937 random(seed * 31 + uint32_t(GetParam().kv));
    const models::ModelConfig config = oddConfig(random);
    // GEMV's rows, the most it has, and what GEMM takes.
    const size_t batch = std::array<size_t, 4>{3, 8, 9, 12}[seed % 4];
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(config) +
                 ", batch " + std::to_string(batch));
    const models::RandomWeights weights(config, random());
    ReferenceOptions options;
    options.weights = GetParam().weights;
    options.kv = GetParam().kv;
    options.chunk = 11;
    options.context = 100;
    options.batch = int64_t(batch);
    options.graph = seed % 3 != 0;
    // Fewer pages than all sequences could take, and given by their owner.
    options.pages = std::make_shared<KvPages>(*KvPages::create(
        models::kvLayout(config, options.kv, 32), int64_t(2 * batch + 1)));
    Texts all(weights, options, random);
    std::vector<Text> texts;
    // One goes past the first bucket of attention while others are far below.
    texts.push_back(all.make(62, 8));
    for (size_t i = 1; i < batch + 3; ++i) {
      const size_t prompt = 1 + random() % 45;
      texts.push_back(all.make(prompt, 1 + random() % 8));
    }
    auto reference = openReference(weights, options, backend);
    ASSERT_TRUE(reference);
    EXPECT_EQ(&reference->pages(), options.pages.get());
    readTogether(all, *reference, texts, batch, random);
    EXPECT_EQ(options.pages->openSequences(), 0);
    EXPECT_EQ(options.pages->usedPages(), 0);
    EXPECT_GT(options.pages->mostUsedPages(), int64_t(batch) / 2);
  }
};

TEST_P(BatchedBits, EachSequenceAsTheInterpreterAlone) {
  uint32_t seed = 0;
  emulated::inSeveralOrders([&] { run(++seed, Backend::Emulated); });
}

TEST_P(BatchedBits, OnADevice) {
  if (auto device = findDevice(); !device) {
    GTEST_SKIP() << device.error().message;
  }
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    run(seed, Backend::Device);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, BatchedBits,
    testing::Values(Formats{StoredFormat::Q8_0, models::KvFormat::Q8},
                    Formats{StoredFormat::Q8_0, models::KvFormat::F16},
                    Formats{StoredFormat::Q8_0, models::KvFormat::Q4},
                    Formats{StoredFormat::Q4_0, models::KvFormat::Q8},
                    Formats{StoredFormat::F16, models::KvFormat::F16}));

// The bucket is that of the sequence that is furthest, whichever row it is.
TEST_F(OneModel, OneOfABatchPastTheFirstBucket) {
  options.context = 80;
  options.chunk = 32;
  options.batch = 3;
  std::mt19937 random(11);
  Texts all(weights, options, random);
  std::vector<Text> texts;
  for (size_t prompt : {3, 66, 40}) {
    texts.push_back(all.make(prompt, 4));
    texts.back().sequence = reference().pages().open();
    while (texts.back().read < prompt) {
      ASSERT_NO_FATAL_FAILURE(all.readChunk(reference(), texts.back()));
    }
  }
  for (const std::vector<size_t> &rows :
       {std::vector<size_t>{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}}) {
    std::vector<Text *> running;
    for (size_t row : rows) {
      running.push_back(&texts[row]);
    }
    ASSERT_NO_FATAL_FAILURE(all.decodeInOrder(reference(), running));
  }
}

} // namespace
} // namespace orrery::gpu
