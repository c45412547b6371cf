#include "compiler/lower/StageKinds.h"

#include "compiler/lower/FlowBuilder.h"

#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;

namespace orrery {

namespace {

/// A stage as text in which layers are counted from its own first, and values
/// are numbered: equal texts, equal programs.
class Description {
public:
  /// `attends`: whether the stage or one behind it has attention, which takes
  /// the positions' rows; `behind`: whether one behind it has.
  Description(grid::StageOp stage, bool attends, bool behind)
      : first(int64_t(stage.getFirstLayer())) {
    out << "tp " << stage.getTp() << (stage.getRing() ? " ring" : "")
        << " cables " << stage.getCables() << (attends ? " positions" : "")
        << (behind ? " passed on\n" : "\n");
    for (mlir::Operation &op : stage.getBody().front()) {
      describe(op);
    }
    for (Value result : stage.getResults()) {
      if (isPassedOn(result)) {
        out << "passed on as "
            << flow::stringifyStreamType(crossingType(result)) << ' ';
      } else {
        out << "returned ";
      }
    }
  }
  std::string text;

private:
  unsigned numberOf(Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  }

  // "blk.7.attn_q.weight" of a stage from layer 6 is "blk.1.attn_q.weight".
  void describe(NamedAttribute named) {
    out << ' ' << named.getName().strref() << '=';
    StringRef layer, rest;
    int64_t number = 0;
    if (auto name = dyn_cast<StringAttr>(named.getValue());
        name && name.strref().starts_with("blk.")) {
      std::tie(layer, rest) = name.strref().drop_front(4).split('.');
      if (!layer.getAsInteger(10, number)) {
        out << "blk." << number - first << '.' << rest;
        return;
      }
    }
    auto count = dyn_cast<IntegerAttr>(named.getValue());
    if (count && named.getName() == "layer") {
      out << count.getInt() - first;
      return;
    }
    out << named.getValue();
  }

  void describe(mlir::Operation &op) {
    out << op.getName();
    for (Value operand : op.getOperands()) {
      out << " v" << numberOf(operand) << ':' << operand.getType();
    }
    for (NamedAttribute named : op.getAttrs()) {
      describe(named);
    }
    for (Value result : op.getResults()) {
      out << " -> v" << numberOf(result) << ':' << result.getType();
    }
    out << '\n';
  }

  int64_t first;
  llvm::raw_string_ostream out{text};
  llvm::DenseMap<Value, unsigned> numbers;
};

} // namespace

std::vector<StageKind> stageKinds(ArrayRef<grid::StageOp> stages) {
  std::vector<StageKind> out;
  std::map<std::string, size_t> kindOf;
  size_t lastAttention = 0; // stages up to there take positions
  for (auto [index, stage] : llvm::enumerate(stages)) {
    grid::StageOp(stage).walk(
        [&, number = index](llm::AttentionOp) { lastAttention = number + 1; });
  }
  for (auto [index, stage] : llvm::enumerate(stages)) {
    Description description(stage, index < lastAttention,
                            index + 1 < lastAttention);
    auto [entry, isNew] = kindOf.try_emplace(description.text, out.size());
    if (isNew) {
      out.emplace_back();
    }
    out[entry->second].stages.push_back(unsigned(index));
  }
  return out;
}

} // namespace orrery
