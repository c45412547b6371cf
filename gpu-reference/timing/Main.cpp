// orrery-gpu-measure: times kernels and decode steps on the device that there
// is, and writes what it found. Started by gpu-reference/measure, which knows
// what the driver is called and checks bits first.
//
//   orrery-gpu-measure OUTPUT.json KEY=VALUE...
//   orrery-gpu-measure --device      prints the device's name
//
// Exit codes: 0 written (printed); 1 something failed; 2 usage; 77 no device,
// nothing is written.
#include "gpu-reference/MadeUpWeights.h"
#include "gpu-reference/timing/Measurement.h"
#include "models/Zoo.h"

#include <fstream>
#include <iostream>

namespace orrery::gpu {
namespace {

constexpr int kNoDevice = 77;

int fail(const Error &error) {
  std::cerr << "orrery-gpu-measure: " << error.message << "\n";
  return 1;
}

#ifdef ORRERY_GPU_DEVICE

/// Matrices of published models of 7B to 70B, and what stands in the goals.
std::vector<GemvCase> gemvCases() {
  std::vector<GemvCase> cases;
  for (auto weights :
       {StoredFormat::Q8_0, StoredFormat::Q4_0, StoredFormat::F16}) {
    for (auto [rows, k] : {std::pair<int64_t, int64_t>{4096, 4096},
                           {11008, 4096},
                           {4096, 11008},
                           {14336, 4096},
                           {8192, 8192},
                           {28672, 8192},
                           {32000, 4096}}) {
      cases.push_back({rows, k, weights, 1});
    }
  }
  for (int32_t batch : {2, 4, 8}) {
    cases.push_back({4096, 4096, StoredFormat::Q8_0, batch});
  }
  return cases;
}

Expected<std::vector<DecodeCase>> decodeCases() {
  std::vector<DecodeCase> cases;
  const auto add = [&](const char *name, StoredFormat weights,
                       models::KvFormat kv, int64_t context,
                       int64_t batch) -> Status {
    auto config = models::loadShape(name);
    if (!config) {
      return config.error();
    }
    cases.push_back({*config, weights, kv, context, batch});
    return Success();
  };
  using enum StoredFormat;
  using models::KvFormat;
  // Batches by GEMV (up to 8 rows) and by tensor cores, with short and with
  // long caches; the greatest take 26 GB (llama-3.1-8b, 32 x 8192).
  for (Status ok : {add("smollm2-135m", Q8_0, KvFormat::Q8, 128, 1),
                    add("llama-3.2-1b", Q8_0, KvFormat::Q8, 128, 1),
                    add("llama-2-7b", Q8_0, KvFormat::Q8, 128, 1),
                    add("llama-2-7b", Q8_0, KvFormat::Q8, 128, 4),
                    add("llama-2-7b", Q8_0, KvFormat::Q8, 128, 8),
                    add("llama-2-7b", Q8_0, KvFormat::Q8, 128, 32),
                    add("llama-2-7b", Q8_0, KvFormat::Q8, 4096, 1),
                    add("llama-2-7b", Q8_0, KvFormat::Q8, 4096, 8),
                    add("llama-2-7b", Q8_0, KvFormat::F16, 4096, 1),
                    add("llama-2-7b", Q4_0, KvFormat::Q8, 128, 1),
                    add("llama-2-7b", F16, KvFormat::F16, 128, 1),
                    add("llama-3.1-8b", Q8_0, KvFormat::Q8, 128, 1),
                    add("llama-3.1-8b", Q8_0, KvFormat::Q8, 8192, 1),
                    add("llama-3.1-8b", Q8_0, KvFormat::Q8, 8192, 4),
                    add("llama-3.1-8b", Q8_0, KvFormat::Q8, 8192, 8),
                    add("llama-3.1-8b", Q8_0, KvFormat::Q8, 8192, 32)}) {
    if (!ok) {
      return ok.error();
    }
  }
  return cases;
}

Expected<StepTimes> timeDecode(const DecodeCase &shape,
                               const TimingOptions &options) {
  ReferenceOptions open;
  open.weights = shape.weights;
  open.kv = shape.kv;
  open.context = shape.context;
  open.chunk = 1;
  open.batch = shape.batch;
  auto reference =
      Reference::open(MadeUpWeights(shape.config), open, Backend::Device);
  if (!reference) {
    return reference.error();
  }
  return (*reference)
      ->time(uint32_t(shape.context - 1), options.warmUp, options.repeats,
             shape.batch);
}

Status measure(Measurement &m) {
  const TimingOptions options{5, 50, int64_t(1) << 30};
  auto copy = device::timeCopy(int64_t(1) << 30, options);
  if (!copy) {
    return copy.error();
  }
  m.copy = *copy;
  for (const GemvCase &shape : gemvCases()) {
    auto times = device::timeGemv(shape, options);
    if (!times) {
      return times.error();
    }
    m.gemv.push_back({shape, *times});
  }
  auto cases = decodeCases();
  if (!cases) {
    return cases.error();
  }
  for (const DecodeCase &shape : *cases) {
    std::cerr << "timing " << shape.config.name << " "
              << formatName(shape.weights) << ", context " << shape.context
              << ", batch " << shape.batch << "\n";
    auto times = timeDecode(shape, options);
    if (!times) {
      return Error{shape.config.name + ": " + times.error().message};
    }
    m.decode.push_back({shape, *times});
  }
  return Success();
}

#else

Status measure(Measurement &) { return Error{"built without CUDA"}; }

#endif

int printDevice() {
  auto device = findDevice();
  (device ? std::cout : std::cerr)
      << (device ? device->name : device.error().message) << "\n";
  return device ? 0 : kNoDevice;
}

int run(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "--device") {
    return printDevice();
  }
  Measurement m;
  for (int i = 2; i < argc; ++i) {
    const std::string pair = argv[i];
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      std::cerr << "orrery-gpu-measure: expected KEY=VALUE, found " << pair
                << "\n";
      return 2;
    }
    m.about[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  if (argc < 2 || !m.about.contains("driver") || !m.about.contains("date")) {
    std::cerr << "usage: orrery-gpu-measure OUTPUT.json driver=VERSION "
                 "date=YYYY-MM-DD [KEY=VALUE...]\n";
    return 2;
  }
  auto device = findDevice();
  if (!device) {
    std::cerr << device.error().message << "\n";
    return kNoDevice;
  }
  m.device = *device;
  if (Status ok = measure(m); !ok) {
    return fail(ok.error());
  }
  std::ofstream file(argv[1]);
  file << toJson(m);
  file.close();
  if (!file) {
    return fail({std::string(argv[1]) + ": cannot write"});
  }
  std::cout << toText(m);
  return 0;
}

} // namespace
} // namespace orrery::gpu

int main(int argc, char **argv) { return orrery::gpu::run(argc, argv); }
