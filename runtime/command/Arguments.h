// What the user asked for, one struct a command. Filled by CommandLine.cpp,
// which is the only file that knows CLI11.
#pragma once

#include "models/ModelConfig.h"
#include "models/Quantize.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace orrery::command {

/// Documented in README.md and in `orrery --help`.
enum ExitCode : int {
  kOk = 0,
  kBroken = 1, ///< an invariant failed, bits differ, a check found violations
  kUsage = 2,
  kBadInput = 3,   ///< a file or a value
  kDoesNotFit = 4, ///< the machine cannot hold or do it
};

/// How a model is divided over chips; 0: as the compiler chooses.
struct Partition {
  int64_t tensorParallel = 0; ///< chips of a stage
  int64_t stages = 0;
  std::string products; ///< empty: chosen
};

/// The machine, and how the model goes onto it.
struct Target {
  std::string machine = "lpu-v1";
  Partition partition;
  /// For tensors that the file keeps as floats; empty: q8_0.
  std::optional<models::WeightFormat> weights;
  models::KvFormat kv = models::KvFormat::Q8;
  int64_t context = 0; ///< 0: the model's
};

struct RunArguments {
  std::string model, prompt, counters, trace;
  Target target;
  int64_t count = 64;
  double temperature = 0;
  uint64_t seed = 0;
  bool validate = false, json = false;
};

/// Which GPU backend runs beside simulator and interpreter.
enum class GpuChoice {
  Auto, ///< a device; else the emulation, where that takes seconds
  Emulated,
  Device,
  None,
};

struct ValidateArguments {
  std::string model, prompt, ids, golden;
  Target target;
  GpuChoice gpu = GpuChoice::Auto;
  int64_t count = 16;
  /// That the GPU reference decodes at once, up to gpu::kMostSequences.
  int64_t sequences = 1;
  bool json = false;
};

struct CompileArguments {
  enum class Emit { Llm, Grid, Flow, Tick, Program };
  std::string model, shape, output;
  Emit emit = Emit::Program;
  Target target;
  int64_t tokens = 1, bucket = 0, layers = 0;
  bool json = false;
};

struct SimulateArguments {
  std::string program, model, prompt;
  int64_t position = 0;
  bool timingOnly = false, json = false;
};

struct CheckArguments {
  std::string program;
  bool json = false;
};

struct InspectArguments {
  std::string file;
  bool json = false;
};

struct PresetsArguments {
  bool json = false;
};

struct ZooArguments {
  bool json = false;
};

struct KvArguments {
  std::vector<std::string> models; ///< names or files; none: the zoo
  std::string machine = "lpu-v1";
  std::optional<models::KvFormat> kv; ///< empty: all formats
  int64_t context = 0;                ///< 0: each model's
  int64_t ranks = 1;                  ///< of a tensor-parallel group
  bool json = false;
};

struct TimeArguments {
  std::string model; ///< of the zoo, a config.json or a GGUF file
  Target target;
  int64_t prompt = 0; ///< tokens; 0: as many as usual
  bool simulate = true, fits = false, json = false;
};

struct CompareArguments {
  std::string model; ///< of the zoo, a config.json or a GGUF file
  Target target;
  std::vector<std::string> gpus; ///< names or files; none: all built in
  std::string measurements;      ///< a folder; empty: those built in
  int64_t batch = 1;             ///< users at once
  int64_t tensorParallel = 1;    ///< GPUs
  bool allowSlowGpu = false, json = false;
};

using Arguments =
    std::variant<RunArguments, ValidateArguments, CompileArguments,
                 SimulateArguments, CheckArguments, InspectArguments,
                 PresetsArguments, ZooArguments, KvArguments, TimeArguments,
                 CompareArguments>;

/// The command to run, or the exit code when there is none: help was printed,
/// or what is wrong with the line.
std::variant<Arguments, ExitCode> parseCommandLine(int argc, char **argv);

ExitCode execute(const RunArguments &arguments);
ExitCode execute(const ValidateArguments &arguments);
ExitCode execute(const CompileArguments &arguments);
ExitCode execute(const SimulateArguments &arguments);
ExitCode execute(const CheckArguments &arguments);
ExitCode execute(const InspectArguments &arguments);
ExitCode execute(const PresetsArguments &arguments);
ExitCode execute(const ZooArguments &arguments);
ExitCode execute(const KvArguments &arguments);
ExitCode execute(const TimeArguments &arguments);
ExitCode execute(const CompareArguments &arguments);

} // namespace orrery::command
