#include "runtime/CutStep.h"

#include "compiler/lower/FlowBuilder.h"

#include "mlir/IR/Location.h"

using namespace mlir;

namespace orrery::runtime {

std::string nameOf(mlir::Operation *op) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  return name ? name.getName().str() : "";
}

static mlir::Operation *find(func::FuncOp step, const std::string &name) {
  for (mlir::Operation &op : step.getBody().front().without_terminator()) {
    if (nameOf(&op) == name) {
      return &op;
    }
  }
  return nullptr;
}

Status cutStep(ModuleOp module, const std::string &last) {
  auto step = *module.getOps<func::FuncOp>().begin();
  mlir::Operation *op = find(step, last);
  if (!op) {
    return Error{"no op of the step is called " + last};
  }
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !llm::isRows(type)) {
    return Error{last + " has no value of f32 rows"};
  }
  Block &body = step.getBody().front();
  mlir::Operation *end = body.getTerminator();
  OpBuilder b(end);
  Type ids = end->getOperand(1).getType();
  Value next = b.create<llm::ArgmaxOp>(end->getLoc(), ids, op->getResult(0));
  next.getDefiningOp()->setAttr(kProbeAttr, b.getUnitAttr());
  end->setOperands({op->getResult(0), next});
  while (next.getDefiningOp()->getPrevNode() != op) {
    next.getDefiningOp()->getPrevNode()->erase();
  }
  step.setType(b.getFunctionType(step.getArgumentTypes(), {type, ids}));
  return Success{};
}

Expected<CompiledStep> compileProbe(MLIRContext &context,
                                    const models::ModelConfig &config,
                                    const CompileRequest &request,
                                    const std::string &last) {
  auto module = compiler::importModel(context, config, request.import);
  if (!module) {
    return Error{"import failed"};
  }
  if (Status ok = cutStep(*module, last); !ok) {
    return ok.error();
  }
  return compileModule(std::move(module), config, request);
}

} // namespace orrery::runtime
