// Whether `orrery compare` compares bits of a model, and what it says where it
// does not.
#include "runtime/command/CompareBits.h"

#include "gpu-reference/emulation/Settings.h"
#include "models/Zoo.h"

#include <gtest/gtest.h>

namespace orrery::command {
namespace {

CompareArguments shippedModel() {
  CompareArguments a;
  a.model =
      std::string(ORRERY_SOURCE_DIR) + "/models/tiny/orrery-tiny-Q8_0.gguf";
  a.target.machine = "lpu-small";
  return a;
}

TEST(CompareBits, OfTheShippedModel) {
  BitsOutcome bits = compareBits(shippedModel());
  ASSERT_TRUE(bits.made) << bits.whyNot;
  EXPECT_TRUE(bits.made->equal);
  EXPECT_GT(bits.made->logits, 0u);
  EXPECT_EQ(bits.whyNot, "");
}

// A device makes the reference quick, not the interpreter and the simulation.
TEST(CompareBits, NotWhereTheHostTakesTooLongWhateverTheBackend) {
  BitsOutcome bits = compareBits(shippedModel(), 1000);
  EXPECT_FALSE(bits.made);
  EXPECT_FALSE(bits.failed);
  EXPECT_NE(bits.whyNot.find("take this host too long"), std::string::npos)
      << bits.whyNot;
}

TEST(CompareBits, LimitIsOfSmallModels) {
  for (auto [name, quick] : {std::pair("stories260k", true),
                             {"tinystories-656k", true},
                             {"llama-2-7b", false},
                             {"llama-3.1-70b", false}}) {
    auto config = models::loadShape(name);
    ASSERT_TRUE(config) << name;
    EXPECT_EQ(quickToRead(*config, 8), quick) << name;
  }
}

TEST(CompareBits, EverySkipSaysWhy) {
  CompareArguments a = shippedModel();
  a.model = "stories260k";
  EXPECT_EQ(compareBits(a).whyNot, "a shape has no weights");
  a.model = std::string(ORRERY_SOURCE_DIR) + "/models/zoo/llama-2-7b.json";
  EXPECT_NE(compareBits(a).whyNot, "");
  a = shippedModel();
  a.target.context = 4;
  BitsOutcome bits = compareBits(a);
  EXPECT_FALSE(bits.made);
  EXPECT_NE(bits.whyNot.find("4 positions"), std::string::npos) << bits.whyNot;
  a = shippedModel();
  a.target.machine = "nowhere.json";
  bits = compareBits(a);
  EXPECT_FALSE(bits.made || bits.failed);
  EXPECT_NE(bits.whyNot.find("nowhere.json"), std::string::npos) << bits.whyNot;
}

// A reference that cannot be opened costs the bits, not the report.
TEST(CompareBits, LackOfDeviceMemoryIsAReason) {
  if (gpu::findDevice()) {
    GTEST_SKIP() << "its memory cannot be made small";
  }
  gpu::emulated::Settings small;
  small.memoryBytes = 1000;
  const gpu::emulated::SettingsScope scope(small);
  BitsOutcome bits = compareBits(shippedModel());
  EXPECT_FALSE(bits.made || bits.failed);
  EXPECT_NE(bits.whyNot.find("GPU reference: "), std::string::npos);
  EXPECT_NE(bits.whyNot.find("out of device memory: "), std::string::npos)
      << bits.whyNot;
}

} // namespace
} // namespace orrery::command
