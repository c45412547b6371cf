#include "compiler/allocate/SpreadSpill.h"

#include <map>

namespace orrery::allocate {

// A region that spills is read at a lower rate, so it should be no great part
// of what its plane has to read for its matrix: of so many regions a side, one
// at most.
static constexpr int64_t kRegions = 4;

static double vectorsOf(const Request &request) {
  return double(request.width) * request.length;
}

bool spreadSpill(const Machine &machine, const ChipLayout &layout,
                 std::vector<Request> &requests) {
  double room = double(layout.groups) * layout.groupWidth * machine.sram.banks *
                machine.sram.vectorsPerBank;
  bool any = false;
  for (int32_t side : {0, 1}) {
    std::map<std::string, int64_t> regions; // of a matrix
    double all = 0, large = 0;
    for (const Request &r : requests) {
      if (r.weights && r.side == side) {
        all += vectorsOf(r);
        ++regions[r.name];
      }
    }
    auto maySpill = [&](const Request &r) {
      return r.weights && r.side == side && r.spillWidth > 0 &&
             regions[r.name] >= kRegions;
    };
    for (const Request &r : requests) {
      large += maySpill(r) ? vectorsOf(r) : 0;
    }
    if (all <= room || large < all - room) {
      continue;
    }
    // What is due so far of the share that does not fit.
    double share = (all - room) / large, due = 0;
    for (Request &r : requests) {
      if (maySpill(r)) {
        due += vectorsOf(r) * share;
        r.spills = due >= vectorsOf(r) / 2;
        due -= r.spills ? vectorsOf(r) : 0;
        any |= r.spills;
      }
    }
  }
  return any;
}

} // namespace orrery::allocate
