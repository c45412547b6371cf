// The makers behind SystemMutations.h.
#pragma once

#include "tests/simulator/check/SystemMutations.h"

namespace orrery::test {

// LinkMutations.cpp: what is sent and received, and when.
bool sendLater(BuiltSystem &s, Random &r);
bool receiveEarlier(BuiltSystem &s, Random &r);
bool changeWidth(BuiltSystem &s, Random &r);
bool changeCount(BuiltSystem &s, Random &r);
bool dropSend(BuiltSystem &s, Random &r);
bool dropReceive(BuiltSystem &s, Random &r);
bool swapBursts(BuiltSystem &s, Random &r, bool receives);
bool startStageEarlier(BuiltSystem &s, Random &r);
bool slowLink(BuiltSystem &s, Random &r);
bool slowCrossing(BuiltSystem &s, Random &r);
bool smallBuffer(BuiltSystem &s, Random &r);

// ChipMutations.cpp: which chip does what, and where its links lead.
bool noCable(BuiltSystem &s, Random &r);
bool cutCable(BuiltSystem &s, Random &r);
bool portNotThere(BuiltSystem &s, Random &r);
bool portTwice(BuiltSystem &s, Random &r);
bool unbound(BuiltSystem &s, Random &r);
bool wrongCable(BuiltSystem &s, Random &r);
bool swapLinks(BuiltSystem &s, Random &r);
bool shiftChip(BuiltSystem &s, Random &r);
bool rankTwice(BuiltSystem &s, Random &r);
bool swapRanks(BuiltSystem &s, Random &r);
bool stageGap(BuiltSystem &s, Random &r);
bool otherPart(BuiltSystem &s, Random &r);
bool chipTwice(BuiltSystem &s, Random &r);
bool chipNotThere(BuiltSystem &s, Random &r);
bool wrongEnd(BuiltSystem &s, Random &r);
bool otherStep(BuiltSystem &s, Random &r);

} // namespace orrery::test
