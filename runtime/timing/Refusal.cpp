#include "runtime/timing/Refusal.h"

namespace orrery::runtime {

std::optional<Limit> limitOf(const Error &error) {
  struct Sign {
    const char *words;
    Limit limit;
  };
  // In this order: a refusal of the last kinds may quote the first.
  static constexpr Sign kSigns[] = {
      {", a plane has ", Limit::PlaneBuffer},
      {" activation vectors, a plane holds ", Limit::PlaneBuffer},
      {"activation buffer of ", Limit::PlaneBuffer},
      {"the buffer of a link of ", Limit::LinkBuffer},
      {" would run dry at tick ", Limit::QueueBuffer},
      {"no room for the program's text", Limit::Text},
      {"SRAM is too full", Limit::Text},
      {"no room on ", Limit::Place},
      {", a bank has ", Limit::Place},
      {" too many for the one bank of data slices", Limit::TileBank},
      {" too many for the data slices", Limit::DataSlices},
      {"does not fit ", Limit::Chip},
      {": chips hold KV caches in ", Limit::Unit},
      {" leave no room for a weight group ", Limit::Unit},
      {", a hemisphere has ", Limit::Unit},
      {" lanes, the chip has ", Limit::Unit},
      {", a vector of the chip has ", Limit::Unit},
      {" needs more streams than the chip's ", Limit::Unit},
      {"chips linked ", Limit::Cables},
      {" chips are linked ", Limit::Cables},
      {": expected at most ", Limit::Split},
  };
  for (const Sign &sign : kSigns) {
    if (error.message.find(sign.words) != std::string::npos) {
      return sign.limit;
    }
  }
  return std::nullopt;
}

bool isLackOfRoom(const Error &error) {
  auto limit = limitOf(error);
  return limit && *limit < Limit::Unit;
}

const char *limitName(Limit limit) {
  switch (limit) {
  case Limit::Place:
    return "one place in SRAM for all of a region";
  case Limit::TileBank:
    return "the bank of the data slices that KV caches go to";
  case Limit::DataSlices:
    return "the data slices";
  case Limit::Chip:
    return "the SRAM of a chip";
  case Limit::Text:
    return "SRAM for the text of programs";
  case Limit::PlaneBuffer:
    return "a plane's activation buffer";
  case Limit::LinkBuffer:
    return "a link's buffer";
  case Limit::QueueBuffer:
    return "a queue's instruction buffer";
  case Limit::Unit:
    return "a unit of the chip";
  case Limit::Cables:
    return "the cables";
  case Limit::Split:
    return "the split that was asked for";
  }
  return "";
}

} // namespace orrery::runtime
