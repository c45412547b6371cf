#include "tests/simulator/check/Mutations.h"

#include "tests/simulator/check/MutationMakers.h"

namespace orrery::test {

const std::vector<Mutation> &mutations() {
  using P = Program &;
  using M = const Machine &;
  using R = Random &;
  static const std::vector<Mutation> kinds = {
      {"tick + 1",
       {"operand", "dropped"},
       true,
       [](P p, M, R r) { return shift(p, r, 1); }},
      {"tick - 1",
       {"operand", "dropped", "form"},
       true,
       [](P p, M, R r) { return shift(p, r, -1); }},
      {"swap ticks",
       {"operand", "dropped", "form", "activation"},
       true,
       swapTicks},
      {"move stream", {"operand", "form"}, true, moveStream},
      {"change direction", {"operand", "form"}, true, turn},
      {"move consumer", {"operand", "dropped", "form"}, true, moveConsumer},
      {"shrink burst", {"operand"}, true, shrink},
      {"lengthen burst", {"operand", "dropped"}, true, lengthen},
      {"change stride", {"operand", "dropped"}, true, restride},
      {"change period", {"operand"}, true, rePeriod},
      {"stop short",
       {"operand"},
       true,
       [](P p, M m, R r) { return moveStop(p, m, r, -1); }},
      {"stop far",
       {"stop", "conflict"},
       false,
       [](P p, M m, R r) { return moveStop(p, m, r, 1); }},
      {"change width", {"operand"}, true, narrow},
      {"drop instruction", {"operand", "dropped"}, true, drop},
      {"duplicate instruction", {"port"}, true, duplicate},
      {"swap bank", {"address", "lifetime", "kind"}, true, swapBank},
      {"move address", {"address", "lifetime", "kind"}, true, moveAddress},
      {"overlap regions", {"overlap"}, true, overlap},
      {"shorten region", {"address"}, true, shortenRegion},
      {"shorten lifetime", {"lifetime"}, true, shortenLife},
      {"write a constant", {"kind"}, true, constantWritten},
      {"read uninitialised", {"uninitialised"}, true, uninitialised},
      {"change plane",
       {"operand", "dropped", "form", "stop", "port", "activation"},
       true,
       changePlane},
      {"change format",
       {"tile", "activation", "type", "form"},
       true,
       changeFormat},
      {"change columns", {"tile", "form"}, true, changeColumns},
      {"reduce rows", {"operand", "dropped"}, true, reduceRows},
      {"activation base", {"activation"}, true, changeBase},
      {"host too early", {"host"}, true, earlyHost},
      {"end + 1",
       {"end"},
       true,
       [](P p, M, R) { return ++p.predictedTicks > 0; }},
      {"end - 1",
       {"end"},
       true,
       [](P p, M, R) { return --p.predictedTicks > 0; }},
      {"no room for text", {"capacity"}, false, noRoomForText},
      {"longer context", {"context"}, false, longContext},
      {"drop a fetch", {"dry", "fetch"}, true, dropFetch},
      {"delay a fetch", {"dry"}, true, delayFetch},
      {"fetch for another", {"fetch"}, true, fetchForAnother},
      {"fetch from elsewhere", {"fetch"}, true, fetchElsewhere},
      {"fetch into a full buffer", {"fetch"}, true, fetchIntoFull},
      {"shrink the buffer", {"fetch", "dry"}, true, shrinkBuffer},
  };
  return kinds;
}

bool mutate(const Mutation &mutation, Program &program, Machine &machine,
            Random &random) {
  for (int draw = 0; draw < 200; ++draw) {
    Program copy = program;
    Machine other = machine;
    if (!mutation.apply(copy, other, random)) {
      continue;
    }
    sortByTick(copy.instructions);
    if (copy == program && other == machine) {
      continue;
    }
    program = std::move(copy);
    machine = std::move(other);
    return true;
  }
  return false;
}

} // namespace orrery::test
