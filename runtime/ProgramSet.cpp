#include "runtime/ProgramSet.h"

#include <algorithm>

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

static bool lasts(const SramRegion &r) {
  return r.kind == RegionKind::Weight || r.kind == RegionKind::Table ||
         r.kind == RegionKind::Kv;
}

static std::string placeOf(const SramRegion &r) {
  return r.name + " in slice " + std::to_string(r.slice) + " + " +
         std::to_string(r.width) + ", bank " + std::to_string(r.bank) +
         ", addresses " + std::to_string(r.base) + " + " +
         std::to_string(r.length);
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

Status shareWhatLasts(const Program &first, const Program &other) {
  auto from = first.regions.begin(), end = first.regions.end();
  for (const SramRegion &r : other.regions) {
    if (!lasts(r)) {
      continue;
    }
    from = std::find_if(from, end, lasts);
    if (from == end || !(*from == r)) {
      return Error{nameOf(other) + " has " + placeOf(r) + ", where " +
                   nameOf(first) + " has " +
                   (from == end ? "nothing" : placeOf(*from))};
    }
    ++from;
  }
  from = std::find_if(from, end, lasts);
  return from == end ? Status(Success{})
                     : Status(Error{nameOf(other) + " lacks " + placeOf(*from) +
                                    " of " + nameOf(first)});
}

/// Holds a rule for two programs against each part of both.
static Status eachPart(const SystemProgram &a, const SystemProgram &b,
                       Status (*rule)(const Program &, const Program &)) {
  if (a.parts.size() != b.parts.size()) {
    return Error{nameOf(b.parts.front()) + " has " +
                 std::to_string(b.parts.size()) + " parts, where " +
                 nameOf(a.parts.front()) + " has " +
                 std::to_string(a.parts.size())};
  }
  for (size_t part = 0; part < a.parts.size(); ++part) {
    if (Status ok = rule(a.parts[part], b.parts[part]); !ok) {
      return a.parts.size() == 1 ? ok
                                 : Status(Error{"part " + std::to_string(part) +
                                                ": " + ok.error().message});
    }
  }
  return Success{};
}

Status standApart(const SystemProgram &a, const SystemProgram &b) {
  return eachPart(a, b, standApart);
}

Status shareWhatLasts(const SystemProgram &first, const SystemProgram &other) {
  return eachPart(first, other, shareWhatLasts);
}

static std::string placeOf(const ChipProgram &chip) {
  return "chip " + std::to_string(chip.chip) + " as rank " +
         std::to_string(chip.rank) + " of stage " + std::to_string(chip.stage) +
         " with part " + std::to_string(chip.part);
}

Status runAlike(const SystemProgram &first, const SystemProgram &other) {
  std::string name = nameOf(other.parts.front()),
              firstName = nameOf(first.parts.front());
  if (first.chips.size() != other.chips.size()) {
    return Error{name + " runs on " + std::to_string(other.chips.size()) +
                 " chips, " + firstName + " on " +
                 std::to_string(first.chips.size())};
  }
  for (size_t c = 0; c < first.chips.size(); ++c) {
    const ChipProgram &a = first.chips[c], &b = other.chips[c];
    if (a.chip != b.chip || a.part != b.part || a.stage != b.stage ||
        a.rank != b.rank) {
      return Error{name + " has " + placeOf(b) + ", where " + firstName +
                   " has " + placeOf(a)};
    }
  }
  return Success{};
}

} // namespace orrery::runtime
