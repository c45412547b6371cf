#include "tests/conformance/RandomCase.h"

#include "machine/MachineFields.h"

#include <algorithm>

namespace orrery::test {

namespace {

void drawTiming(Machine &m, Random &random) {
  for (const NumberField &field : numberFields()) {
    if (field.object != "timing" || field.key == "fetch_ticks") {
      continue;
    }
    bool host = field.key.starts_with("host");
    field.set(m, double(random.between(1, host ? 200 : 40)));
  }
}

/// Every machine that comes out passes checkRelations.
Machine drawMachine(Random &random) {
  Machine m = *loadMachine("lpu-small");
  m.name = "random";
  m.lanes = int32_t(32 * random.between(1, 10));
  m.streamsPerDirection = random.of<int32_t>({16, 20, 24, 32, 40, 64});
  std::vector<int32_t> widths;
  for (int32_t width : {4, 8, 12, 16}) {
    if (m.lanes % width == 0) {
      widths.push_back(width);
    }
  }
  m.matrix.installStreams = random.of(widths);
  auto groups = int32_t(random.between(1, 3));
  m.sram.slicesPerHemisphere =
      12 + groups * m.matrix.installStreams + int32_t(random.between(0, 11));
  m.sram.vectorsPerBank = random.of<int32_t>({512, 1024, 2048, 4096, 8192});
  m.matrix.planesPerHemisphere = int32_t(random.between(1, 4));
  m.matrix.activationVectors = random.of<int32_t>({64, 256, 1024, 4096});
  m.matrix.f16TicksPerRow = int32_t(random.between(1, 3));
  m.alusPerLane = random.of<int32_t>({1, 3, 16});
  m.instructionBytes = random.of<int32_t>({8, 16, 32});
  drawTiming(m, random);
  return m;
}

models::ModelConfig drawModel(Random &random, int32_t lanes) {
  models::ModelConfig c;
  c.name = "random";
  c.architecture = "llama";
  c.layers = random.between(1, 3);
  c.kvHeads = random.between(1, 8);
  c.heads = c.kvHeads * random.of<int64_t>({1, 1, 2, 3, 4, 8});
  std::vector<int64_t> dims;
  for (int64_t dim : {8, 16, 24, 32, 40, 48, 64, 80, 96, 100, 112, 128, 192}) {
    if ((dim + 31) / 32 * 32 <= lanes) {
      dims.push_back(dim);
    }
  }
  c.headDim = random.of(dims);
  c.hidden = random.chance(50)
                 ? random.of<int64_t>({32, 64, 128, 160, 288, 320})
                 : random.between(1, 400);
  c.intermediate = random.of<int64_t>({31, 172, 172, 192, 341, 500});
  c.vocab = random.of<int64_t>({1, 31, 256, 503, 503, 1031});
  c.ropePairing = random.chance(50) ? models::RopePairing::Adjacent
                                    : models::RopePairing::Half;
  c.ropeDimension =
      random.chance(60) ? c.headDim : 2 * random.between(1, c.headDim / 2);
  c.ropeTheta = random.of<double>({10000.0, 500000.0});
  c.normEps = random.of<float>({1e-5f, 1e-6f});
  c.tiedEmbeddings = random.chance(50);
  return c;
}

void drawFormats(RandomCase &out, Random &random) {
  using llm::WeightFormat;
  std::vector<WeightFormat> all = {WeightFormat::Q8_0, WeightFormat::Q8_0,
                                   WeightFormat::Q4_0, WeightFormat::F16};
  out.options.weights = random.of(all);
  out.options.kv = random.chance(60) ? llm::KvFormat::Q8 : llm::KvFormat::F16;
  if (random.chance(60)) {
    return;
  }
  for (const auto &shape : models::expectedTensors(out.model)) {
    if (!shape.isVector && random.chance(30)) {
      out.options.tensorFormats[shape.name] = random.of(all);
    }
  }
}

/// Up to `most` positions; prompts, then single tokens.
void drawReads(RandomCase &out, Random &random, int64_t most) {
  while (most > 0) {
    int64_t now =
        std::min(most, random.chance(60) ? random.between(2, 40) : int64_t(1));
    std::vector<int32_t> ids;
    for (int64_t k = 0; k < now; ++k) {
      ids.push_back(int32_t(random.between(0, out.model.vocab - 1)));
    }
    out.reads.push_back(std::move(ids));
    most -= now;
  }
}

} // namespace

// Buffers that hold little more than a fetch brings, half of the time; else
// what those of lpu-v1 do.
void drawFetch(Machine &m, Random &random) {
  m.fetchVectors = random.of<int32_t>({1, 2, 2, 4});
  m.timing.fetch = random.between(1, 40);
  auto chunk = int32_t(m.fetchBytes());
  m.queueBytes = random.chance(50)
                     ? chunk * int32_t(random.between(2, 4)) +
                           m.instructionBytes * int32_t(random.between(0, 3))
                     : std::max(2560, 4 * chunk);
}

std::string RandomCase::text() const {
  const models::ModelConfig &c = model;
  auto n = [](int64_t value) { return std::to_string(value); };
  std::string text =
      "seed " + n(int64_t(seed)) + ": layers " + n(c.layers) + " hidden " +
      n(c.hidden) + " heads " + n(c.heads) + "/" + n(c.kvHeads) + " x " +
      n(c.headDim) + " ffn " + n(c.intermediate) + " vocab " + n(c.vocab) +
      " rope " + n(c.ropeDimension) +
      (c.ropePairing == models::RopePairing::Half ? " half" : " adjacent") +
      (c.tiedEmbeddings ? " tied" : "") + " context " + n(options.context) +
      " T " + n(options.chunk) + " weights " +
      stringifyWeightFormat(options.weights).str() + " (+" +
      n(int64_t(options.tensorFormats.size())) + ") kv " +
      stringifyKvFormat(options.kv).str();
  text += "; lanes " + n(machine.lanes) + " streams " +
          n(machine.streamsPerDirection) + " slices " +
          n(machine.sram.slicesPerHemisphere) + " x " +
          n(machine.sram.vectorsPerBank) + " planes " +
          n(machine.matrix.planesPerHemisphere) + " install " +
          n(machine.matrix.installStreams) + " act " +
          n(machine.matrix.activationVectors) + " alus " +
          n(machine.alusPerLane) + " queue " + n(machine.queueBytes) +
          " fetch " + n(machine.fetchVectors);
  int64_t tokens = 0;
  for (const auto &read : reads) {
    tokens += int64_t(read.size());
  }
  return text + "; reads " + n(int64_t(reads.size())) + " tokens " + n(tokens);
}

RandomCase drawCase(uint64_t seed) {
  Random random(seed * 7919 + 17);
  RandomCase out;
  out.seed = seed;
  out.machine = drawMachine(random);
  int64_t lanes = out.machine.lanes;
  out.model = drawModel(random, int32_t(lanes));
  // Past one or two bucket borders where the lanes are few.
  int64_t tokens =
      lanes <= 96 ? random.between(8, 2 * lanes + 40) : random.between(4, 60);
  if (random.chance(10)) {
    tokens = std::max(tokens, lanes + random.between(1, 4));
  }
  out.options.context = tokens + random.of<int64_t>({0, 0, 1, 31, 33, 200});
  out.options.chunk = random.between(1, 24);
  out.model.contextLength = out.options.context;
  drawFormats(out, random);
  drawReads(out, random, tokens);
  drawFetch(out.machine, random);
  return out;
}

} // namespace orrery::test
