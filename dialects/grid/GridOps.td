// All of the grid dialect, for TableGen.
#ifndef ORRERY_DIALECTS_GRID_GRIDOPS_TD
#define ORRERY_DIALECTS_GRID_GRIDOPS_TD

include "dialects/grid/GridCollectives.td"
include "dialects/grid/GridPartials.td"
include "dialects/grid/GridStage.td"

#endif
