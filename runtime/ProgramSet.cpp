#include "runtime/ProgramSet.h"

namespace orrery::runtime {

static bool meet(const SramRegion &a, const SramRegion &b) {
  return a.bank == b.bank && a.slice < b.slice + b.width &&
         b.slice < a.slice + a.width && a.base < b.base + b.length &&
         b.base < a.base + a.length;
}

static std::string nameOf(const Program &program) {
  return "the program for " + std::to_string(program.tokens) +
         " tokens up to position " + std::to_string(program.bucket);
}

/// `text` of one program on the regions of the other.
static Status keepsOff(const Program &a, const Program &b) {
  for (const SramRegion &text : a.regions) {
    if (text.kind != RegionKind::Instructions) {
      continue;
    }
    for (const SramRegion &r : b.regions) {
      if (meet(text, r)) {
        return Error{"SRAM is too full for two programs: the text of " +
                     nameOf(a) + " (" + text.name + ") would lie on " + r.name +
                     " of " + nameOf(b)};
      }
    }
  }
  return Success{};
}

Status standApart(const Program &a, const Program &b) {
  Status ok = keepsOff(a, b);
  return ok ? keepsOff(b, a) : ok;
}

} // namespace orrery::runtime
