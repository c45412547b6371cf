// A cut step is a step: every op that has rows can be its last.
#include "runtime/CutStep.h"

#include "tests/runtime/TinySession.h"

#include "mlir/IR/Verifier.h"

namespace orrery::runtime {
namespace {

TEST(CutStep, EveryOpWithRowsGivesAValidStep) {
  auto context = makeContext();
  auto whole = compiler::importModel(*context, tinyModel().config());
  auto step = *whole->getOps<mlir::func::FuncOp>().begin();
  int cuts = 0;
  for (mlir::Operation &op : step.getBody().front().without_terminator()) {
    if (mlir::isa<llm::ArgmaxOp>(op)) {
      continue;
    }
    mlir::OwningOpRef<mlir::ModuleOp> copy = whole->clone();
    Status ok = cutStep(*copy, nameOf(&op));
    ASSERT_TRUE(ok) << nameOf(&op) << ": " << ok.error().message;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*copy))) << nameOf(&op);
    ++cuts;
  }
  EXPECT_EQ(cuts, 4 * 15 + 3);
}

TEST(CutStep, UnknownAndUnfitNamesAreErrors) {
  auto context = makeContext();
  auto module = compiler::importModel(*context, tinyModel().config());
  EXPECT_EQ(cutStep(*module, "layer 9 attn_q").error().message,
            "no op of the step is called layer 9 attn_q");
  EXPECT_EQ(cutStep(*module, "argmax").error().message,
            "argmax has no value of f32 rows");
}

} // namespace
} // namespace orrery::runtime
