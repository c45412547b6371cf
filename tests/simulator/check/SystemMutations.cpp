#include "tests/simulator/check/SystemMutations.h"

#include "tests/simulator/check/Board.h"
#include "tests/simulator/check/SystemMutationMakers.h"

namespace orrery::test {

const std::vector<SystemMutation> &systemMutations() {
  using S = BuiltSystem &;
  using R = Random &;
  static const std::vector<SystemMutation> kinds = {
      {"send later", {"arrival"}, true, sendLater},
      {"receive earlier", {"arrival"}, true, receiveEarlier},
      {"change width", {"match", "form"}, true, changeWidth},
      {"change count", {"match", "form"}, true, changeCount},
      {"drop a send", {"unsent", "match"}, true, dropSend},
      {"drop a receive", {"lost", "match"}, true, dropReceive},
      {"swap two sends",
       {"match"},
       true,
       [](S s, R r) { return swapBursts(s, r, false); }},
      {"swap two receives",
       {"match"},
       true,
       [](S s, R r) { return swapBursts(s, r, true); }},
      {"start a stage earlier", {"arrival"}, true, startStageEarlier},
      {"slower link", {"arrival"}, true, slowLink},
      {"slower crossing", {"arrival"}, true, slowCrossing},
      {"smaller buffer", {"full", "form"}, true, smallBuffer},
      {"port without cable", {"cable"}, true, noCable},
      {"cut a cable", {"cable"}, true, cutCable},
      {"port not there", {"binding"}, true, portNotThere},
      {"one port twice", {"binding"}, true, portTwice},
      {"link without port", {"binding"}, true, unbound},
      {"wrong cable", {"lost", "unsent", "match", "rank"}, true, wrongCable},
      {"swap two links", {"rank"}, false, swapLinks},
      {"shift a chip's start", {"start"}, true, shiftChip},
      {"rank twice", {"rank"}, true, rankTwice},
      {"swap two ranks", {"rank"}, false, swapRanks},
      {"stage gap", {"rank"}, true, stageGap},
      {"other part",
       {"rank", "system", "lost", "unsent", "binding"},
       true,
       otherPart},
      {"chip twice", {"system"}, true, chipTwice},
      {"chip not there", {"system"}, true, chipNotThere},
      {"part of another step", {"system"}, true, otherStep},
      {"end off by one", {"end"}, true, wrongEnd},
  };
  return kinds;
}

bool mutate(const SystemMutation &mutation, BuiltSystem &system,
            Random &random) {
  for (int draw = 0; draw < 100; ++draw) {
    BuiltSystem copy = system;
    if (!mutation.apply(copy, random)) {
      continue;
    }
    for (Program &part : copy.program.parts) {
      sortByTick(part.instructions);
    }
    if (copy.program == system.program && copy.machine == system.machine) {
      continue;
    }
    system = std::move(copy);
    return true;
  }
  return false;
}

} // namespace orrery::test
