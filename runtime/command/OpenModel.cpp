#include "runtime/command/OpenModel.h"

#include "machine/WholeFile.h"

#include <nlohmann/json.hpp>

#include <charconv>

namespace orrery::command {

llm::WeightFormat dialectFormat(models::WeightFormat format) {
  return format == models::WeightFormat::Q4_0 ? llm::WeightFormat::Q4_0
                                              : llm::WeightFormat::Q8_0;
}

llm::KvFormat dialectFormat(models::KvFormat format) {
  return format == models::KvFormat::F16  ? llm::KvFormat::F16
         : format == models::KvFormat::Q8 ? llm::KvFormat::Q8
                                          : llm::KvFormat::Q4;
}

SplitOptions splitOf(const Partition &partition) {
  return {partition.tensorParallel, partition.stages, partition.products};
}

std::string formatName(models::WeightFormat format) {
  return format == models::WeightFormat::Q4_0 ? "q4_0" : "q8_0";
}

std::string formatName(models::KvFormat format) {
  return format == models::KvFormat::F16  ? "f16"
         : format == models::KvFormat::Q8 ? "q8"
                                          : "q4";
}

/// Matrices, and those that are stored in a format of the machine.
static std::pair<size_t, size_t> countMatrices(const models::WeightFile &file) {
  auto stored = compiler::storedFormats(file.gguf());
  size_t matrices = 0, kept = 0;
  for (const models::TensorShape &t : models::expectedTensors(file.config())) {
    matrices += !t.isVector;
    kept += !t.isVector && stored.contains(t.name);
  }
  return {matrices, kept};
}

Expected<runtime::SessionOptions>
sessionOptions(const Target &target, const models::WeightFile &file) {
  runtime::SessionOptions options;
  options.machine = target.machine;
  options.split = splitOf(target.partition);
  options.context = target.context;
  options.kv = dialectFormat(target.kv);
  options.tensorFormats = compiler::storedFormats(file.gguf());
  auto format = target.weights.value_or(models::WeightFormat::Q8_0);
  options.weights = dialectFormat(format);
  auto [matrices, kept] = countMatrices(file);
  bool same = true;
  for (const auto &[name, stored] : options.tensorFormats) {
    same = same && stored == options.weights;
  }
  if (target.weights && matrices == kept && !same) {
    return Error{"--weights " + formatName(format) + ": all " +
                 std::to_string(matrices) +
                 " matrices of the file are stored quantized and keep their "
                 "format; the option is for float tensors"};
  }
  if (target.context > file.config().contextLength) {
    return Error{"--ctx " + std::to_string(target.context) +
                 ": the model was trained for " +
                 std::to_string(file.config().contextLength) + " positions"};
  }
  return options;
}

std::string weightsText(const Target &target, const models::WeightFile &file) {
  auto [matrices, kept] = countMatrices(file);
  std::string name =
      formatName(target.weights.value_or(models::WeightFormat::Q8_0));
  if (kept == 0) {
    return name;
  }
  size_t four = 0;
  for (const auto &[tensor, f] : compiler::storedFormats(file.gguf())) {
    four += f == llm::WeightFormat::Q4_0;
  }
  if (kept == matrices) {
    return std::string(four == kept ? "q4_0"
                       : four       ? "q8_0 and q4_0"
                                    : "q8_0") +
           " (as stored)";
  }
  return name + ", " + std::to_string(kept) + " of " +
         std::to_string(matrices) + " matrices as stored";
}

std::unique_ptr<runtime::Session>
openSession(const models::WeightFile &weights,
            const runtime::SessionOptions &options, ExitCode &code) {
  bool tooBig = false;
  auto session = runtime::Session::open(weights, options, &tooBig);
  if (!session) {
    code = fail(tooBig ? kDoesNotFit : kBadInput, session.error());
    return nullptr;
  }
  return std::move(*session);
}

Expected<std::vector<int32_t>> promptIds(const models::WeightFile &file,
                                         const std::string &prompt,
                                         int64_t context) {
  const models::Tokenizer *tokenizer = file.tokenizer();
  if (!tokenizer) {
    return Error{"the model has no tokenizer (no tokenizer.ggml.model), so it "
                 "cannot read text; `orrery validate --ids` takes token ids"};
  }
  auto ids = tokenizer->encode(prompt);
  if (ids.empty()) {
    return Error{"the prompt is empty and the model has no begin token"};
  }
  if (int64_t(ids.size()) > context) {
    return Error{"the prompt takes " + std::to_string(ids.size()) +
                 " tokens, the context holds " + std::to_string(context)};
  }
  return ids;
}

/// Numbers between commas, blanks and brackets.
static Expected<std::vector<int64_t>> parseList(std::string_view text) {
  std::vector<int64_t> ids;
  constexpr std::string_view kBetween = ", \t\r\n[]";
  for (size_t at = text.find_first_not_of(kBetween);
       at != std::string_view::npos;
       at = text.find_first_not_of(kBetween, at)) {
    size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    int64_t id = 0;
    auto [stop, error] =
        std::from_chars(text.data() + at, text.data() + end, id);
    if (error != std::errc() || stop != text.data() + end) {
      return Error{
          "expected token ids, found \"" +
          std::string(text.substr(at, std::min<size_t>(end - at, 40))) + "\""};
    }
    ids.push_back(id);
    at = end;
  }
  return ids;
}

static Expected<std::vector<int64_t>> parseIds(std::string_view text) {
  if (text.find('{') == std::string_view::npos) {
    return parseList(text);
  }
  auto json = nlohmann::json::parse(text, nullptr, false);
  auto ids = json.is_object() ? json.find("ids") : json.end();
  if (json.is_discarded() || !json.is_object() || ids == json.end() ||
      !ids->is_array()) {
    return Error{"expected a JSON object with an array \"ids\""};
  }
  return parseList(ids->dump());
}

Expected<std::vector<int32_t>> readIds(const std::string &listOrFile,
                                       int64_t vocab) {
  constexpr uint64_t kMostBytes = uint64_t(64) << 20;
  std::string text = listOrFile, where = "--ids";
  if (text.find_first_not_of("0123456789, ") != std::string::npos) {
    auto bytes = readWholeFile(listOrFile, kMostBytes);
    if (!bytes) {
      return Error{listOrFile + ": " + bytes.error().message};
    }
    text.assign(bytes->begin(), bytes->end());
    where = listOrFile;
  }
  auto ids = parseIds(text);
  if (!ids) {
    return Error{where + ": " + ids.error().message};
  }
  std::vector<int32_t> out;
  for (int64_t id : *ids) {
    if (id < 0 || id >= vocab) {
      return Error{where + ": token id " + std::to_string(id) +
                   " is outside the vocabulary of " + std::to_string(vocab)};
    }
    out.push_back(int32_t(id));
  }
  if (out.empty()) {
    return Error{where + ": expected at least one token id"};
  }
  return out;
}

} // namespace orrery::command
