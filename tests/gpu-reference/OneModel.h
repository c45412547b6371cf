// A fixture: one small model of odd sizes, in the interpreter and in the
// emulated reference, each made at its first use.
#pragma once

#include "tests/gpu-reference/ReferenceModel.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace orrery::gpu {

class OneModel : public testing::Test {
protected:
  OneModel() { options.chunk = 4; }

  static models::ModelConfig configOf() {
    std::mt19937 random(3);
    models::ModelConfig config = oddConfig(random);
    config.layers = 2;
    config.contextLength = 40;
    return config;
  }

  /// Both messages of running `ids` at `position`; "" for success.
  std::pair<std::string, std::string> errors(std::vector<int32_t> ids,
                                             uint32_t position) {
    auto theirs = golden().run(ids, position);
    auto ours = reference().run(ids, position);
    return {theirs ? "" : theirs.error().message,
            ours ? "" : ours.error().message};
  }

  void expectSameError(std::vector<int32_t> ids, uint32_t position) {
    const auto [theirs, ours] = errors(ids, position);
    EXPECT_EQ(theirs, ours);
    EXPECT_NE(theirs, "");
  }

  Golden &golden() {
    if (!golden_) {
      golden_ = std::make_unique<Golden>(weights, options);
    }
    return *golden_;
  }
  Reference &reference() {
    if (!reference_) {
      reference_ = openReference(weights, options);
    }
    return *reference_;
  }

  ReferenceOptions options;
  models::ModelConfig config = configOf();
  models::RandomWeights weights{config, 5};

private:
  std::unique_ptr<Golden> golden_;
  std::unique_ptr<Reference> reference_;
};

} // namespace orrery::gpu
