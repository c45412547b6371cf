#include "gpu-reference/latency/Published.h"

#include "gpu-reference/latency/Fields.h"
#include "models/Zoo.h"

#include <set>

namespace orrery::gpu::latency {
namespace {

using nlohmann::json;

constexpr const char kPublished[] = {
#include "Published.inc"
};

constexpr double kTiny = 1e-6, kHuge = 1e9;

class PublishedReader {
public:
  explicit PublishedReader(const json &root) : top("", root, problem) {}

  Expected<std::vector<PublishedRow>> run() {
    if (!top.keys({"sources"}) || !top.array("sources")) {
      return Error{problem.message()};
    }
    for (size_t i = 0; i < top["sources"].size(); ++i) {
      if (!readSource(
              Fields(top.at("sources", i), top["sources"][i], problem))) {
        return Error{problem.message()};
      }
    }
    return std::move(rows);
  }

private:
  bool readSource(Fields source) {
    PublishedRow common;
    std::string note;
    if (!source.keys({"engine", "source", "date", "conditions", "rows"},
                     {"structure", "note"}) ||
        !source.text("engine", common.engine) ||
        !source.text("source", common.source) ||
        !source.text("date", common.date) ||
        !source.text("conditions", common.conditions) ||
        (source.has("note") && !source.text("note", note)) ||
        !source.array("rows") ||
        (source.has("structure") &&
         !readStructure(
             Fields(source.at("structure"), source["structure"], problem),
             common.structure))) {
      return false;
    }
    for (size_t i = 0; i < source["rows"].size(); ++i) {
      PublishedRow row = common;
      if (!readRow(Fields(source.at("rows", i), source["rows"][i], problem),
                   row)) {
        return false;
      }
      rows.push_back(std::move(row));
    }
    return true;
  }

  bool readStructure(Fields fields, EngineStructure &out) {
    std::string from, head = "split", gateUp = "fused", sum = "own", weights;
    if (!fields.keys({"from"},
                     {"head", "gate_up", "all_reduce", "head_weights"}) ||
        !fields.text("from", from) ||
        (fields.has("head") && !fields.text("head", head)) ||
        (fields.has("gate_up") && !fields.text("gate_up", gateUp)) ||
        (fields.has("all_reduce") && !fields.text("all_reduce", sum)) ||
        (fields.has("head_weights") && !fields.text("head_weights", weights))) {
      return false;
    }
    if ((head != "split" && head != "whole") ||
        (gateUp != "fused" && gateUp != "apart") ||
        (sum != "own" && sum != "nccl")) {
      return fields.fail("from", "expected head split or whole, gate_up fused "
                                 "or apart, all_reduce own or nccl, found " +
                                     head + ", " + gateUp + ", " + sum);
    }
    out = {head == "whole", gateUp == "apart", sum == "nccl", std::nullopt};
    if (!weights.empty()) {
      auto kind = weightKindNamed(weights);
      if (!kind) {
        return fields.fail("head_weights", kind.error().message);
      }
      out.headWeights = *kind;
    }
    return true;
  }

  bool readRow(Fields fields, PublishedRow &row) {
    std::string weights, kv = "f16";
    row.kvSaid = fields.has("kv");
    if (!fields.keys(
            {"id", "system", "chips", "model", "weights", "batch", "context"},
            {"kv", "ms_per_token", "tokens_per_second_per_user",
             "tokens_per_second", "first_token_ms", "new_tokens", "apart"}) ||
        !fields.text("id", row.id) || !fields.text("system", row.system) ||
        !fields.whole("chips", row.chips, 0, 1 << 20) ||
        !fields.text("model", row.model) || !fields.text("weights", weights) ||
        (row.kvSaid && !fields.text("kv", kv)) ||
        !fields.whole("batch", row.batch, 1, 1 << 20) ||
        !fields.whole("context", row.context, 1, 1 << 30) ||
        (fields.has("apart") && !fields.text("apart", row.apart))) {
      return false;
    }
    auto weightKind = weightKindNamed(weights);
    auto kvKind = kvKindNamed(kv);
    if (!weightKind || !kvKind) {
      return fields.fail(
          weightKind ? "kv" : "weights",
          (weightKind ? kvKind.error() : weightKind.error()).message);
    }
    row.weights = *weightKind;
    row.kv = *kvKind;
    if (!models::isZooName(row.model)) {
      return fields.fail("model",
                         "expected a name of the zoo, found " + row.model);
    }
    if (!ids.insert(row.id).second) {
      return fields.fail("id",
                         "expected each id once, found " + row.id + " twice");
    }
    return readFigure(fields, row);
  }

  bool readFigure(Fields &fields, PublishedRow &row) {
    double value = 0;
    int found = 0;
    for (const char *key :
         {"ms_per_token", "tokens_per_second_per_user", "tokens_per_second"}) {
      if (!fields.has(key)) {
        continue;
      }
      ++found;
      if (!fields.number(key, value, kTiny, kHuge)) {
        return false;
      }
      std::string name = key;
      row.usPerStep = name == "ms_per_token" ? value * 1e3
                      : name == "tokens_per_second"
                          ? double(row.batch) * 1e6 / value
                          : 1e6 / value;
    }
    if (found != 1) {
      return fields.fail("id",
                         "expected one figure, found " + std::to_string(found));
    }
    row.usWithFirst = row.usPerStep;
    return !fields.has("first_token_ms") || takeOffFirst(fields, row);
  }

  /// tokens / (first token + the others' steps) is the rate that was published.
  bool takeOffFirst(Fields &fields, PublishedRow &row) {
    double first = 0;
    int64_t tokens = 0;
    if (!fields.has("new_tokens") ||
        !fields.number("first_token_ms", first, kTiny, kHuge) ||
        !fields.whole("new_tokens", tokens, 2, 1 << 30)) {
      return fields.has("new_tokens")
                 ? false
                 : fields.fail("new_tokens", "expected a value, found nothing");
    }
    double steps =
        (row.usPerStep * double(tokens) - first * 1e3) / double(tokens - 1);
    if (!(steps > 0)) {
      return fields.fail("first_token_ms", "expected less than the whole run");
    }
    row.usPerStep = steps;
    return true;
  }

  FirstProblem problem;
  Fields top;
  std::set<std::string> ids;
  std::vector<PublishedRow> rows;
};

} // namespace

Expected<std::vector<PublishedRow>> parsePublished(std::string_view text,
                                                   const std::string &where) {
  auto root = description::parse(text);
  if (!root) {
    return Error{where + ": " + root.error().message};
  }
  auto rows = PublishedReader(*root).run();
  return rows ? std::move(rows) : Error{where + ": " + rows.error().message};
}

Expected<std::vector<PublishedRow>> publishedRows() {
  return parsePublished({kPublished, sizeof kPublished - 1},
                        "published figures");
}

} // namespace orrery::gpu::latency
