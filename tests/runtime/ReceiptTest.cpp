// Every invariant is kept by a real step, and broken by a spoilt one.
#include "runtime/Receipt.h"

#include "tests/runtime/TinySession.h"

namespace orrery::runtime {
namespace {

class ReceiptOf : public testing::Test {
protected:
  void SetUp() override { open(tinyOptions()); }

  void open(const SessionOptions &options) {
    session = openTiny(options);
    std::vector<int32_t> ids = {1};
    auto records = session->read(ids);
    ASSERT_TRUE(records) << records.error().message;
    record = std::move(records->front());
  }

  /// Verdict of the invariant whose name starts so.
  Verdict verdict(const Receipt &receipt, std::string_view start) {
    for (const Invariant &i : receipt.invariants()) {
      if (i.name.starts_with(start)) {
        return i.verdict;
      }
    }
    ADD_FAILURE() << "no invariant " << start;
    return Verdict::Note;
  }

  Receipt receipt() {
    Receipt out(session->machine());
    out.addStep(*record.program, record.result);
    out.addPrograms(session->programs());
    return out;
  }

  /// What the first chip did.
  sim::StepResult &chip() { return record.result.simulated[0].result; }

  std::unique_ptr<Session> session;
  StepRecord record;
};

TEST_F(ReceiptOf, AStepKeepsThemAll) {
  Receipt all = receipt();
  BitCompare bits;
  bits.add(0, record.logits[0], record.logits[0]);
  all.addBits(bits);
  EXPECT_TRUE(all.ok());
  for (const Invariant &i : all.invariants()) {
    EXPECT_TRUE(i.verdict == Verdict::Ok || i.verdict == Verdict::Note)
        << i.name << ": " << i.figures;
  }
}

TEST_F(ReceiptOf, TheReferenceHasALineOnceItIsNamed) {
  const char *line = "GPU reference";
  for (const Invariant &i : receipt().invariants()) {
    EXPECT_FALSE(i.name.starts_with(line));
  }
  Receipt none = receipt();
  none.addNoReference("no GPU");
  EXPECT_EQ(verdict(none, line), Verdict::NotChecked);
  EXPECT_TRUE(none.ok());

  Receipt equal = receipt();
  BitCompare bits;
  bits.add(0, record.logits[0], record.logits[0]);
  bits.addChoice(0, 7, 7);
  equal.addReference(bits, "emulated on the host");
  EXPECT_EQ(verdict(equal, line), Verdict::Ok);
  EXPECT_TRUE(equal.ok());

  Receipt choice = receipt();
  bits.addChoice(1, 7, 8);
  choice.addReference(bits, "emulated on the host");
  EXPECT_EQ(verdict(choice, line), Verdict::Fail);

  Receipt differing = receipt();
  std::vector<float> other = record.logits[0];
  other[3] = -other[3];
  BitCompare different;
  different.add(0, record.logits[0], other);
  differing.addReference(different, "emulated on the host");
  EXPECT_EQ(verdict(differing, line), Verdict::Fail);
  EXPECT_FALSE(differing.ok());
}

TEST_F(ReceiptOf, BatchedDecode) {
  const char *line = "batched decode's logits = each sequence's alone";
  for (const Invariant &i : receipt().invariants()) {
    EXPECT_NE(i.name, line);
  }
  Receipt none = receipt();
  none.addNoBatch("no GPU");
  EXPECT_EQ(verdict(none, line), Verdict::NotChecked);
  EXPECT_TRUE(none.ok());

  BitCompare bits;
  bits.add(0, record.logits[0], record.logits[0]);
  Receipt equal = receipt();
  equal.addBatch(bits, "2 sequences");
  EXPECT_EQ(verdict(equal, line), Verdict::Ok);
  std::vector<float> other = record.logits[0];
  other[3] = -other[3];
  bits.add(1, record.logits[0], other);
  Receipt differing = receipt();
  differing.addBatch(bits, "2 sequences");
  EXPECT_EQ(verdict(differing, line), Verdict::Fail);
  EXPECT_FALSE(differing.ok());
}

TEST_F(ReceiptOf, BitsAreNotCheckedUntilCompared) {
  EXPECT_EQ(verdict(receipt(), "logits"), Verdict::NotChecked);
  EXPECT_TRUE(receipt().ok());
}

TEST_F(ReceiptOf, OneLateInstruction) {
  chip().executed[7] += 1;
  EXPECT_EQ(verdict(receipt(), "predicted"), Verdict::Fail);
  EXPECT_FALSE(receipt().ok());
}

TEST_F(ReceiptOf, OneCompletionThatWasNotPredicted) {
  EXPECT_NE(receipt().invariants()[0].figures.find(
                " completions, 0 not as predicted"),
            std::string::npos);
  chip().completed[7] += 1;
  EXPECT_EQ(verdict(receipt(), "predicted"), Verdict::Fail);
  std::string figures = receipt().invariants()[0].figures;
  EXPECT_NE(figures.find("1 not as predicted; first: instruction 7 ("),
            std::string::npos)
      << figures;
}

// All in turn: none is left out, and no two errors cancel.
TEST_F(ReceiptOf, EveryCompletionCounts) {
  for (Tick &tick : chip().completed) {
    tick -= 1;
  }
  std::string all =
      std::to_string(record.program->parts[0].instructions.size()) +
      " not as predicted";
  std::string figures = receipt().invariants()[0].figures;
  std::erase(figures, ',');
  EXPECT_NE(figures.find(all), std::string::npos) << figures;
}

TEST_F(ReceiptOf, SamplingIsNotedWithItsPrice) {
  Receipt sampled = receipt();
  auto readOut = logitsReadOut(session->machine(), *record.program);
  EXPECT_EQ(readOut.bytes, 1024 * 4); // 1,024 ids: 16 vectors of 64 lanes
  EXPECT_EQ(readOut.ticks, 16 * 4 * session->machine().timing.hostVector);
  sampled.addSampling(readOut);
  EXPECT_EQ(verdict(sampled, "logits for sampling"), Verdict::Note);
}

TEST_F(ReceiptOf, ALateEnd) {
  record.result.ticks += 1;
  EXPECT_EQ(verdict(receipt(), "predicted"), Verdict::Fail);
}

TEST_F(ReceiptOf, ABusyUnitThatDoesNotAddUp) {
  chip().counters.units[3].busyTicks += 1;
  EXPECT_EQ(verdict(receipt(), "busy"), Verdict::Fail);
}

TEST_F(ReceiptOf, MoreBusyThanTotal) {
  auto &unit = chip().counters.units[3];
  unit.busyTicks = uint64_t(chip().ticks) + 5;
  unit.idleTicks = uint64_t(0) - 5; // adds up, by wrapping
  EXPECT_EQ(verdict(receipt(), "busy"), Verdict::Fail);
}

TEST_F(ReceiptOf, DroppedAndMissingBytes) {
  chip().counters.readBytesTaken -= 64;
  EXPECT_EQ(verdict(receipt(), "bytes read"), Verdict::Fail);
  chip().counters.readBytesTaken += 64;
  chip().counters.readBytesDropped += 64;
  EXPECT_EQ(verdict(receipt(), "bytes read"), Verdict::Fail);
}

TEST_F(ReceiptOf, AResultThatNobodyTook) {
  ASSERT_EQ(verdict(receipt(), "bytes read"), Verdict::Ok);
  chip().counters.streams[1].droppedVectors = 1;
  EXPECT_EQ(verdict(receipt(), "bytes read"), Verdict::Fail);
}

TEST_F(ReceiptOf, AnEmbeddingThatCostNothing) {
  chip().counters.hostBytesIn = 0;
  EXPECT_EQ(verdict(receipt(), "embedding"), Verdict::Fail);
}

TEST_F(ReceiptOf, ProgramsThatShareTextOrBreakARule) {
  SystemProgram second = *record.program;
  const SystemProgram *both[] = {record.program, &second};
  Receipt shared(session->machine());
  shared.addPrograms(both);
  EXPECT_EQ(verdict(shared, "weights + tables"), Verdict::Fail);
  second.predictedTicks += 1;
  Receipt broken(session->machine());
  broken.addPrograms(both);
  EXPECT_EQ(verdict(broken, "static check"), Verdict::Fail);
}

TEST_F(ReceiptOf, ALogitThatDiffersInOneBit) {
  auto other = record.logits[0];
  other[5] = std::bit_cast<float>(std::bit_cast<uint32_t>(other[5]) ^ 1);
  BitCompare bits;
  bits.add(0, record.logits[0], other);
  EXPECT_EQ(bits.different(), 1u);
  EXPECT_EQ(bits.first()->element, 5u);
  Receipt all = receipt();
  all.addBits(bits);
  EXPECT_EQ(verdict(all, "logits"), Verdict::Fail);
}

TEST_F(ReceiptOf, AnotherTokenFromTheSameLogits) {
  BitCompare bits;
  bits.add(0, record.logits[0], record.logits[0]);
  bits.addChoice(0, 7, record.next());
  Receipt all = receipt();
  all.addBits(bits);
  EXPECT_EQ(verdict(all, "logits"), Verdict::Fail);
}

TEST_F(ReceiptOf, ComparingNothingProvesNothing) {
  Receipt all = receipt();
  all.addBits({});
  EXPECT_EQ(verdict(all, "logits"), Verdict::Fail);
  BitCompare shorter;
  shorter.add(0, record.logits[0], {});
  EXPECT_EQ(shorter.different(), record.logits[0].size());
}

/// The same on chips: two stages of two ranks.
class ReceiptOfChips : public ReceiptOf {
protected:
  void SetUp() override {
    SessionOptions options = tinyOptions();
    options.machine = "lpu-small-node";
    options.split = {2, 2};
    open(options);
    ASSERT_EQ(record.program->chips.size(), 4u);
  }
  sim::StepResult &lastChip() { return record.result.simulated[3].result; }
};

TEST_F(ReceiptOfChips, AStepKeepsThemAll) {
  for (const Invariant &i : receipt().invariants()) {
    EXPECT_NE(i.verdict, Verdict::Fail) << i.name << ": " << i.figures;
  }
  EXPECT_EQ(verdict(receipt(), "vectors sent"), Verdict::Ok);
  EXPECT_TRUE(receipt().ok());
}

TEST_F(ReceiptOfChips, OneInstructionOfOneChip) {
  lastChip().executed[7] += 1;
  EXPECT_EQ(verdict(receipt(), "predicted"), Verdict::Fail);
}

TEST_F(ReceiptOfChips, AChipThatEndsLateUnderAnother) {
  lastChip().ticks -= 1;
  EXPECT_EQ(verdict(receipt(), "predicted"), Verdict::Fail);
}

TEST_F(ReceiptOfChips, AVectorThatIsLostOnALink) {
  for (auto &link : lastChip().counters.links) {
    if (link.bytesIn > 0) {
      link.bytesIn -= 64;
      break;
    }
  }
  EXPECT_EQ(verdict(receipt(), "vectors sent"), Verdict::Fail);
}

// As many in all, but not the same over the same cable.
TEST_F(ReceiptOfChips, AVectorThatComesOverAnotherLink) {
  auto &links = lastChip().counters.links;
  links[0].bytesIn -= 64;
  links[1].bytesIn += 64;
  EXPECT_EQ(verdict(receipt(), "vectors sent"), Verdict::Fail);
}

TEST_F(ReceiptOfChips, SramOfEachPartCounts) {
  SystemProgram spoilt = *record.program;
  for (SramRegion &r : spoilt.parts.back().regions) {
    r.length += 1;
  }
  const SystemProgram *set[] = {&spoilt};
  Receipt out(session->machine());
  out.addPrograms(set);
  EXPECT_EQ(verdict(out, "weights + tables"), Verdict::Fail);
}

TEST_F(ReceiptOf, AssumedNumbersAreListed) {
  auto machine = loadMachine("lpu-v1");
  auto assumed = assumedNumbers(*machine);
  EXPECT_FALSE(assumed.empty());
  EXPECT_LT(assumed.size(), machine->numbers.size());
  for (const SourcedNumber &n : assumed) {
    EXPECT_EQ(n.source.rfind("assumed", 0), 0u) << n.path;
  }
  EXPECT_EQ(assumedStructure().size(), 8u);
}

} // namespace
} // namespace orrery::runtime
