#include "compiler/allocate/Allocator.h"

#include <algorithm>
#include <bit>

namespace orrery::allocate {

Allocator::Allocator(const Machine &machine, const ChipLayout &layout)
    : layout(layout), banks(uint32_t(machine.sram.banks)),
      depth(uint32_t(machine.sram.vectorsPerBank)),
      spaces(size_t(machine.geometry().slices()) * banks) {}

// The groups of their side in turn, first bank first, and the data slices,
// which come first only for what is to spill.
void Allocator::weightCandidates(const Request &request,
                                 std::vector<Candidate> &out) const {
  if (request.spills) {
    spillCandidates(request, out);
  }
  for (int32_t k = 0; k < layout.groups; ++k) {
    int32_t group = (k + int32_t(request.turn)) % layout.groups;
    for (uint32_t bank = 0; bank < banks; ++bank) {
      out.push_back({uint32_t(layout.groupFirst(request.side, group)), bank,
                     request.width, request.length});
    }
  }
  if (!request.spills) {
    spillCandidates(request, out);
  }
}

// The data slices from the last bank down, over fewer slices than a group has
// and so at a lower install rate.
void Allocator::spillCandidates(const Request &request,
                                std::vector<Candidate> &out) const {
  // One matrix spills into one bank of a side, so that its result, written
  // while the weights are read, finds the other one free; into a second bank
  // only where it leaves room for the result.
  auto chosen = spillBank.find({request.name, request.side});
  auto first = uint32_t(layout.dataFirst(request.side));
  for (uint32_t bank = banks; request.spillWidth > 0 && bank-- > 0;) {
    if (chosen == spillBank.end() || chosen->second == bank) {
      out.push_back({first, bank, request.spillWidth, request.spillLength});
    }
  }
  for (uint32_t bank = banks; request.narrowWidth > 0 && bank-- > 0;) {
    if (chosen != spillBank.end() && chosen->second != bank) {
      out.push_back({first, bank, request.narrowWidth, request.narrowLength});
    }
  }
}

// Data: every aligned group of slices; KV and tables (alive for ever) from the
// last bank down, temporaries from the first up, so that they seldom share one.
std::vector<Allocator::Candidate>
Allocator::candidates(const Request &request) {
  std::vector<Candidate> out;
  if (request.weights) {
    weightCandidates(request, out);
    return out;
  }
  bool lasting = request.dies == kForever;
  for (uint32_t k = 0; k < banks; ++k) {
    uint32_t bank = lasting ? banks - 1 - k : k;
    for (bool preferred : {true, false}) {
      dataCandidates(request, bank, preferred, out);
    }
  }
  ++turn;
  return out;
}

// Of one bank, on the preferred side or on the other. Tiles must lie on their
// side; a temporary's vectors may also cross the VXM on their way to a unit.
void Allocator::dataCandidates(const Request &request, uint32_t bank,
                               bool preferred,
                               std::vector<Candidate> &out) const {
  std::vector<Candidate> level;
  bool lasting = request.dies == kForever;
  for (int32_t side : {0, 1}) {
    bool matches = request.side < 0 || side == request.side;
    if (matches != preferred || (!preferred && lasting)) {
      continue;
    }
    auto first = uint32_t(layout.dataFirst(side));
    // Buffers stand on multiples of their width, tiles anywhere.
    uint32_t step = request.width <= 4 ? request.width : 1;
    for (uint32_t s = 0; s + request.width <= uint32_t(layout.dataSlices);
         s += step) {
      level.push_back({first + s, bank, request.width, request.length});
    }
  }
  if (!level.empty()) {
    std::rotate(level.begin(),
                level.begin() + std::ptrdiff_t(turn % level.size()),
                level.end());
  }
  out.insert(out.end(), level.begin(), level.end());
}

bool Allocator::meets(const Request &request,
                      const Candidate &candidate) const {
  for (const Request::Neighbour &n : request.neighbours) {
    if (n.request >= places.size()) {
      continue; // placed later, and it will look at us
    }
    const Place &other = places[n.request];
    bool sameSlices = candidate.slice < other.slice + other.width &&
                      other.slice < candidate.slice + candidate.width;
    if (sameSlices && (n.theirs == n.ours || candidate.bank == other.bank)) {
      return true;
    }
  }
  return false;
}

// Temporaries leave the top quarter of the free room to the text of the set's
// programs (PlaceText.h), all but those that find no other place.
uint32_t Allocator::limitFor(const Request &request,
                             const Candidate &candidate) const {
  uint32_t limit = depth;
  if (request.dies == kForever || !keepTop) {
    return limit;
  }
  for (uint32_t k = 0; k < candidate.width; ++k) {
    uint32_t lasting = space(candidate.slice + k, candidate.bank).lastingEnd();
    limit = std::min(limit, textFloor(lasting, depth));
  }
  return limit;
}

std::optional<uint32_t> Allocator::firstFit(const Request &request,
                                            const Candidate &candidate,
                                            uint32_t rest) const {
  std::vector<Block> taken;
  for (uint32_t k = 0; k < candidate.width; ++k) {
    space(candidate.slice + k, candidate.bank)
        .collect(request.born, request.dies, rest, taken);
  }
  std::sort(taken.begin(), taken.end(),
            [](const Block &a, const Block &b) { return a.base < b.base; });
  uint32_t base = 0;
  for (const Block &block : taken) {
    if (base + candidate.length <= block.base) {
      break;
    }
    base = std::max(base, block.base + block.length);
  }
  return base + candidate.length <= limitFor(request, candidate)
             ? std::optional(base)
             : std::nullopt;
}

bool Allocator::placeOne(const std::vector<Request> &requests, uint32_t number,
                         uint32_t rest) {
  const Request &request = requests[number];
  for (const Candidate &candidate : candidates(request)) {
    if (meets(request, candidate)) {
      continue;
    }
    if (auto base = firstFit(request, candidate, rest)) {
      for (uint32_t k = 0; k < candidate.width; ++k) {
        space(candidate.slice + k, candidate.bank)
            .add({*base, candidate.length, request.born, request.dies});
      }
      places.push_back(
          {candidate.slice, candidate.bank, *base, candidate.width});
      if (request.weights && candidate.width == request.spillWidth &&
          candidate.width != request.width) {
        spillBank[{request.name, request.side}] = candidate.bank;
      }
      return true;
    }
  }
  return false;
}

std::optional<Allocator::Nearest> Allocator::nearest(const Request &request) {
  std::optional<Nearest> best;
  for (Candidate candidate : candidates(request)) {
    if (meets(request, candidate)) {
      continue;
    }
    uint32_t free = 0, length = candidate.length;
    // From a power of two on, all numbers are sums of the steps.
    for (uint32_t step = std::bit_ceil(depth); step > 0; step /= 2) {
      candidate.length = free + step;
      free += firstFit(request, candidate, 0) ? step : 0;
    }
    candidate.length = length;
    if (!best || length - free < best->candidate.length - best->free) {
      best = {candidate, free};
    }
  }
  return best;
}

// Addresses rest after use: a buffer that takes over fresh ones makes its
// writer wait for the last reader before it, and ops that could run side by
// side would queue for memory. The rest is given up only when room is short.
std::optional<uint32_t> Allocator::place(const std::vector<Request> &requests) {
  uint32_t rest = 4096;
  for (uint32_t number = 0; number < requests.size(); ++number) {
    keepTop = true;
    bool placed = placeOne(requests, number, rest);
    while (!placed && (rest > 0 || keepTop)) {
      keepTop = rest > 0;
      rest /= 4;
      placed = placeOne(requests, number, rest);
    }
    if (!placed) {
      return number;
    }
  }
  return std::nullopt;
}

} // namespace orrery::allocate
