// Programs of small shapes, compiled as `orrery time` compiles them.
#pragma once

#include "models/Zoo.h"
#include "runtime/StepSet.h"

#include <gtest/gtest.h>

namespace orrery::runtime {

inline std::unique_ptr<StepSet> setOf(const std::string &shape,
                                      const std::string &machine,
                                      SplitOptions split = {},
                                      int64_t context = 0) {
  auto config = models::loadShape(shape);
  EXPECT_TRUE(config) << config.error().message;
  StepSetOptions options;
  options.machine = machine;
  options.split = split;
  options.context = context;
  auto set = StepSet::open(std::move(*config), options);
  EXPECT_TRUE(set) << set.error().message;
  return std::move(*set);
}

inline const CompiledStep &stepOf(StepSet &set, int64_t tokens,
                                  int64_t positions) {
  auto step = set.step(tokens, set.bucketFor(positions));
  EXPECT_TRUE(step) << step.error().message;
  return **step;
}

} // namespace orrery::runtime
