// The file of a program on several chips.
#include "machine/SystemProgram.h"

#include "machine/Validate.h"
#include "tests/machine/RandomSystem.h"
#include "tests/machine/TemporaryFolder.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using FileBytes = std::vector<uint8_t>;
using SystemFile = testing::TemporaryFolder;

const Machine &node() {
  static const Machine machine = *loadMachine("lpu-small-node");
  return machine;
}

SystemProgram randomSystem(uint64_t seed, int count = 3) {
  return testing::RandomSystem(seed, node()).make(count);
}

/// One of several chips and two parts.
SystemProgram severalParts() {
  for (uint64_t seed = 1;; ++seed) {
    SystemProgram program = randomSystem(seed, 1);
    if (program.parts.size() == 2 && program.chips.size() >= 4) {
      return program;
    }
  }
}

/// Puts the checksum at the end right.
void sum(FileBytes &file) {
  std::string_view body(reinterpret_cast<const char *>(file.data()),
                        file.size() - 8);
  uint64_t hash = stableHash(body);
  for (size_t i = 0; i < 8; ++i) {
    file[file.size() - 8 + i] = uint8_t(hash >> (8 * i));
  }
}

std::string parseError(const FileBytes &file) {
  auto program = parseSystemProgram(file, "t");
  return program ? "no error" : program.error().message;
}

//===-- Round trip --------------------------------------------------------===//

TEST_F(SystemFile, RoundTrips) {
  size_t parts = 0, chips = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SystemProgram program = randomSystem(seed);
    Status saved = saveSystemProgram(program, path());
    ASSERT_TRUE(saved) << saved.error().message;
    auto loaded = loadSystemProgram(path());
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(*loaded == program);
    parts = std::max(parts, program.parts.size());
    chips = std::max(chips, program.chips.size());
  }
  EXPECT_GE(parts, 2u);
  EXPECT_EQ(chips, 8u);
  EXPECT_EQ(files(), std::vector<std::string>{"p.orrery"});
}

TEST_F(SystemFile, SameProgramSameBytes) {
  ASSERT_TRUE(saveSystemProgram(severalParts(), path("a")));
  ASSERT_TRUE(saveSystemProgram(severalParts(), path("b")));
  EXPECT_EQ(read(path("a")), read(path("b")));
}

TEST_F(SystemFile, OneProgramOnOneChipIsAProgramFile) {
  Machine machine = *loadMachine("lpu-small");
  Program program = testing::RandomProgram(4, machine, 0).make(3);
  ASSERT_TRUE(saveSystemProgram(onOneChip(program), path("system")));
  ASSERT_TRUE(saveProgram(program, path("program")));
  EXPECT_EQ(read(path("system")), read(path("program")));
  auto loaded = loadSystemProgram(path("program"));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(*loaded == onOneChip(program));
}

TEST_F(SystemFile, OneChipElsewhereIsASystemFile) {
  Program program = testing::RandomProgram(4, node(), 0).make(3);
  SystemProgram system = onOneChip(program);
  system.chips[0].chip = 3;
  ASSERT_TRUE(saveSystemProgram(system, path()));
  EXPECT_TRUE(*loadSystemProgram(path()) == system);
  EXPECT_FALSE(loadProgram(path()));
}

//===-- Damaged files -----------------------------------------------------===//

TEST_F(SystemFile, EachPrefixIsAnError) {
  ASSERT_TRUE(saveSystemProgram(severalParts(), path()));
  FileBytes file = read(path());
  for (size_t size = 0; size < file.size(); size += size < 64 ? 1 : 7) {
    FileBytes cut(file.begin(), file.begin() + long(size));
    EXPECT_FALSE(parseSystemProgram(cut, "t")) << size;
  }
  EXPECT_EQ(parseError(file), "no error");
}

TEST_F(SystemFile, EachFlippedBitIsAnError) {
  SystemProgram program = severalParts();
  for (Program &part : program.parts) { // small, for the time it takes
    part.instructions.clear();
    part.vectorPrograms.clear();
    part.laneMaps.clear();
  }
  ASSERT_TRUE(saveSystemProgram(program, path()));
  FileBytes file = read(path());
  for (size_t bit = 0; bit < 8 * file.size(); bit += bit < 1024 ? 1 : 7) {
    file[bit / 8] ^= uint8_t(1 << bit % 8);
    EXPECT_FALSE(parseSystemProgram(file, "t")) << bit;
    file[bit / 8] ^= uint8_t(1 << bit % 8);
  }
}

/// Damage under a right checksum: an error, or a program that is valid.
TEST_F(SystemFile, DamageUnderARightChecksumNeverCrashes) {
  ASSERT_TRUE(saveSystemProgram(severalParts(), path()));
  const FileBytes file = read(path());
  std::mt19937_64 random(11);
  int rejected = 0, valid = 0;
  for (int i = 0; i < 3000; ++i) {
    FileBytes damaged = file;
    // The tables stand at both ends, the parts between them.
    size_t near = std::min<size_t>(600, damaged.size());
    for (uint64_t flips = random() % 3 + 1; flips > 0; --flips) {
      size_t at = random() % near;
      at = random() % 2 ? at : damaged.size() - 1 - at;
      damaged[at] =
          random() % 2 ? uint8_t(random() >> 40) : uint8_t(damaged[at] + 1);
    }
    if (random() % 8 == 0) {
      damaged.resize(random() % damaged.size() / 8 * 8 + 16);
    }
    sum(damaged);
    auto program = parseSystemProgram(damaged, "t");
    rejected += !program;
    if (program) {
      ++valid;
      EXPECT_TRUE(validateSystemProgram(*program, node()))
          << "seed 11, round " << i;
    }
  }
  EXPECT_GT(rejected, 1000);
  EXPECT_GT(valid, 10);
}

TEST_F(SystemFile, BytesAtAnOddAddress) {
  ASSERT_TRUE(saveSystemProgram(severalParts(), path()));
  FileBytes file = read(path());
  file.insert(file.begin(), 0);
  EXPECT_TRUE(parseSystemProgram(std::span(file).subspan(1), "t"));
}

TEST_F(SystemFile, ErrorsSayWhatIsWrong) {
  ASSERT_TRUE(saveSystemProgram(severalParts(), path()));
  FileBytes file = read(path());
  EXPECT_EQ(parseError({}), "program `t`: expected a program file (\"ORRY\" at "
                            "byte 4), found another kind");
  FileBytes damaged = file;
  damaged.back() ^= 1;
  EXPECT_EQ(parseError(damaged),
            "program `t`: expected the checksum of its bytes, found another: "
            "the file is damaged or cut short");
  FileBytes broken = file;
  broken[0] = broken[1] = broken[2] = 0xff; // the root's offset
  sum(broken);
  EXPECT_EQ(parseError(broken),
            "program `t`: expected a well-formed FlatBuffer, found a broken "
            "one");
  // A part under the right outer checksum, but not its own.
  FileBytes part = file;
  const std::string text = "layer 0 attn_q";
  auto at = std::search(part.begin(), part.end(), text.begin(), text.end());
  ASSERT_NE(at, part.end());
  *at = 'L';
  sum(part);
  std::string message = parseError(part);
  EXPECT_TRUE(message.starts_with("program `t`: part ")) << message;
  EXPECT_TRUE(message.ends_with("the file is damaged or cut short")) << message;
}

//===-- Saving ------------------------------------------------------------===//

TEST_F(SystemFile, AnInvalidProgramLeavesTheOldFile) {
  ASSERT_TRUE(saveSystemProgram(severalParts(), path()));
  FileBytes before = read(path());
  SystemProgram program = severalParts();
  program.chips[0].start = -1;
  Status saved = saveSystemProgram(program, path());
  ASSERT_FALSE(saved);
  EXPECT_TRUE(
      saved.error().message.starts_with("program `" + path() + "`: chip "));
  EXPECT_EQ(saveSystemProgram({}, path()).error().message,
            "program `" + path() + "`: parts: expected at least 1, found 0");
  EXPECT_EQ(read(path()), before);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(SystemFile, PathsThatCannotBeUsed) {
  EXPECT_EQ(loadSystemProgram(path()).error().message,
            "program `" + path() + "`: cannot open: No such file or directory");
  EXPECT_FALSE(loadSystemProgram(folder));
  EXPECT_FALSE(saveSystemProgram(severalParts(), path("no/such/folder")));
  EXPECT_TRUE(files().empty());
}

} // namespace
} // namespace orrery
