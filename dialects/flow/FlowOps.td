// All ops of the flow dialect, for TableGen.
#ifndef ORRERY_DIALECTS_FLOW_FLOWOPS_TD
#define ORRERY_DIALECTS_FLOW_FLOWOPS_TD

include "dialects/flow/FlowHost.td"
include "dialects/flow/FlowLinks.td"
include "dialects/flow/FlowMatrix.td"
include "dialects/flow/FlowMemory.td"
include "dialects/flow/FlowSwitch.td"
include "dialects/flow/FlowVector.td"

#endif
