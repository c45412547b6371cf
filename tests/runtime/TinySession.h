// The shipped model on the small chip, for tests that run steps.
#pragma once

#include "models/Weights.h"
#include "runtime/Session.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::runtime {

inline std::string tinyModelPath() {
  return std::string(ORRERY_SOURCE_DIR) + "/models/tiny/orrery-tiny-Q8_0.gguf";
}

inline const models::WeightFile &tinyModel() {
  static const auto file = models::WeightFile::open(tinyModelPath());
  EXPECT_TRUE(file) << file.error().message;
  return *file;
}

inline SessionOptions tinyOptions() {
  SessionOptions options;
  options.machine = "lpu-small";
  options.tensorFormats = compiler::storedFormats(tinyModel().gguf());
  return options;
}

inline std::unique_ptr<Session> openTiny(const SessionOptions &options) {
  auto session = Session::open(tinyModel(), options);
  EXPECT_TRUE(session) << session.error().message;
  return session ? std::move(*session) : nullptr;
}

} // namespace orrery::runtime
