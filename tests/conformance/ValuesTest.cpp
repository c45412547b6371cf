// Values that go wrong quietly elsewhere: ties, padding, what a run depends on.
#include "models/RandomWeights.h"
#include "tests/conformance/CaseRun.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace orrery::test {
namespace {

/// A random model of a vocabulary that fills no vector.
models::ModelConfig valuesModel(int64_t vocab) {
  models::ModelConfig c;
  c.name = "values";
  c.architecture = "llama";
  c.layers = 1;
  c.hidden = 64;
  c.heads = c.kvHeads = 2;
  c.headDim = c.ropeDimension = 32;
  c.intermediate = 64;
  c.vocab = vocab;
  c.contextLength = 64;
  c.normEps = 1e-5f;
  return c;
}

/// Random weights whose output matrix is edited.
class EditedHead : public models::WeightSource {
public:
  using Edit = std::function<void(models::QuantizedMatrix &)>;
  EditedHead(const models::ModelConfig &config, Edit edit)
      : random(config, 5), edit(std::move(edit)) {}

  const models::ModelConfig &config() const override { return random.config(); }
  Expected<models::QuantizedMatrix>
  matrix(std::string_view name, models::WeightFormat format) const override {
    auto out = random.matrix(name, format);
    if (out && name == "output.weight") {
      edit(*out);
    }
    return out;
  }
  Expected<std::vector<float>> vector(std::string_view name) const override {
    return random.vector(name);
  }

private:
  models::RandomWeights random;
  Edit edit;
};

void copyRow(models::QuantizedMatrix &m, int64_t from, int64_t to) {
  auto blocks = size_t(m.blocksPerRow);
  std::copy_n(m.scales.begin() + from * int64_t(blocks), blocks,
              m.scales.begin() + to * int64_t(blocks));
  std::copy_n(m.codes.begin() + from * int64_t(32 * blocks), 32 * blocks,
              m.codes.begin() + to * int64_t(32 * blocks));
}

std::vector<runtime::StepRecord> readOn(const models::WeightSource &weights,
                                        const std::vector<int32_t> &ids) {
  runtime::SessionOptions options;
  options.machine = "lpu-small";
  options.chunk = 6;
  auto session = runtime::Session::open(weights, options);
  EXPECT_TRUE(session) << session.error().message;
  auto records = (*session)->read(ids);
  EXPECT_TRUE(records) << records.error().message;
  return std::move(*records);
}

TEST(ValuesTest, LowestIndexWinsTies) {
  // All rows one row: every logit of a token is the same number.
  EditedHead equal(valuesModel(503), [](models::QuantizedMatrix &m) {
    for (int64_t row = 1; row < m.rows; ++row) {
      copyRow(m, 0, row);
    }
  });
  for (const auto &record : readOn(equal, {1, 2, 3, 4, 5, 6, 7, 8})) {
    for (size_t t = 0; t < record.logits.size(); ++t) {
      EXPECT_EQ(record.logits[t][0], record.logits[t][502]);
      EXPECT_EQ(record.greedy[t], 0);
    }
  }
}

TEST(ValuesTest, LowestOfTwoEqualMaximaWins) {
  // The greatest row stands twice, in different vectors and lanes.
  auto plain = readOn(models::RandomWeights(valuesModel(503), 5), {9});
  int32_t best = plain[0].greedy[0];
  int64_t twin = best < 250 ? best + 250 : best - 250;
  EditedHead twins(valuesModel(503),
                   [&](models::QuantizedMatrix &m) { copyRow(m, best, twin); });
  auto records = readOn(twins, {9});
  EXPECT_EQ(records[0].logits[0][size_t(best)],
            records[0].logits[0][size_t(twin)]);
  EXPECT_EQ(records[0].greedy[0], std::min<int64_t>(best, twin));
}

TEST(ValuesTest, ZerosOfBothSignsTie) {
  EditedHead zeros(valuesModel(71), [](models::QuantizedMatrix &m) {
    for (size_t i = 0; i < m.scales.size(); ++i) {
      m.scales[i] = i % 2 ? 0x8000 : 0;
    }
  });
  for (const auto &record : readOn(zeros, {1, 2, 3})) {
    for (size_t t = 0; t < record.logits.size(); ++t) {
      EXPECT_EQ(record.logits[t][70], 0.0f);
      EXPECT_EQ(record.greedy[t], 0);
    }
  }
}

TEST(ValuesTest, PaddingNeverWins) {
  // A token's logits are all the same; where they are negative, the zeros of
  // the padding are greater than each of them.
  for (int64_t vocab : {1, 63, 65, 127, 129}) {
    EditedHead equal(valuesModel(vocab), [](models::QuantizedMatrix &m) {
      for (int64_t row = 1; row < m.rows; ++row) {
        copyRow(m, 0, row);
      }
    });
    std::vector<int32_t> ids;
    for (int32_t id = 0; id < 24; ++id) {
      ids.push_back(int32_t(id % vocab));
    }
    int negative = 0;
    for (const auto &record : readOn(equal, ids)) {
      for (size_t t = 0; t < record.logits.size(); ++t) {
        negative += record.logits[t][0] < 0;
        EXPECT_EQ(record.logits[t].size(), size_t(vocab));
        EXPECT_EQ(record.greedy[t], 0);
      }
    }
    EXPECT_TRUE(negative > 0 || vocab == 1) << vocab;
  }
}

/// Everything a run gives.
struct Transcript {
  std::vector<std::vector<uint8_t>> programs;
  std::vector<std::string> counters;
  std::vector<std::vector<float>> logits;
  bool operator==(const Transcript &) const = default;
};

/// The transcript of the case's reads; its session stays in `kept`, for its
/// programs only. Empty when the case is refused.
Transcript transcribe(const RandomCase &drawn, runtime::SessionOptions options,
                      std::unique_ptr<runtime::Session> &kept) {
  models::RandomWeights weights(drawn.model, drawn.seed);
  Transcript out;
  options.machine = writeMachine(drawn.machine);
  auto session = runtime::Session::open(weights, options);
  for (size_t k = 0; session && k < drawn.reads.size(); ++k) {
    auto records = (*session)->read(drawn.reads[k]);
    EXPECT_TRUE(records) << records.error().message;
    for (const auto &record : *records) {
      for (const sim::ChipStep &chip : record.result.simulated) {
        out.counters.push_back(formatCounters(chip.result.counters));
      }
      out.logits.insert(out.logits.end(), record.logits.begin(),
                        record.logits.end());
    }
  }
  std::remove(options.machine.c_str());
  if (session) {
    for (const SystemProgram *program : (*session)->programs()) {
      for (const Program &part : program->parts) {
        out.programs.push_back(*serializeProgram(part));
      }
    }
    kept = std::move(*session);
  }
  return out;
}

TEST(ValuesTest, RunsRepeat) {
  RandomCase drawn = drawCase(8);
  std::unique_ptr<runtime::Session> session;
  Transcript first = transcribe(drawn, drawn.options, session);
  Transcript second = transcribe(drawn, drawn.options, session);
  ASSERT_FALSE(first.logits.empty());
  EXPECT_EQ(first.programs, second.programs);
  EXPECT_EQ(first.counters, second.counters);
  EXPECT_EQ(first.logits, second.logits);
}

/// NaN bytes wherever no region of the part of `programs` lasts in the image.
void poisonTheRest(const std::vector<const SystemProgram *> &programs,
                   uint32_t part, const Machine &machine, SramImage &image) {
  SramImage keep(machine);
  auto lanes = size_t(machine.lanes);
  for (const SystemProgram *program : programs) {
    for (const SramRegion &r : program->parts[part].regions) {
      if (r.kind == RegionKind::Temporary) {
        continue;
      }
      for (int32_t s = r.slice; s < r.slice + r.width; ++s) {
        std::memset(keep.vector(s, r.bank, r.base), 1, r.length * lanes);
      }
    }
  }
  for (int32_t s = 0; s < machine.geometry().slices(); ++s) {
    for (int32_t bank = 0; bank < machine.sram.banks; ++bank) {
      for (int64_t a = 0; a < machine.sram.vectorsPerBank; ++a) {
        if (*keep.vector(s, bank, a) == 0) {
          std::memset(image.vector(s, bank, a), 0xff, lanes);
        }
      }
    }
  }
}

// NaN in every byte that is no weight, table, KV cache or program text; the
// simulator itself poisons temporaries before each step.
TEST(ValuesTest, NothingDependsOnWhatSramHeldBefore) {
  int ran = 0;
  for (uint64_t seed = 1; ran < 6; ++seed) {
    RandomCase drawn = drawCase(seed);
    drawn.reads.resize(1);
    std::unique_ptr<runtime::Session> clean, poisoned;
    Transcript expected = transcribe(drawn, drawn.options, clean);
    if (!clean) {
      continue; // refused
    }
    runtime::SessionOptions options = drawn.options;
    options.afterFill = [&](const ChipProgram &chip, const ImagePlan &,
                            SramImage &image) {
      poisonTheRest(clean->programs(), chip.part, drawn.machine, image);
    };
    Transcript found = transcribe(drawn, options, poisoned);
    for (const auto &row : found.logits) {
      EXPECT_TRUE(std::ranges::all_of(
          row, [](float value) { return std::isfinite(value); }));
    }
    EXPECT_TRUE(expected == found) << drawn.text();
    ++ran;
  }
}

} // namespace
} // namespace orrery::test
