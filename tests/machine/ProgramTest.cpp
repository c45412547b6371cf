#include "machine/Program.h"

#include "machine/Encoding.h"
#include "machine/Validate.h"
#include "tests/machine/RandomProgram.h"
#include "tests/machine/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>

namespace orrery {
namespace {

namespace fs = std::filesystem;
using FileBytes = std::vector<uint8_t>;

using ProgramFile = testing::TemporaryFolder;

Machine small() { return *loadMachine("lpu-small"); }
Program randomProgram(uint64_t seed, int count = 10) {
  Machine machine = small();
  return testing::RandomProgram(seed, machine).make(count);
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

//===-- Round trip --------------------------------------------------------===//

TEST_F(ProgramFile, RoundTrips) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program program = randomProgram(seed, 40);
    Status saved = saveProgram(program, path());
    ASSERT_TRUE(saved) << saved.error().message;
    auto loaded = loadProgram(path());
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(*loaded == program);
  }
  EXPECT_EQ(files(), std::vector<std::string>{"p.orrery"});
}

TEST_F(ProgramFile, KeepsTheOrderOfEqualTicks) {
  Program program = randomProgram(1, 0);
  for (uint8_t plane : {3, 0, 2, 0, 3}) {
    InstallOp install;
    install.plane = plane;
    install.high = 16;
    install.shape.length = 2;
    program.instructions.push_back({70, plane % 3u, install});
  }
  ASSERT_TRUE(saveProgram(program, path()));
  EXPECT_TRUE(*loadProgram(path()) == program);
}

TEST_F(ProgramFile, AProgramWithoutInstructions) {
  Program program = randomProgram(1, 0);
  program.vectorPrograms.clear();
  program.laneMaps.clear();
  program.regions.clear();
  program.locations.clear();
  ASSERT_TRUE(saveProgram(program, path()));
  EXPECT_TRUE(*loadProgram(path()) == program);
}

TEST_F(ProgramFile, SameProgramSameBytes) {
  ASSERT_TRUE(saveProgram(randomProgram(5), path("a")));
  ASSERT_TRUE(saveProgram(randomProgram(5), path("b")));
  EXPECT_EQ(read(path("a")), read(path("b")));
}

//===-- Damaged files -----------------------------------------------------===//

TEST_F(ProgramFile, EachPrefixIsAnError) {
  ASSERT_TRUE(saveProgram(randomProgram(2, 2), path()));
  FileBytes file = read(path());
  for (size_t size = 0; size < file.size(); ++size) {
    FileBytes cut(file.begin(), file.begin() + size);
    EXPECT_FALSE(parseProgram(cut, "t")) << size;
  }
  EXPECT_TRUE(parseProgram(file, "t"));
}

TEST_F(ProgramFile, EachFlippedByteIsAnError) {
  ASSERT_TRUE(saveProgram(randomProgram(2, 2), path()));
  FileBytes file = read(path());
  for (size_t i = 0; i < file.size(); ++i) {
    file[i] ^= uint8_t(1 << i % 8);
    EXPECT_FALSE(parseProgram(file, "t")) << i;
    file[i] ^= uint8_t(1 << i % 8);
  }
}

/// Damage under a right checksum: an error, or a program that is valid.
TEST_F(ProgramFile, DamageUnderARightChecksumNeverCrashes) {
  Machine machine = small();
  ASSERT_TRUE(saveProgram(randomProgram(3, 3), path()));
  const FileBytes file = read(path());
  std::mt19937_64 random(11);
  int rejected = 0;
  for (int i = 0; i < 3000; ++i) {
    FileBytes damaged = file;
    for (uint64_t flips = random() % 3 + 1; flips > 0; --flips) {
      damaged[random() % damaged.size()] = uint8_t(random() >> 40);
    }
    if (random() % 8 == 0) {
      damaged.resize(random() % damaged.size() / 8 * 8 + 16);
    }
    sum(damaged);
    auto program = parseProgram(damaged, "t");
    rejected += !program;
    if (program && program->machineJson == formatMachine(machine)) {
      EXPECT_TRUE(validateProgram(*program, machine)) << "seed 11, round " << i;
    }
  }
  EXPECT_GT(rejected, 1000);
}

TEST_F(ProgramFile, BytesAtAnOddAddress) {
  ASSERT_TRUE(saveProgram(randomProgram(2), path()));
  FileBytes file = read(path());
  file.insert(file.begin(), 0);
  EXPECT_TRUE(parseProgram(std::span(file).subspan(1), "t"));
}

std::string parseError(const FileBytes &file) {
  auto program = parseProgram(file, "t");
  return program ? "no error" : program.error().message;
}

TEST_F(ProgramFile, ErrorsSayWhatIsWrong) {
  ASSERT_TRUE(saveProgram(randomProgram(2), path()));
  FileBytes file = read(path());
  EXPECT_EQ(parseError({}), "program `t`: expected a program file (\"ORRY\" at "
                            "byte 4), found another kind");
  FileBytes damaged = file;
  damaged.back() ^= 1;
  EXPECT_EQ(parseError(damaged),
            "program `t`: expected the checksum of its bytes, found another: "
            "the file is damaged or cut short");
  FileBytes broken = file;
  broken[0] = 0xff; // the root's offset
  broken[1] = 0xff;
  broken[2] = 0xff;
  sum(broken);
  EXPECT_EQ(parseError(broken),
            "program `t`: expected a well-formed FlatBuffer, found a broken "
            "one");
}

TEST_F(ProgramFile, TheMachineInsideIsParsed) {
  Program program = randomProgram(2);
  program.machineJson[0] = '[';
  auto saved = saveProgram(program, path());
  ASSERT_FALSE(saved);
  EXPECT_TRUE(saved.error().message.starts_with(
      "program `" + path() + "`: machine `of the program`: parse error"));
  EXPECT_TRUE(files().empty());
}

//===-- Paths -------------------------------------------------------------===//

TEST_F(ProgramFile, PathsThatCannotBeLoaded) {
  EXPECT_EQ(loadProgram(path()).error().message,
            "program `" + path() + "`: cannot open: No such file or directory");
  EXPECT_FALSE(loadProgram(folder));
  EXPECT_FALSE(loadProgram("/dev/zero"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(loadProgram(path("pipe"))); // and returns
  std::ofstream(path("large")).put('x');
  fs::resize_file(path("large"), (uint64_t(1) << 28) + 1);
  EXPECT_EQ(loadProgram(path("large")).error().message,
            "program `" + path("large") +
                "`: expected at most 268435456 bytes, found 268435457");
}

TEST_F(ProgramFile, PathsThatCannotBeSaved) {
  Program program = randomProgram(2);
  EXPECT_FALSE(saveProgram(program, folder));
  EXPECT_FALSE(saveProgram(program, path("no/such/folder")));
  EXPECT_TRUE(files().empty());
}

TEST_F(ProgramFile, AnInvalidProgramLeavesTheOldFile) {
  ASSERT_TRUE(saveProgram(randomProgram(2), path()));
  FileBytes before = read(path());
  Program program = randomProgram(3);
  program.tokens = 0;
  EXPECT_EQ(saveProgram(program, path()).error().message,
            "program `" + path() + "`: tokens: expected 1 to 64, found 0");
  EXPECT_EQ(read(path()), before);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(ProgramFile, AFullDiskLeavesTheOldFile) {
  ASSERT_TRUE(saveProgram(randomProgram(2), path()));
  FileBytes before = read(path());
  // A limit on the size of files stands for the full disk.
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit tight{before.size() / 2, old.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tight);
  Status saved = saveProgram(randomProgram(3, 40), path());
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(saved.error().message,
            "program `" + path() + "`: cannot write: File too large");
  EXPECT_EQ(read(path()), before);
  EXPECT_EQ(files().size(), 1u);
}

//===-- Sizes and hashes --------------------------------------------------===//

TEST(ProgramBytes, ChargeAChunkOfEachQueue) {
  Machine machine = small();
  Program program = randomProgram(1, 0);
  program.vectorPrograms.clear();
  program.laneMaps.clear();
  EXPECT_EQ(programBytes(program, machine), 0);
  ReadOp read;
  read.slice = 4;
  read.width = 16;
  read.out.stop = 60;
  program.instructions.push_back({50, 0, read});
  EXPECT_EQ(programBytes(program, machine), 16 * 128);
  program.instructions.push_back({60, 0, SendOp()});
  EXPECT_EQ(programBytes(program, machine), 17 * 128);
  // 128 bytes are eight instructions.
  program.instructions.insert(program.instructions.end(), 7, {60, 0, SendOp()});
  EXPECT_EQ(programBytes(program, machine), 17 * 128);
  program.instructions.push_back({60, 0, SendOp()});
  EXPECT_EQ(programBytes(program, machine), 18 * 128);
}

TEST(ProgramBytes, ChargeTablesInWholeUnits) {
  Machine machine = small();
  Program program = randomProgram(1, 0);
  VectorProgram copy;
  copy.inputs = {StreamType::F32};
  copy.outputs = {{0, StreamType::F32}};
  program.vectorPrograms = {copy}; // 1 + 3 bytes
  program.laneMaps.assign(2, std::vector<uint16_t>(64));
  EXPECT_EQ(programBytes(program, machine), 16 + 2 * 128);
  program.vectorPrograms[0].steps.resize(3);
  EXPECT_EQ(programBytes(program, machine), 112 + 2 * 128);
}

TEST(StableHash, IsFnv1a64) {
  EXPECT_EQ(stableHash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(stableHash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(stableHash("foobar"), 0x85944171f73967e8u);
}

} // namespace
} // namespace orrery
