// Instruction fetch: where a program's text lies, and the ticks at which the
// ICU brings it to the queues.
#pragma once

#include "compiler/schedule/PlaceText.h"

namespace orrery::schedule {

/// Adds to `program`, whose other instructions stand and stay where they are,
/// the Instructions regions of its text and the fetches that bring what the
/// queues do not hold before tick 0.
///
/// The ICU works through time once. At each tick it takes, of the chunks for
/// which their queues' buffers have room, the one that is needed first, and
/// fetches it from a place whose read port and bank nobody uses then: where a
/// chunk lies is settled together with when it is fetched. Early, because a
/// full buffer is what helps a queue over a stretch in which no port is free.
/// The ICU's own text goes first when little of it is left, and last otherwise.
/// Cost: O((fetches + stretches of ports) * banks).
///
/// The first `taken` vectors of room belong to other programs of the set
/// (PlaceText.h). Returns the vectors this one takes. Fails when there is no
/// room, which `lacksRoom` then says, or with the queue that would run dry, and
/// when.
Expected<int64_t> scheduleFetch(Program &program, const Machine &machine,
                                int64_t taken, bool *lacksRoom = nullptr);

} // namespace orrery::schedule
