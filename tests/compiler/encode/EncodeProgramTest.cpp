// encodeProgram and decodeProgram are inverses, on random valid programs and
// through the text; seeds are printed on failure.
#include "compiler/encode/EncodeProgram.h"
#include "compiler/encode/DecodeProgram.h"
#include "machine/Validate.h"
#include "tests/machine/RandomProgram.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <ctime>
#include <limits>

using namespace mlir;

namespace orrery::compiler {
namespace {

Machine preset(const char *name) {
  auto machine = loadMachine(name);
  EXPECT_TRUE(machine) << machine.error().message;
  return *machine;
}

Program randomProgram(uint64_t seed, int perKind) {
  Machine machine = preset("lpu-v1");
  Program program = testing::RandomProgram(seed, machine).make(perKind);
  Status valid = validateProgram(program, machine);
  EXPECT_TRUE(valid) << valid.error().message;
  return program;
}

tick::ProgramOp onlyProgram(ModuleOp module) {
  return *module.getOps<tick::ProgramOp>().begin();
}

std::string print(ModuleOp module, OpPrintingFlags flags) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, flags.enableDebugInfo());
  return text;
}

class RandomPrograms : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomPrograms, EncodeUndoesDecode) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Program program = randomProgram(GetParam(), 20);
  MLIRContext context;
  auto module = decodeProgram(context, program);
  ASSERT_TRUE(succeeded(verify(*module)));
  auto encoded = encodeProgram(onlyProgram(*module));
  ASSERT_TRUE(succeeded(encoded));
  EXPECT_TRUE(*encoded == program);
}

TEST_P(RandomPrograms, EncodeUndoesDecodeThroughText) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Program program = randomProgram(GetParam(), 20);
  for (bool generic : {false, true}) {
    MLIRContext context;
    auto module = decodeProgram(context, program);
    std::string text =
        print(*module, OpPrintingFlags().printGenericOpForm(generic));
    auto parsed = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(parsed);
    auto encoded = encodeProgram(onlyProgram(*parsed));
    ASSERT_TRUE(succeeded(encoded));
    EXPECT_TRUE(*encoded == program);
  }
}

// What encodes decodes to the same text.
TEST_P(RandomPrograms, DecodeUndoesEncode) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  MLIRContext context;
  auto module = decodeProgram(context, randomProgram(GetParam(), 20));
  auto encoded = encodeProgram(onlyProgram(*module));
  ASSERT_TRUE(succeeded(encoded));
  auto again = decodeProgram(context, *encoded);
  EXPECT_EQ(print(*again, {}), print(*module, {}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms,
                         ::testing::Range<uint64_t>(0, 40));

/// A program of sends with these locations.
Program programAt(std::vector<std::string> lines,
                  std::vector<uint32_t> instructions) {
  Program program = randomProgram(1, 0);
  program.locations = std::move(lines);
  for (uint32_t line : instructions) {
    program.instructions.push_back({100, line, SendOp{}});
  }
  return program;
}

TEST(DecodeProgram, LeavesOutALocationTableByFirstUse) {
  MLIRContext context;
  Program program = programAt({"embed", "", "logits"}, {0, 1, 0, 2, 1});
  auto module = decodeProgram(context, program);
  EXPECT_FALSE(onlyProgram(*module).getLocationsAttr());
  EXPECT_TRUE(*encodeProgram(onlyProgram(*module)) == program);
}

TEST(DecodeProgram, KeepsAnotherLocationTable) {
  for (const Program &program :
       {programAt({"b", "a"}, {1, 0}), programAt({"a", "unused"}, {0}),
        programAt({"unused"}, {})}) {
    MLIRContext context;
    auto module = decodeProgram(context, program);
    EXPECT_TRUE(onlyProgram(*module).getLocationsAttr());
    EXPECT_TRUE(*encodeProgram(onlyProgram(*module)) == program);
  }
}

TEST(DecodeProgram, MergesEqualLocations) {
  MLIRContext context;
  auto module = decodeProgram(context, programAt({"a", "b", "a"}, {0, 1, 2}));
  Program encoded = *encodeProgram(onlyProgram(*module));
  EXPECT_TRUE(encoded == programAt({"a", "b", "a"}, {0, 1, 0}));
}

TEST(DecodeProgram, NamesAPresetAndCarriesAnyOtherMachine) {
  MLIRContext context;
  Program program = randomProgram(1, 0);
  auto module = decodeProgram(context, program);
  EXPECT_EQ(onlyProgram(*module).getMachine(), "lpu-v1");

  Machine changed = preset("lpu-v1");
  changed.lanes /= 2;
  program.machineJson = formatMachine(changed);
  module = decodeProgram(context, program);
  EXPECT_EQ(onlyProgram(*module).getMachine(), program.machineJson);
  EXPECT_TRUE(*encodeProgram(onlyProgram(*module)) == program);
}

TEST(EncodeProgram, KeepsImmediateBits) {
  for (float value : {-0.0f, std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::denorm_min(), 0.1f}) {
    Program program = randomProgram(1, 0);
    AluStep step = {};
    step.op = AluOp::Immediate;
    step.immediate = value;
    program.vectorPrograms = {{{}, {step}, {{0, StreamType::F32}}, 1}};
    MLIRContext context;
    auto module = decodeProgram(context, program);
    auto parsed = parseSourceString<ModuleOp>(print(*module, {}), &context);
    ASSERT_TRUE(parsed);
    float back = encodeProgram(onlyProgram(*parsed))
                     ->vectorPrograms[0]
                     .steps[0]
                     .immediate;
    EXPECT_EQ(std::bit_cast<uint32_t>(back), std::bit_cast<uint32_t>(value));
  }
}

// The promise of TickBuilders.h. In CPU time, so that other load does not
// matter; generous, so that sanitizers pass.
TEST(DecodeProgram, MakesThirtyThousandInstructionsInASecond) {
  Program program = randomProgram(7, 3400);
  MLIRContext context;
  std::clock_t start = std::clock();
  auto module = decodeProgram(context, program);
  std::clock_t decoded = std::clock();
  auto encoded = encodeProgram(onlyProgram(*module));
  std::clock_t end = std::clock();
  EXPECT_TRUE(*encoded == program);
  const auto ms = [](std::clock_t ticks) {
    return int(1000 * ticks / CLOCKS_PER_SEC);
  };
  RecordProperty("decode_ms", ms(decoded - start));
  RecordProperty("encode_ms", ms(end - decoded));
  EXPECT_LT(ms(end - start), 1000);
}

} // namespace
} // namespace orrery::compiler
