// Rule rank, of links: all that a part says about other chips is relative to
// the own rank, so its link numbers lead from every rank to the same place. Of
// a group of n chips, number k < n sends to the rank k after and receives from
// the rank k before; numbers from n on send to the same rank of the next stage
// and receive from that of the stage before. In a ring of more than two, whose
// ranks send only to the next, numbers from 2 on may be those between stages.
#include "simulator/check/SystemExamination.h"

#include <algorithm>

namespace orrery::check {

namespace {

class RankCheck {
public:
  explicit RankCheck(SystemExamination &exam) : exam(exam) {
    for (const ChipProgram &c : exam.system.chips) {
      sizes.resize(std::max<size_t>(sizes.size(), c.stage + 1));
      ++sizes[c.stage];
    }
  }

  void run() {
    for (const Wire &w : exam.wires) {
      check(w.from, w.to, 1);
      check(w.to, w.from, -1);
    }
  }

private:
  static std::string place(int64_t stage, int64_t rank) {
    return "stage " + std::to_string(stage) + " rank " + std::to_string(rank);
  }
  /// `way`: 1 from the sender's end, -1 from the receiver's.
  void check(const LinkEnd &end, const LinkEnd &other, int way) {
    const ChipProgram &own = exam.chip(end), &found = exam.chip(other);
    int64_t size = sizes[own.stage], offset = way * int64_t(end.number);
    auto leads = [&](bool inGroup) {
      return std::pair(int64_t(own.stage) + (inGroup ? 0 : way),
                       inGroup ? (own.rank + size + offset) % size
                               : int64_t(own.rank));
    };
    std::pair<int64_t, int64_t> there(found.stage, found.rank);
    auto [stage, rank] = leads(end.number < size);
    bool ring = end.number >= 2 && size > 2;
    if (there == std::pair(stage, rank) || (ring && there == leads(false))) {
      return;
    }
    exam.fail(
        Rule::Rank, own.chip,
        "link " + std::to_string(end.number) + " of " +
            place(own.stage, own.rank) +
            (way > 0 ? " sends to " : " receives from ") +
            place(found.stage, found.rank) + ", chip " +
            std::to_string(found.chip) + "; expected " +
            (stage < 0 ? "nobody before the first stage" : place(stage, rank)));
  }

  SystemExamination &exam;
  std::vector<int64_t> sizes; ///< chips by stage
};

} // namespace

void checkRanks(SystemExamination &exam) { RankCheck(exam).run(); }

} // namespace orrery::check
