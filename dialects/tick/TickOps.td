// All of the tick dialect, for TableGen.
#ifndef ORRERY_DIALECTS_TICK_TICKOPS_TD
#define ORRERY_DIALECTS_TICK_TICKOPS_TD

include "dialects/tick/TickProgram.td"
include "dialects/tick/TickTables.td"
include "dialects/tick/TickMemory.td"
include "dialects/tick/TickMatrix.td"
include "dialects/tick/TickVector.td"
include "dialects/tick/TickHost.td"
include "dialects/tick/TickFetch.td"

#endif
