// Rules system, start, rank and end, over chips: every index means something,
// and the chips of a stage are one tensor-parallel group. Not here: whether
// links lead where the ranks say (Ranks.cpp).
#include "simulator/check/SystemExamination.h"

#include <algorithm>
#include <tuple>

namespace orrery::check {

namespace {

/// As for the ticks of a part (Form.cpp): no sum comes near an overflow.
constexpr Tick kMaxStart = Tick(1) << 40;

std::string agreement(const Program &p) {
  return p.modelName + " (" + std::to_string(p.modelHash) + "), " +
         std::to_string(p.tokens) + " tokens, bucket " +
         std::to_string(p.bucket) + ", context " + std::to_string(p.context);
}

class ChipsCheck {
public:
  explicit ChipsCheck(SystemExamination &exam)
      : exam(exam), parts(exam.system.parts), chips(exam.system.chips) {}

  bool run() {
    if (chips.empty()) {
      fail(-1, "no chip runs anything");
    }
    std::vector<bool> used(parts.size());
    int32_t before = -1;
    for (const ChipProgram &c : chips) {
      check(c, before);
      before = std::max(before, c.chip);
      if (c.part < parts.size()) {
        used[c.part] = true;
      }
    }
    for (size_t p = 0; p < parts.size(); ++p) {
      if (!used[p]) {
        fail(-1, "no chip runs part " + std::to_string(p));
      } else if (agreement(parts[p]) != agreement(parts[0])) {
        fail(-1, "expected all parts of one step: part 0 is of " +
                     agreement(parts[0]) + ", part " + std::to_string(p) +
                     " of " + agreement(parts[p]));
      }
    }
    return ok;
  }

private:
  void fail(int32_t chip, const std::string &found) {
    exam.fail(Rule::System, chip, found);
    ok = false;
  }
  void check(const ChipProgram &c, int32_t before) {
    if (c.chip < 0 || c.chip >= exam.machine.system.chips) {
      fail(c.chip, "the system has chips 0-" +
                       std::to_string(exam.machine.system.chips - 1));
    } else if (c.chip <= before) {
      fail(c.chip, "it follows chip " + std::to_string(before) +
                       "; expected each chip once, ascending");
    }
    if (c.part >= parts.size()) {
      fail(c.chip, "it runs part " + std::to_string(c.part) + " of " +
                       std::to_string(parts.size()));
    }
    if (c.start < 0 || c.start > kMaxStart) {
      fail(c.chip,
           "it starts at tick " + std::to_string(c.start) + " of the step");
    }
    if (c.links.size() > size_t(std::max(exam.machine.link.ports, 0))) {
      fail(c.chip, "it names " + std::to_string(c.links.size()) +
                       " links; a chip has " +
                       std::to_string(exam.machine.link.ports));
    }
  }

  SystemExamination &exam;
  const std::vector<Program> &parts;
  const std::vector<ChipProgram> &chips;
  bool ok = true;
};

/// One stage's chips, by rank. False: its ranks mean nothing.
bool checkStage(SystemExamination &exam,
                const std::vector<const ChipProgram *> &group) {
  bool ranked = true;
  std::string stage = "stage " + std::to_string(group[0]->stage);
  for (size_t r = 0; r < group.size(); ++r) {
    const ChipProgram &c = *group[r], &first = *group[0];
    std::string other = "chip " + std::to_string(first.chip) + " of " + stage;
    if (c.rank != r) {
      ranked = false;
      exam.fail(Rule::Rank, c.chip,
                "expected ranks 0-" + std::to_string(group.size() - 1) +
                    " in " + stage + ", each once; found rank " +
                    std::to_string(c.rank) + " instead of " +
                    std::to_string(r));
    }
    if (c.part != first.part) {
      exam.fail(Rule::Rank, c.chip,
                "it runs part " + std::to_string(c.part) + ", " + other +
                    " part " + std::to_string(first.part));
    }
    if (c.start != first.start) {
      exam.fail(Rule::Start, c.chip,
                "it starts at tick " + std::to_string(c.start) + ", " + other +
                    " at tick " + std::to_string(first.start));
    }
  }
  return ranked;
}

} // namespace

bool checkChips(SystemExamination &exam) { return ChipsCheck(exam).run(); }

bool checkStages(SystemExamination &exam) {
  std::vector<const ChipProgram *> all;
  for (const ChipProgram &c : exam.system.chips) {
    all.push_back(&c);
  }
  std::sort(all.begin(), all.end(),
            [](const ChipProgram *a, const ChipProgram *b) {
              return std::tuple(a->stage, a->rank, a->chip) <
                     std::tuple(b->stage, b->rank, b->chip);
            });
  bool ranked = true;
  uint32_t stages = 0;
  for (auto from = all.begin(); from != all.end(); ++stages) {
    uint32_t stage = (*from)->stage;
    if (stage != stages) {
      exam.fail(Rule::Rank, (*from)->chip,
                "it is of stage " + std::to_string(stage) +
                    ", but no chip is of stage " + std::to_string(stages));
      return false;
    }
    auto to = std::find_if(from, all.end(), [&](const ChipProgram *c) {
      return c->stage != stage;
    });
    ranked &= checkStage(exam, {from, to});
    from = to;
  }
  return ranked;
}

void checkSystemEnd(SystemExamination &exam) {
  const ChipProgram *last = nullptr;
  for (uint32_t i = 0; i < exam.system.chips.size(); ++i) {
    const ChipProgram &c = exam.system.chips[i];
    if (!exam.isFormed(i)) {
      return; // it has no end
    }
    Tick end = c.start + exam.report.parts[c.part].endTick;
    if (!last || end > exam.report.endTick) {
      last = &c;
      exam.report.endTick = end;
    }
  }
  if (exam.report.endTick != exam.system.predictedTicks) {
    std::string by = last ? ", that of chip " + std::to_string(last->chip) : "";
    exam.fail(Rule::End, -1,
              "the system predicts " +
                  std::to_string(exam.system.predictedTicks) +
                  " ticks, the step ends at tick " +
                  std::to_string(exam.report.endTick) + by);
  }
}

} // namespace orrery::check
