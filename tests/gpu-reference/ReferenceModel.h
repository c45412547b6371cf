// A model beside itself: the interpreter and the GPU reference over the same
// weights and options, read in the same chunks.
#pragma once

#include "gpu-reference/Reference.h"
#include "models/RandomWeights.h"
#include "tests/dialects/llm/Step.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace orrery::gpu {

inline llm::WeightFormat dialectFormat(StoredFormat format) {
  switch (format) {
  case StoredFormat::Q8_0:
    return llm::WeightFormat::Q8_0;
  case StoredFormat::Q4_0:
    return llm::WeightFormat::Q4_0;
  case StoredFormat::F16:
    break;
  }
  return llm::WeightFormat::F16;
}

inline llm::KvFormat dialectFormat(models::KvFormat format) {
  switch (format) {
  case models::KvFormat::Q8:
    return llm::KvFormat::Q8;
  case models::KvFormat::Q4:
    return llm::KvFormat::Q4;
  case models::KvFormat::F16:
    break;
  }
  return llm::KvFormat::F16;
}

inline compiler::ImportOptions importOptions(const ReferenceOptions &options) {
  compiler::ImportOptions import;
  import.tokens = options.chunk;
  import.context = options.context;
  import.layers = options.layers;
  import.weightFormat = dialectFormat(options.weights);
  for (const auto &[name, format] : options.tensorFormats) {
    import.tensorFormats[name] = dialectFormat(format);
  }
  import.kvFormat = dialectFormat(options.kv);
  return import;
}

/// Sizes that end inside blocks of 32 and inside warps.
inline models::ModelConfig oddConfig(std::mt19937 &random) {
  const auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  models::ModelConfig config;
  config.name = "random";
  config.architecture = "llama";
  config.layers = pick({1, 2});
  config.hidden = pick({32, 40, 100, 128});
  config.kvHeads = pick({1, 2, 3});
  config.heads = config.kvHeads * pick({1, 2, 4});
  config.headDim = pick({2, 8, 24, 32, 40, 80});
  config.intermediate = pick({31, 64, 100, 172});
  config.vocab = pick({33, 128, 257});
  config.contextLength = 160;
  config.normEps = 1e-5f;
  config.ropeDimension = config.headDim > 2 ? config.headDim - pick({0, 2}) : 2;
  config.ropePairing =
      pick({0, 1}) ? models::RopePairing::Half : models::RopePairing::Adjacent;
  config.tiedEmbeddings = pick({0, 1});
  return config;
}

inline std::string describe(const models::ModelConfig &c) {
  return "layers " + std::to_string(c.layers) + ", hidden " +
         std::to_string(c.hidden) + ", heads " + std::to_string(c.heads) + "/" +
         std::to_string(c.kvHeads) + " x " + std::to_string(c.headDim) +
         " (rope " + std::to_string(c.ropeDimension) + "), ffn " +
         std::to_string(c.intermediate) + ", vocab " + std::to_string(c.vocab) +
         (c.tiedEmbeddings ? ", tied" : "");
}

inline std::vector<int32_t> randomIds(std::mt19937 &random, int64_t vocab,
                                      size_t count) {
  std::vector<int32_t> ids(count);
  for (int32_t &id : ids) {
    id = int32_t(random() % uint32_t(vocab));
  }
  return ids;
}

/// Logits and choices of consecutive steps.
struct ReadOut {
  std::vector<uint32_t> bits;
  std::vector<int32_t> greedy;

  bool operator==(const ReadOut &) const = default;
};

/// The sizes of steps over `count` ids: `chunks` in turn, each as far as it
/// goes.
inline std::vector<size_t> stepSizes(size_t count,
                                     const std::vector<size_t> &chunks) {
  std::vector<size_t> sizes;
  for (size_t at = 0; at < count; at += sizes.back()) {
    sizes.push_back(std::min(chunks[sizes.size() % chunks.size()], count - at));
  }
  return sizes;
}

/// Reads `ids` from position 0 in steps of `sizes` by `run(ids, position)`,
/// which adds to the ReadOut, until it returns false.
template <class Run>
ReadOut readAll(std::span<const int32_t> ids, const std::vector<size_t> &sizes,
                Run run) {
  ReadOut out;
  size_t at = 0;
  for (size_t size : sizes) {
    if (!run(ids.subspan(at, size), uint32_t(at), out)) {
      break;
    }
    at += size;
  }
  return out;
}

inline void append(ReadOut &out, std::span<const float> logits,
                   const std::vector<int32_t> &greedy) {
  for (float x : logits) {
    out.bits.push_back(std::bit_cast<uint32_t>(x));
  }
  out.greedy.insert(out.greedy.end(), greedy.begin(), greedy.end());
}

/// The interpreter's side.
class Golden {
public:
  Golden(const models::WeightSource &weights, const ReferenceOptions &options)
      : imported(weights.config(), importOptions(options)),
        interpreter(weights) {}

  Expected<llm::StepOutput> run(std::span<const int32_t> ids,
                                uint32_t position) {
    return interpreter.run(imported.step(), ids, position);
  }

  ReadOut read(std::span<const int32_t> ids, const std::vector<size_t> &sizes) {
    interpreter.reset();
    return readAll(
        ids, sizes,
        [&](std::span<const int32_t> part, uint32_t position, ReadOut &out) {
          auto step = run(part, position);
          EXPECT_TRUE(step) << step.error().message;
          if (step) {
            append(out, step->logits.values, step->next);
          }
          return bool(step);
        });
  }

  llm::ImportedStep imported;
  llm::Interpreter interpreter;
};

inline ReadOut read(Reference &reference, std::span<const int32_t> ids,
                    const std::vector<size_t> &sizes) {
  reference.reset();
  return readAll(
      ids, sizes,
      [&](std::span<const int32_t> part, uint32_t position, ReadOut &out) {
        auto step = reference.run(part, position);
        EXPECT_TRUE(step) << step.error().message;
        if (step) {
          append(out, step->logits, step->greedy);
        }
        return bool(step);
      });
}

inline std::unique_ptr<Reference>
openReference(const models::WeightSource &weights,
              const ReferenceOptions &options,
              Backend backend = Backend::Emulated) {
  auto reference = Reference::open(weights, options, backend);
  EXPECT_TRUE(reference) << reference.error().message;
  return reference ? std::move(*reference) : nullptr;
}

} // namespace orrery::gpu
