// What TickBuilders.h promises and no .mlir file can show.
#include "dialects/tick/TickBuilders.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace orrery::tick {
namespace {

class TickBuilders : public ::testing::Test {
protected:
  TickBuilders() {
    context.loadDialect<TickDialect>();
    program.machineJson = "{}";
    program.tokens = program.bucket = program.context = 1;
    program.logits = {0, 0, 0, 1, 1};
    module = ModuleOp::create(unknown);
    builder.setInsertionPointToEnd(module->getBody());
  }

  std::string print(mlir::Operation *op) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    op->print(stream);
    return text;
  }

  MLIRContext context;
  Location unknown = UnknownLoc::get(&context);
  OpBuilder builder{&context};
  OwningOpRef<ModuleOp> module;
  Program program = {};
};

TEST_F(TickBuilders, GiveTextsOfLocations) {
  Location name = locationOf(&context, "layer 3 attn_q");
  EXPECT_EQ(textOf(name), "layer 3 attn_q");
  EXPECT_EQ(locationOf(&context, ""), unknown);
  EXPECT_EQ(textOf(unknown), "");
  Location file = FileLineColLoc::get(&context, "a.mlir", 3, 7);
  EXPECT_EQ(textOf(file), "a.mlir:3:7");
  EXPECT_EQ(textOf(FusedLoc::get(&context, {file, name})), "layer 3 attn_q");
}

TEST_F(TickBuilders, ReferToTablesByNumber) {
  program.vectorPrograms = {VectorProgram{
      {orrery::StreamType::F32}, {}, {{0, orrery::StreamType::F16}}, 1}};
  program.laneMaps = {{0}, {0xffff}};
  program.locations = {"embed"};
  ProgramOp op = createProgram(builder, unknown, program);
  EXPECT_EQ(builder.getInsertionBlock(), module->getBody());

  builder.setInsertionPointToEnd(op.getBody());
  orrery::PermuteOp permute;
  permute.map = 1;
  mlir::Operation *first = createInstruction(builder, {5, 0, permute}, program);
  orrery::VectorOp vector;
  vector.inputs = vector.outputs = 1;
  mlir::Operation *second = createInstruction(builder, unknown, 6, vector);
  EXPECT_EQ(print(first), "tick.permute at 5 sxm 0 lane_map @m1 width 1 count "
                          "1 from east 0 to east 0 stop 0");
  EXPECT_EQ(textOf(first->getLoc()), "embed");
  EXPECT_EQ(print(second),
            "tick.vector at 6 @p0 count 1 from (east 0) to (east 0 stop 0)");
  EXPECT_TRUE(succeeded(verify(*module)));
}

// vector_program (C1); the syntax has no name for more values.
TEST_F(TickBuilders, TakeAtMost256Values) {
  AluStep one = {};
  one.op = orrery::AluOp::Immediate;
  VectorProgram chain = {
      {}, std::vector<AluStep>(256, one), {{0, orrery::StreamType::F32}}, 1};
  program.vectorPrograms = {chain};
  createProgram(builder, unknown, program);
  EXPECT_TRUE(succeeded(verify(*module)));

  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  chain.steps.push_back(one);
  program.vectorPrograms = {chain};
  createProgram(builder, unknown, program).setName("second");
  EXPECT_TRUE(failed(verify(*module)));
  EXPECT_NE(message.find("257 values"), std::string::npos) << message;
}

} // namespace
} // namespace orrery::tick
