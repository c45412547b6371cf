// The flags of every command.
#include "gpu-reference/Reference.h"
#include "runtime/command/Arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>

namespace orrery::command {
namespace {

constexpr const char *kFooter =
    "Exit codes: 0 success; 1 an invariant failed, bits differ, or a check\n"
    "found violations; 2 usage; 3 a file or value is no good; 4 the machine\n"
    "cannot hold or do it.";

void addJson(CLI::App &app, bool &json) {
  app.add_flag("--json", json, "Print one JSON document instead of text");
}

void addMachine(CLI::App &app, std::string &machine) {
  app.add_option("--machine", machine, "Preset (`orrery presets`) or JSON file")
      ->capture_default_str();
}

/// Sums of a few such numbers do not overflow, and no machine has more.
constexpr int64_t kGreatest = 1'000'000'000;

/// Checks a whole number in words that fit one line.
CLI::Validator atLeast(int64_t low, int64_t most = kGreatest) {
  return CLI::Validator(
      [low, most](std::string &text) -> std::string {
        int64_t value = 0;
        const char *end = text.data() + text.size();
        auto [stop, error] = std::from_chars(text.data(), end, value);
        bool tooLong = error == std::errc::result_out_of_range;
        if (stop != end || (error != std::errc() && !tooLong) ||
            text.starts_with('-') || value < low) {
          return "expected a whole number of " + std::to_string(low) +
                 " or more, found " + text;
        }
        return tooLong || value > most
                   ? "expected at most " + std::to_string(most) + ", found " +
                         text
                   : "";
      },
      "");
}

/// One of the names; the option gets the value that belongs to it.
template <class T> using Names = std::vector<std::pair<std::string, T>>;
template <class T>
CLI::Option *addChoice(CLI::App &app, const std::string &flag,
                       const Names<T> &names, std::function<void(T)> choose,
                       const std::string &summary) {
  CLI::callback_t read = [flag, names, choose](const CLI::results_t &results) {
    std::string expected;
    for (const auto &[name, value] : names) {
      if (results.front() == name) {
        choose(value);
        return true;
      }
      expected += (expected.empty() ? "" : " or ") + name;
    }
    throw CLI::ValidationError(flag + ": expected " + expected + ", found " +
                               results.front());
  };
  return app.add_option(flag, read, summary)->type_name("NAME");
}

const Names<models::KvFormat> kKvNames = {{"q8", models::KvFormat::Q8},
                                          {"f16", models::KvFormat::F16}};

/// Reads "products=row", once.
bool readProducts(std::string_view part, Partition &partition) {
  constexpr std::string_view kKey = "products=";
  if (!part.starts_with(kKey) || !partition.products.empty()) {
    return false;
  }
  std::string_view word = part.substr(kKey.size());
  for (std::string_view known : {"column", "row", "scatter", "reduce"}) {
    if (word == known) {
      partition.products = word;
    }
  }
  return !partition.products.empty();
}

/// Reads "tp=4,pp=2,products=row", in any order, any left out. Empty; or what
/// was expected.
std::string readPartition(std::string_view text, Partition &partition) {
  const std::string expected =
      "expected tp=CHIPS,pp=STAGES or one of the two, each 1 or more, and "
      "products=column, row, scatter or reduce, found ";
  for (size_t at = 0; at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string_view part = text.substr(at, comma - at);
    if (readProducts(part, partition)) {
      at = comma + 1;
      continue;
    }
    bool tp = part.starts_with("tp="), pp = part.starts_with("pp=");
    int64_t &number = tp ? partition.tensorParallel : partition.stages;
    const char *end = part.data() + part.size();
    int64_t value = 0;
    if ((!tp && !pp) || number != 0) { // neither, or a second time
      return expected + std::string(text);
    }
    auto [stop, error] = std::from_chars(part.data() + 3, end, value);
    if (error != std::errc() || stop != end || value < 1 || value > kGreatest) {
      return expected + std::string(text);
    }
    number = value;
    at = comma + 1;
  }
  return "";
}

void addPartition(CLI::App &app, Partition &partition) {
  CLI::callback_t read = [&](const CLI::results_t &results) {
    partition = {};
    std::string problem = readPartition(results.front(), partition);
    if (!problem.empty()) {
      throw CLI::ValidationError("--partition: " + problem);
    }
    return true;
  };
  app.add_option("--partition", read,
                 "tp=CHIPS,pp=STAGES,products=HOW: chips of a stage, stages of "
                 "layers, and how a stage's chips share products of what each "
                 "has a part of: column, row, scatter or reduce (default: "
                 "chosen by predicted latency)")
      ->type_name("SPLIT");
}

void addTarget(CLI::App &app, Target &target) {
  using models::KvFormat;
  using models::WeightFormat;
  addMachine(app, target.machine);
  addPartition(app, target.partition);
  addChoice<WeightFormat>(
      app, "--weights",
      {{"q8_0", WeightFormat::Q8_0}, {"q4_0", WeightFormat::Q4_0}},
      [&](WeightFormat format) { target.weights = format; },
      "Format of tensors stored as floats: q8_0 (default) or q4_0");
  addChoice<KvFormat>(
      app, "--kv", kKvNames, [&](KvFormat format) { target.kv = format; },
      "Format of the KV cache: q8 (default) or f16");
  app.add_option("--ctx", target.context,
                 "Positions of the KV cache (default: the model's)")
      ->check(atLeast(1));
}

CLI::Option *addModel(CLI::App &app, std::string &model) {
  return app.add_option("model", model, "GGUF file")->required();
}

void addCount(CLI::App &app, int64_t &count) {
  app.add_option("-n,--predict", count, "Tokens to generate at most")
      ->capture_default_str()
      ->check(atLeast(0));
}

void addRun(CLI::App &app, RunArguments &a) {
  addModel(app, a.model);
  addTarget(app, a.target);
  app.add_option("-p,--prompt", a.prompt, "Text to continue");
  addCount(app, a.count);
  app.add_option("--temp", a.temperature,
                 "Sampling temperature; 0: the greatest logit")
      ->capture_default_str()
      ->check([](const std::string &text) -> std::string {
        double value = -1;
        return CLI::detail::lexical_cast(text, value) && value >= 0 &&
                       std::isfinite(value)
                   ? ""
                   : "expected a number of 0 or more, found " + text;
      });
  app.add_option("--seed", a.seed, "Seed of sampling")->capture_default_str();
  app.add_flag("--validate", a.validate,
               "Compare all logits with the interpreter's");
  app.add_option("--counters", a.counters,
                 "Write the last step's counters there (JSON)");
  app.add_option("--trace", a.trace,
                 "Write the last step's trace there (Perfetto JSON)");
  addJson(app, a.json);
}

void addValidate(CLI::App &app, ValidateArguments &a) {
  addModel(app, a.model);
  addTarget(app, a.target);
  auto *prompt = app.add_option("-p,--prompt", a.prompt, "Text to continue");
  addCount(app, a.count);
  auto *ids = app.add_option("--ids", a.ids,
                             "Token ids to read instead: a list, or a file");
  ids->excludes(prompt);
  ids->check([](const std::string &text) -> std::string {
    return text.empty() ? "expected token ids or a file, found nothing" : "";
  });
  app.add_option("--golden", a.golden,
                 "Float64 logits at these ids: report KL and top-1")
      ->needs(ids);
  addChoice<GpuChoice>(
      app, "--gpu",
      {{"auto", GpuChoice::Auto},
       {"emulated", GpuChoice::Emulated},
       {"device", GpuChoice::Device},
       {"none", GpuChoice::None}},
      [&](GpuChoice choice) { a.gpu = choice; },
      "The CUDA reference too: auto (default: a device, else the emulation if "
      "that is quick), emulated, device or none");
  app.add_option("--sequences", a.sequences,
                 "Texts that the CUDA reference decodes together, of different "
                 "lengths as far as the context goes, each compared with the "
                 "interpreter on it alone")
      ->capture_default_str()
      ->check(atLeast(1, gpu::kMostSequences));
  addJson(app, a.json);
}

void addCompile(CLI::App &app, CompileArguments &a) {
  auto *model = app.add_option("model", a.model, "GGUF file");
  app.add_option("--shape", a.shape,
                 "Name (`orrery zoo`) or Hugging Face config.json: shape only")
      ->excludes(model);
  addTarget(app, a.target);
  app.add_option("-o,--output", a.output, "Where the result goes");
  app.add_option("--tokens", a.tokens, "New tokens of a step")
      ->capture_default_str()
      ->check(atLeast(1));
  app.add_option("--bucket", a.bucket,
                 "Positions a step may reach (default: the context)")
      ->check(atLeast(1));
  app.add_option("--layers", a.layers, "Leading layers to keep (default: all)")
      ->check(atLeast(1));
  using Emit = CompileArguments::Emit;
  addChoice<Emit>(
      app, "--emit",
      {{"llm", Emit::Llm},
       {"grid", Emit::Grid},
       {"flow", Emit::Flow},
       {"tick", Emit::Tick},
       {"program", Emit::Program}},
      [&](Emit emit) { a.emit = emit; },
      "llm, grid, flow, tick or program (default)");
  addJson(app, a.json);
}

void addSimulate(CLI::App &app, SimulateArguments &a) {
  app.add_option("program", a.program, "Program file")->required();
  auto *model = app.add_option("--model", a.model,
                               "GGUF file it was compiled from: values too");
  app.add_option("-p,--prompt", a.prompt, "Text to read")->needs(model);
  app.add_flag("--timing-only", a.timingOnly, "Ticks without values")
      ->excludes(model);
  app.add_option("--position", a.position, "Position of the first token")
      ->excludes(model)
      ->check(atLeast(0));
  addJson(app, a.json);
}

void addKv(CLI::App &app, KvArguments &a) {
  app.add_option("models", a.models,
                 "Names (`orrery zoo`), config.json or GGUF files (default: "
                 "the zoo)");
  addMachine(app, a.machine);
  addChoice<models::KvFormat>(
      app, "--kv", kKvNames, [&](models::KvFormat format) { a.kv = format; },
      "q8 or f16 (default: both)");
  app.add_option("--ctx", a.context, "Positions (default: each model's)")
      ->check(atLeast(1));
  // More than any system's chips; what a rank holds is worked out one by one.
  constexpr int64_t kMostRanks = 1'000'000;
  app.add_option("--tp", a.ranks, "Tensor-parallel ranks")
      ->capture_default_str()
      ->check(atLeast(1, kMostRanks));
  addJson(app, a.json);
}

void addTime(CLI::App &app, TimeArguments &a) {
  app.add_option("model", a.model,
                 "Name (`orrery zoo`), config.json or GGUF file: shape only")
      ->required();
  addTarget(app, a.target);
  app.add_option("--prompt", a.prompt,
                 "Tokens of the prompt whose first token is timed (default: "
                 "512, or the context)")
      ->check(atLeast(1));
  app.add_flag("!--no-simulate", a.simulate,
               "Predict only: no simulation confirms the ticks");
  app.add_flag("--fits", a.fits,
               "The largest context and the most users that fit, found by "
               "compiling, and what takes the room");
  addJson(app, a.json);
}

void addCompare(CLI::App &app, CompareArguments &a) {
  app.add_option("model", a.model,
                 "Name (`orrery zoo`), config.json or GGUF file: shape only")
      ->required();
  addTarget(app, a.target);
  app.add_option("--gpu", a.gpus,
                 "GPUs, with commas between: names or JSON files (default: "
                 "all that are known)")
      ->delimiter(',');
  app.add_option("--batch", a.batch,
                 "Users at once: in flight on the chips, a batch on a GPU")
      ->capture_default_str()
      ->check(atLeast(1, 1 << 20));
  app.add_option("--tp", a.tensorParallel, "GPUs, tensor parallel")
      ->capture_default_str()
      ->check(atLeast(1, 1 << 20));
  app.add_option("--measurements", a.measurements,
                 "Folder of what gpu-reference/measure wrote (default: what "
                 "is kept with the project)");
  app.add_flag("--allow-slow-gpu", a.allowSlowGpu,
               "Print speed-ups over GPUs below 40 % of their memory roofline "
               "too");
  addJson(app, a.json);
}

/// One App with all commands; `chosen` is what was parsed last.
class CommandLine {
public:
  CommandLine() {
    app.require_subcommand(1);
    app.footer(kFooter);
    app.set_version_flag("--version", "orrery 0.1");
    add<RunArguments>("run", "Continue a text on simulated chips", addRun);
    add<ValidateArguments>("validate",
                           "Hold simulator and CUDA reference against the "
                           "interpreter, bit for bit",
                           addValidate);
    add<CompileArguments>("compile", "Compile a step to a program file",
                          addCompile);
    add<SimulateArguments>("simulate", "Run a program file", addSimulate);
    add<CheckArguments>(
        "check", "Prove a program file without running it",
        [](CLI::App &sub, CheckArguments &a) {
          sub.add_option("program", a.program, "Program file")->required();
          addJson(sub, a.json);
        });
    add<InspectArguments>(
        "inspect", "Show a model file, a shape, a program file or a machine",
        [](CLI::App &sub, InspectArguments &a) {
          sub.add_option("file", a.file,
                         "File, or the name of a preset or of a zoo model")
              ->required();
          addJson(sub, a.json);
        });
    add<PresetsArguments>(
        "presets", "List the built-in machines",
        [](CLI::App &sub, PresetsArguments &a) { addJson(sub, a.json); });
    add<ZooArguments>(
        "zoo", "List the built-in model shapes",
        [](CLI::App &sub, ZooArguments &a) { addJson(sub, a.json); });
    add<KvArguments>("kv", "Show what the KV caches of models take", addKv);
    add<TimeArguments>(
        "time", "Latency, throughput and room of a shape on a system", addTime);
    add<CompareArguments>(
        "compare",
        "A model on a system beside GPUs, each figure with its source",
        addCompare);
  }

  std::variant<Arguments, ExitCode> parse(int argc, char **argv) {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
      return report(error);
    }
    return *chosen();
  }

private:
  template <class A, class F>
  void add(const char *name, const char *summary, F options) {
    CLI::App *sub = app.add_subcommand(name, summary);
    sub->footer(kFooter);
    auto arguments = std::make_shared<A>();
    options(*sub, *arguments);
    commands.push_back({sub, [arguments] { return Arguments(*arguments); }});
  }

  std::optional<Arguments> chosen() const {
    for (const auto &[sub, arguments] : commands) {
      if (sub->parsed()) {
        return arguments();
      }
    }
    return std::nullopt;
  }

  // Help goes to stdout; what is wrong, as one line, to stderr.
  ExitCode report(const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return kOk;
    }
    std::string line = error.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::string name = "orrery";
    for (const auto &command : commands) {
      if (command.first->parsed()) {
        name += " " + command.first->get_name();
      }
    }
    if (name == "orrery" && !app.remaining().empty()) {
      line = app.remaining().front() + " is not a command";
    }
    std::cerr << name << ": " << line << " (see " << name << " --help)\n";
    return kUsage;
  }

  CLI::App app{"A compiler and a simulator for SRAM-resident LLM accelerators",
               "orrery"};
  std::vector<std::pair<CLI::App *, std::function<Arguments()>>> commands;
};

} // namespace

std::variant<Arguments, ExitCode> parseCommandLine(int argc, char **argv) {
  return CommandLine().parse(argc, argv);
}

} // namespace orrery::command
