// `orrery validate --gpu`: which backend runs, and what is said where none
// does.
#include "gpu-reference/Reference.h"
#include "tests/runtime/Command.h"

#include <nlohmann/json.hpp>

namespace orrery::command {
namespace {

constexpr const char *kValidate = "orrery validate $MODEL $SMALL --ids 1,300 ";

TEST(ReferenceChoice, ADeviceThatIsNotThere) {
  auto device = gpu::findDevice();
  if (device) {
    GTEST_SKIP() << "there is one: " << device->name;
  }
  CommandFolder folder;
  CommandResult result = folder.run(std::string(kValidate) + "--gpu device");
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("--gpu device: " + device.error().message),
            std::string::npos)
      << result.err;
}

TEST(ReferenceChoice, AutoTakesADeviceOrTheEmulationOfASmallModel) {
  auto device = gpu::findDevice();
  CommandFolder folder;
  CommandResult result = folder.run(std::string(kValidate) + "--json");
  ASSERT_EQ(result.code, 0) << result.err;
  auto gpu = nlohmann::json::parse(result.out)["gpu"];
  EXPECT_EQ(gpu["ran"], true);
  EXPECT_EQ(gpu["backend"], device ? device->name : "emulated on the host");
  EXPECT_EQ(gpu["different"], 0);
}

// Each check is chosen by its own positions.
TEST(ReferenceChoice, ManySequencesDoNotSwitchOffTheRun) {
  auto device = gpu::findDevice();
  if (device) {
    GTEST_SKIP() << "it takes any number: " << device->name;
  }
  CommandFolder folder;
  CommandResult result =
      folder.run(std::string(kValidate) + "--sequences 5000 --json");
  ASSERT_EQ(result.code, 0) << result.err;
  auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["gpu"]["ran"], true);
  EXPECT_EQ(json["gpu"]["different"], 0);
  EXPECT_EQ(json["batched_decode"]["ran"], false);
  EXPECT_NE(std::string(json["batched_decode"]["why"]).find("--gpu emulated"),
            std::string::npos);
}

TEST(ReferenceChoice, NoneIsNotCheckedAndStillFine) {
  CommandFolder folder;
  CommandResult result =
      folder.run(std::string(kValidate) + "--gpu none --json");
  ASSERT_EQ(result.code, 0) << result.err;
  auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["gpu"],
            nlohmann::json({{"ran", false}, {"why", "--gpu none"}}));
  size_t found = 0;
  for (const auto &invariant : json["receipt"]["invariants"]) {
    if (std::string(invariant["name"]).starts_with("GPU reference")) {
      ++found;
      EXPECT_EQ(invariant["verdict"], "not checked");
    }
  }
  EXPECT_EQ(found, 1u);
}

} // namespace
} // namespace orrery::command
