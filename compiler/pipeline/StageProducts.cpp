#include "compiler/pipeline/StageProducts.h"

using namespace mlir;

namespace orrery {

using partition::ProductForm;

// Only partials are added: what a rank has rows of is at most gathered.
static ProductForm formOf(llm::LinearOp product) {
  for (mlir::Operation *user : product->getUsers()) {
    if (isa<grid::AllReduceOp>(user)) {
      return ProductForm::Reduce;
    }
    if (isa<grid::ReduceScatterOp>(user)) {
      return ProductForm::Scatter;
    }
  }
  return ProductForm::Column;
}

std::vector<partition::SharedProduct> stageProducts(grid::StageOp stage) {
  std::vector<partition::SharedProduct> out;
  if (stage.getTp() == 1) {
    return out;
  }
  // By the importer's names: a stage may have taken the shard from the one
  // before, where its maker stands.
  for (auto op : stage.getBody().front().getOps<llm::LinearOp>()) {
    auto place = dyn_cast<NameLoc>(op.getLoc());
    StringRef name = place ? place.getName().getValue() : StringRef();
    if (name.ends_with(" attn_output") || name.ends_with(" ffn_down")) {
      out.push_back({name.ends_with(" attn_output"), formOf(op)});
    }
  }
  return out;
}

} // namespace orrery
