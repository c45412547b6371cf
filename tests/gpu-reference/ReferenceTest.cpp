// The GPU reference, emulated, against the interpreter: the same bits for
// models of odd shapes in every format, however steps are cut, in whatever
// order threads run.
#include "gpu-reference/Reference.h"

#include "gpu-reference/StepOps.h"
#include "gpu-reference/emulation/Settings.h"
#include "tests/gpu-reference/OneModel.h"
#include "tests/gpu-reference/ReferenceModel.h"

#include "mlir/IR/Location.h"

#include <array>

namespace orrery::gpu {
namespace {

using emulated::Order;
using emulated::Settings;
using emulated::SettingsScope;

Settings ordered(Order order, uint64_t seed = 1) {
  Settings settings;
  settings.order = order;
  settings.seed = seed;
  return settings;
}

struct Formats {
  StoredFormat weights;
  models::KvFormat kv;
};

void PrintTo(const Formats &f, std::ostream *out) {
  *out << "weights " << int(f.weights) << " kv " << int(f.kv);
}

class SameBits : public testing::TestWithParam<Formats> {};

TEST_P(SameBits, OddShapes) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed * 77 + uint32_t(GetParam().weights) * 10 +
                        uint32_t(GetParam().kv));
    const models::ModelConfig config = oddConfig(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(config));
    const models::RandomWeights weights(config, random());
    ReferenceOptions options;
    options.weights = GetParam().weights;
    options.kv = GetParam().kv;
    options.chunk = 17;
    options.pagePositions = 32;
    options.context = 128;
    const auto ids = randomIds(random, config.vocab, 50);
    // Chunks above and below the limit of GEMV, single tokens between.
    const auto sizes = stepSizes(ids.size(), {17, 1, 5, 16, 1, 1, 9});
    const ReadOut expected = Golden(weights, options).read(ids, sizes);
    ASSERT_EQ(expected.bits.size(), ids.size() * size_t(config.vocab));
    for (const Settings &settings :
         {ordered(seed % 2 ? Order::Forward : Order::Backward),
          ordered(Order::Shuffled, seed)}) {
      SettingsScope scope(settings);
      options.graph = settings.order != Order::Backward;
      auto reference = openReference(weights, options);
      ASSERT_TRUE(reference);
      EXPECT_TRUE(read(*reference, ids, sizes) == expected)
          << "order " << int(settings.order);
    }
  }
}

std::vector<Formats> allFormats() {
  std::vector<Formats> all;
  for (auto weights :
       {StoredFormat::Q8_0, StoredFormat::Q4_0, StoredFormat::F16}) {
    for (auto kv :
         {models::KvFormat::F16, models::KvFormat::Q8, models::KvFormat::Q4}) {
      all.push_back({weights, kv});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Formats, SameBits, testing::ValuesIn(allFormats()));

// Formats by tensor, as files that keep some tensors in others have them.
TEST(Reference, EachTensorInAFormatOfItsOwn) {
  constexpr std::array kFormats = {StoredFormat::Q8_0, StoredFormat::Q4_0,
                                   StoredFormat::F16};
  for (uint32_t seed = 50; seed < 54; ++seed) {
    std::mt19937 random(seed);
    const models::ModelConfig config = oddConfig(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(config));
    const models::RandomWeights weights(config, random());
    ReferenceOptions options;
    options.chunk = 12;
    for (const models::TensorShape &t : models::expectedTensors(config)) {
      if (!t.isVector) {
        options.tensorFormats[t.name] = kFormats[random() % kFormats.size()];
      }
    }
    const auto ids = randomIds(random, config.vocab, 30);
    const auto sizes = stepSizes(ids.size(), {12, 1, 3});
    auto reference = openReference(weights, options);
    ASSERT_TRUE(reference);
    EXPECT_TRUE(read(*reference, ids, sizes) ==
                Golden(weights, options).read(ids, sizes));
  }
}

TEST_F(OneModel, GoingBackForgetsWhatCameAfter) {
  const std::vector<int32_t> ids = {1, 2, 3, 4, 5, 6};
  const ReadOut expected = golden().read(ids, {4, 1, 1});
  EXPECT_TRUE(read(reference(), ids, {4, 1, 1}) == expected);
  ASSERT_TRUE(reference().run(std::vector<int32_t>{9, 8}, 2));
  EXPECT_FALSE(reference().run(std::vector<int32_t>{1}, 5));
  ReadOut again;
  auto step = reference().run(std::span(ids).subspan(2), 2);
  ASSERT_TRUE(step) << step.error().message;
  append(again, step->logits, step->greedy);
  EXPECT_TRUE(std::equal(again.bits.begin(), again.bits.end(),
                         expected.bits.begin() + 2 * config.vocab));
}

// A second text takes the pages that the first gave back, in another order.
TEST_F(OneModel, PagesOfAnEarlierText) {
  options.pagePositions = 32;
  std::mt19937 random(11);
  for (int text = 0; text < 3; ++text) {
    const auto ids = randomIds(random, config.vocab, 40);
    const auto sizes = stepSizes(ids.size(), {4, 4, 1});
    EXPECT_TRUE(read(reference(), ids, sizes) == golden().read(ids, sizes))
        << "text " << text;
  }
}

// Names, order, shapes and values of every op.
TEST_F(OneModel, ObserverSeesWhatTheInterpreters) {
  struct Seen {
    std::string op, kind;
    llm::Tensor value;
  };
  std::vector<Seen> theirs, ours;
  golden().interpreter.setObserver([&](mlir::Operation *op,
                                       const llm::Tensor &value) {
    theirs.push_back({mlir::cast<mlir::NameLoc>(op->getLoc()).getName().str(),
                      op->getName().getStringRef().str(), value});
  });
  reference().setObserver([&](const OpValue &value) {
    llm::Tensor tensor(value.rows, value.width);
    std::ranges::copy(value.values, tensor.values.begin());
    ours.push_back({std::string(value.op), "", tensor});
  });
  for (const auto &[ids, position] :
       {std::pair(std::vector<int32_t>{1, 2, 3}, 0u),
        std::pair(std::vector<int32_t>{4}, 3u)}) {
    theirs.clear();
    ours.clear();
    ASSERT_TRUE(golden().run(ids, position));
    ASSERT_TRUE(reference().run(ids, position));
    const StepOps ops(config.layers);
    ASSERT_EQ(theirs.size(), ops.count());
    ASSERT_EQ(ours.size(), ops.count());
    for (uint32_t i = 0; i < ops.count(); ++i) {
      EXPECT_EQ(ours[i].op, theirs[i].op);
      EXPECT_EQ(ops.name(i), theirs[i].op);
      EXPECT_EQ(ops.kind(i), theirs[i].kind);
      EXPECT_EQ(ours[i].value.rows, theirs[i].value.rows);
      EXPECT_EQ(ours[i].value.width, theirs[i].value.width);
      EXPECT_EQ(ours[i].value.values, theirs[i].value.values) << theirs[i].op;
    }
  }
}

TEST_F(OneModel, TimesSteps) {
  auto times = reference().time(20, 1, 5);
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_GT(times->medianUs, 0);
  EXPECT_LE(times->p10Us, times->medianUs);
  EXPECT_LE(times->medianUs, times->p90Us);
  EXPECT_GT(times->bytes, 0);
  EXPECT_FALSE(reference().time(40, 1, 1));
  // Timing forgets all positions, and leaves the reference in order.
  const std::vector<int32_t> ids = {1, 2};
  EXPECT_TRUE(read(reference(), ids, {1, 1}) == golden().read(ids, {1, 1}));
}

// Without a device, the message says why and nothing hangs.
TEST(Device, IsFoundOrItIsSaidWhyNot) {
  auto device = findDevice();
  if (device) {
    EXPECT_NE(device->name, "");
    EXPECT_GT(device->memoryBytes, 0);
    return;
  }
  EXPECT_TRUE(device.error().message.starts_with("no GPU: "))
      << device.error().message;
  std::mt19937 random(1);
  const models::RandomWeights weights(oddConfig(random), 1);
  auto opened = Reference::open(weights, {}, Backend::Device);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, device.error().message);
}

// The same cases as SameBits, on the device that there is.
TEST_P(SameBits, OnADevice) {
  if (auto device = findDevice(); !device) {
    GTEST_SKIP() << device.error().message;
  }
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed * 131 + uint32_t(GetParam().weights) * 10 +
                        uint32_t(GetParam().kv));
    const models::ModelConfig config = oddConfig(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(config));
    const models::RandomWeights weights(config, random());
    ReferenceOptions options;
    options.weights = GetParam().weights;
    options.kv = GetParam().kv;
    options.chunk = 33;
    const auto ids = randomIds(random, config.vocab, 150);
    const auto sizes = stepSizes(ids.size(), {33, 1, 1, 8, 9, 1});
    auto reference = openReference(weights, options, Backend::Device);
    ASSERT_TRUE(reference);
    EXPECT_TRUE(read(*reference, ids, sizes) ==
                Golden(weights, options).read(ids, sizes));
  }
}

} // namespace
} // namespace orrery::gpu
