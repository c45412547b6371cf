#include "machine/Encoding.h"

#include "machine/Validate.h"
#include "tests/machine/RandomProgram.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>

namespace orrery {
namespace {

using Bytes8 = std::vector<uint8_t>;

Bytes8 encoded(const Instruction &instruction, Tick previous = 0) {
  Bytes8 text;
  encode(instruction, previous, text);
  return text;
}

Instruction at(Tick tick, const Operation &operation) {
  return {tick, 0, operation};
}

/// Programs of random instructions, on each chip.
class Encoding : public ::testing::TestWithParam<uint64_t> {
protected:
  void
  forEachInstruction(int count,
                     const std::function<void(const Instruction &)> &body) {
    for (const std::string preset : {"lpu-small", "lpu-v1", "lp30"}) {
      Machine machine = *loadMachine(preset);
      Program program = testing::RandomProgram(GetParam(), machine).make(count);
      Status valid = validateProgram(program, machine);
      ASSERT_TRUE(valid) << valid.error().message;
      for (Instruction instruction : program.instructions) {
        SCOPED_TRACE(preset + ", seed " + std::to_string(GetParam()) + ", " +
                     mnemonic(instruction.operation) + " at tick " +
                     std::to_string(instruction.tick));
        instruction.location = 0; // not encoded
        body(instruction);
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, Encoding, ::testing::Range<uint64_t>(1, 9));

TEST_P(Encoding, DecodeIsTheInverse) {
  forEachInstruction(300, [](const Instruction &instruction) {
    QueueId queue = queueOf(instruction.operation);
    for (Tick previous : {Tick(0), instruction.tick / 2, instruction.tick}) {
      Bytes8 text = encoded(instruction, previous);
      text.push_back(0x55); // of the next instruction
      std::span<const uint8_t> rest = text;
      auto decoded = decode(queue, previous, rest);
      ASSERT_TRUE(decoded) << decoded.error().message;
      EXPECT_EQ(*decoded, instruction);
      EXPECT_EQ(rest.size(), 1u);
    }
  });
}

TEST_P(Encoding, EachPrefixIsAnError) {
  forEachInstruction(20, [](const Instruction &instruction) {
    Bytes8 text = encoded(instruction);
    for (size_t size = 0; size < text.size(); ++size) {
      Bytes8 cut(text.begin(), text.begin() + size); // for ASan
      std::span<const uint8_t> rest = cut;
      EXPECT_FALSE(decode(queueOf(instruction.operation), 0, rest));
      EXPECT_EQ(rest.size(), size);
    }
  });
}

/// What decodes after damage encodes to the same bytes again: no instruction
/// has two encodings.
TEST_P(Encoding, EachBitFlipIsAnErrorOrAnotherInstruction) {
  forEachInstruction(20, [](const Instruction &instruction) {
    QueueId queue = queueOf(instruction.operation);
    Bytes8 text = encoded(instruction);
    for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
      Bytes8 damaged = text;
      damaged[bit / 8] ^= uint8_t(1 << bit % 8);
      std::span<const uint8_t> rest = damaged;
      auto decoded = decode(queue, 0, rest);
      if (decoded) {
        EXPECT_NE(*decoded, instruction);
        damaged.resize(damaged.size() - rest.size());
        EXPECT_EQ(encoded(*decoded), damaged);
      }
    }
  });
}

TEST_P(Encoding, RandomBytesNeverCrash) {
  std::mt19937_64 random(GetParam());
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  for (int i = 0; i < 20'000; ++i) {
    QueueId queue{QueueId::Kind(random() % kQueueKinds),
                  uint16_t(random() % 99)};
    Bytes8 text(random() % 64);
    for (uint8_t &byte : text) {
      byte = uint8_t(random() >> 32) & (random() % 2 ? 0x7f : 0xff);
    }
    if (!text.empty()) {
      text[0] = uint8_t(int(queue.kind) + 1);
    }
    Bytes8 whole = text;
    std::span<const uint8_t> rest = text;
    if (auto decoded = decode(queue, 0, rest)) {
      whole.resize(whole.size() - rest.size());
      EXPECT_EQ(encoded(*decoded), whole);
    }
  }
}

TEST_P(Encoding, FitsThirtyTwoBytesOnAverage) {
  std::map<std::string, std::pair<size_t, size_t>> sizes; // sum, count
  forEachInstruction(300, [&](const Instruction &instruction) {
    auto &[sum, count] = sizes[mnemonic(instruction.operation)];
    sum += encoded(instruction, instruction.tick - 20).size();
    ++count;
  });
  for (const auto &[name, size] : sizes) {
    EXPECT_LE(size.first, 32 * size.second) << name;
  }
}

//===-- Text that is not an instruction -----------------------------------===//

std::string decodeError(QueueId queue, Bytes8 text, Tick previous = 0) {
  std::span<const uint8_t> rest = text;
  auto decoded = decode(queue, previous, rest);
  return decoded ? "no error" : decoded.error().message;
}

constexpr QueueId kSend{QueueId::Kind::Send, 0};
constexpr QueueId kLoad{QueueId::Kind::Load, 1};

TEST(EncodingErrors, Bytes) {
  // Opcode, delta, presence of shape.length, length.
  EXPECT_EQ(decodeError(kSend, {9, 5, 1, 7}), "no error");
  EXPECT_EQ(decodeError(kSend, {}),
            "encoded instruction: byte 0: expected another byte, found the "
            "end");
  EXPECT_EQ(decodeError(kSend, {8, 5, 1, 7}),
            "encoded instruction: byte 1: expected the opcode of the queue, "
            "found another");
  EXPECT_EQ(decodeError(kSend, {9, 5, 1, 1}), // the default
            "encoded instruction: byte 4: expected a field, found its default, "
            "or one out of range");
  EXPECT_EQ(decodeError(kSend, {9, 0x85, 0, 0}), // 5 in two bytes
            "encoded instruction: byte 3: expected a varint of 64 bits, found "
            "a longer one");
  EXPECT_EQ(decodeError(kSend, {9, 5, 0x40}),
            "encoded instruction: byte 3: expected presence bits of fields, "
            "found more of them");
}

TEST(EncodingErrors, NumbersOutOfRange) {
  Bytes8 wide{9, 5, 1, 0x80, 0x80, 0x80, 0x80, 0x10}; // 2^32
  EXPECT_NE(decodeError(kSend, wide), "no error");
  Bytes8 most{9, 5, 1, 0xff, 0xff, 0xff, 0xff, 0x0f}; // 2^32 - 1
  EXPECT_EQ(decodeError(kSend, most), "no error");
  // load.f16 is field 4: a bool of 2.
  EXPECT_EQ(decodeError(kLoad, {3, 0, 0x10, 1}), "no error");
  EXPECT_NE(decodeError(kLoad, {3, 0, 0x10, 2}), "no error");
  // install.format is field 4: there are formats 0 to 3.
  QueueId install{QueueId::Kind::Install, 0};
  EXPECT_EQ(decodeError(install, {4, 0, 0x10, 3}), "no error");
  EXPECT_NE(decodeError(install, {4, 0, 0x10, 4}), "no error");
}

TEST(EncodingErrors, TickPastTheEndOfTime) {
  Tick most = std::numeric_limits<Tick>::max();
  EXPECT_EQ(decodeError(kSend, {9, 0, 0}, most), "no error");
  EXPECT_EQ(decodeError(kSend, {9, 1, 0}, most),
            "encoded instruction: byte 2: expected a tick, found one out of "
            "range");
}

TEST(EncodingErrors, UnitsThatNoOperationCanName) {
  EXPECT_NE(decodeError({QueueId::Kind::Load, 256}, {3, 0, 0}), "no error");
  EXPECT_EQ(decodeError({QueueId::Kind::Send, 255}, {9, 0, 0}), "no error");
  EXPECT_NE(decodeError({QueueId::Kind::Send, 256}, {9, 0, 0}), "no error");
  EXPECT_NE(decodeError({QueueId::Kind::Receive, 256}, {8, 0, 0}), "no error");
  EXPECT_NE(decodeError({QueueId::Kind::Vector, 1}, {6, 0, 0}), "no error");
  EXPECT_EQ(decodeError({QueueId::Kind::Read, 256}, {1, 0, 0}), "no error");
  EXPECT_NE(decodeError({QueueId::Kind::Fetch, 1}, {10, 0, 0}), "no error");
}

TEST(EncodingErrors, QueuesThatThereAreNot) {
  QueueId icu{QueueId::Kind::Fetch, 0};
  // fetch.target.kind is field 2: there are kinds 0 to 9.
  EXPECT_EQ(decodeError(icu, {10, 0, 4, 9}), "no error");
  EXPECT_NE(decodeError(icu, {10, 0, 4, 10}), "no error");
}

//===-- Sizes and names ---------------------------------------------------===//

ReadOp weightRead() {
  ReadOp read;
  read.slice = 10;
  read.width = 16;
  read.address.base = 3000;
  read.out = {{Direction::West, 16}, 0};
  read.shape = {22, 1, 150, 22};
  read.address.extent = {3300, 1, 1};
  read.address.step = {1, 0, 0};
  return read;
}

TEST(EncodedBytes, TypicalInstructionsFitOneUnit) {
  Machine machine = *loadMachine("lpu-v1");
  EXPECT_EQ(encodedBytes(at(120, weightRead()), 0, machine), 16);
  InstallOp install;
  install.high = 320;
  install.shape = {22, 1, 150, 22};
  EXPECT_EQ(encodedBytes(at(120, install), 0, machine), 16);
  MatmulOp matmul;
  matmul.high = 320;
  matmul.tiles = 10;
  matmul.inner = 15;
  matmul.period = 22;
  matmul.stop = 47;
  EXPECT_EQ(encodedBytes(at(200, matmul), 0, machine), 16);
  FetchOp fetch{{QueueId::Kind::Receive, 11}, 87, 1, 4094};
  EXPECT_EQ(encodedBytes(at(100'000, fetch), 0, machine), 16);
}

TEST(EncodedBytes, AreThoseOfTheDeltaAndTheRest) {
  for (Tick delta : {Tick(0), Tick(127), Tick(128), Tick(1) << 14,
                     (Tick(1) << 21) - 1, Tick(1) << 47}) {
    EXPECT_EQ(Bytes(encoded(at(delta, weightRead())).size()),
              encodedDelta(delta) + encodedRest(weightRead()))
        << delta;
  }
}

TEST(EncodedBytes, AreWholeUnits) {
  Machine machine = *loadMachine("lpu-v1");
  size_t size = encoded(at(120, weightRead())).size();
  for (int32_t unit : {8, 11, 16, 64}) {
    machine.instructionBytes = unit;
    Bytes bytes = encodedBytes(at(120, weightRead()), 0, machine);
    EXPECT_EQ(bytes % unit, 0);
    EXPECT_GE(bytes, Bytes(size));
    EXPECT_LT(bytes, Bytes(size) + unit);
  }
}

TEST(Queues, OfOperations) {
  WriteOp write;
  write.slice = 300;
  write.width = 4;
  EXPECT_EQ(queueOf(write), (QueueId{QueueId::Kind::Write, 300}));
  MatmulOp matmul;
  matmul.plane = 3;
  EXPECT_EQ(queueOf(matmul), (QueueId{QueueId::Kind::Matmul, 3}));
  PermuteOp permute;
  permute.sxm = 1;
  EXPECT_EQ(queueOf(permute), (QueueId{QueueId::Kind::Permute, 1}));
  EXPECT_EQ(queueOf(VectorOp()), (QueueId{QueueId::Kind::Vector, 0}));
  SendOp send;
  send.link = 7;
  EXPECT_EQ(queueOf(send), (QueueId{QueueId::Kind::Send, 7}));
  EXPECT_EQ(queueOf(ReceiveOp()), (QueueId{QueueId::Kind::Receive, 0}));
  FetchOp fetch;
  fetch.target = {QueueId::Kind::Load, 3}; // whose text it is
  EXPECT_EQ(queueOf(fetch), (QueueId{QueueId::Kind::Fetch, 0}));
}

TEST(Queues, Names) {
  const char *names[] = {"read slice 5",   "write slice 5",
                         "load plane 5",   "install plane 5",
                         "matmul plane 5", "vxm",
                         "sxm 5",          "link in 5",
                         "link out 5",     "icu"};
  for (int kind = 0; kind < kQueueKinds; ++kind) {
    EXPECT_EQ(queueName({QueueId::Kind(kind), 5}), names[kind]);
  }
  EXPECT_EQ(queueName({QueueId::Kind::Receive, kHostLink}), "host in");
  EXPECT_EQ(queueName({QueueId::Kind::Send, kHostLink}), "host out");
}

TEST(Queues, Mnemonics) {
  EXPECT_STREQ(mnemonic(ReadOp()), "read");
  EXPECT_STREQ(mnemonic(VectorOp()), "vector");
  EXPECT_STREQ(mnemonic(SendOp()), "send");
  EXPECT_STREQ(mnemonic(FetchOp()), "fetch");
}

} // namespace
} // namespace orrery
