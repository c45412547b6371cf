// SRAM places for the memory of one program.
//
// Weights go to the weight groups of their hemisphere; tables, KV cache and
// temporaries to the data slices. What one op touches in the same cycles must
// not share a port: two operands read together never share a slice, an operand
// and a result never share a bank of one.
#pragma once

#include "compiler/allocate/SliceSpace.h"
#include "compiler/lower/ChipLayout.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace orrery::allocate {

enum class Use : uint8_t { Read, Write };

/// A buffer to be placed.
struct Request {
  std::string name;
  uint32_t width;  ///< slices
  uint32_t length; ///< addresses
  uint32_t born, dies;
  int32_t side; ///< hemisphere (a wish for temporaries), or -1
  bool weights; ///< weight groups; else data slices
  /// Weights only: which group is tried first. Planes that work at once had
  /// best read from different ones.
  uint32_t turn = 0;
  /// Weights only: shape when they must lie in data slices, narrower.
  uint32_t spillWidth = 0, spillLength = 0;
  /// The same for a second bank of a side: so narrow that an f32 result finds
  /// four data slices beside it.
  uint32_t narrowWidth = 0, narrowLength = 0;
  /// Weights only: the data slices are tried first.
  bool spills = false;
  /// Other requests accessed by the same op: their number, their use there,
  /// and this one's.
  struct Neighbour {
    uint32_t request;
    Use theirs, ours;
  };
  std::vector<Neighbour> neighbours;
};

struct Place {
  uint32_t slice, bank, base;
  uint32_t width; ///< the request's, its spillWidth or its narrowWidth
};

class Allocator {
public:
  Allocator(const Machine &machine, const ChipLayout &layout);
  /// Places requests in order; the index of the first that finds no room.
  std::optional<uint32_t> place(const std::vector<Request> &requests);
  std::vector<Place> places;

  struct Candidate {
    uint32_t slice, bank, width, length;
  };
  /// For a request that found no room: of the places where it may stand, the
  /// one that lacks fewest addresses, and how many it has free one after
  /// another. None: it is too wide, or all ports are in use at the same time.
  struct Nearest {
    Candidate candidate;
    uint32_t free;
  };
  std::optional<Nearest> nearest(const Request &request);

private:
  void weightCandidates(const Request &request,
                        std::vector<Candidate> &out) const;
  void spillCandidates(const Request &request,
                       std::vector<Candidate> &out) const;
  void dataCandidates(const Request &request, uint32_t bank, bool preferred,
                      std::vector<Candidate> &out) const;
  std::vector<Candidate> candidates(const Request &request);
  bool meets(const Request &request, const Candidate &candidate) const;
  uint32_t limitFor(const Request &request, const Candidate &candidate) const;
  std::optional<uint32_t> firstFit(const Request &request,
                                   const Candidate &candidate,
                                   uint32_t rest) const;
  bool placeOne(const std::vector<Request> &requests, uint32_t number,
                uint32_t rest);
  SliceSpace &space(uint32_t slice, uint32_t bank) {
    return spaces[slice * banks + bank];
  }
  const SliceSpace &space(uint32_t slice, uint32_t bank) const {
    return spaces[slice * banks + bank];
  }

  const ChipLayout &layout;
  uint32_t banks, depth;
  std::vector<SliceSpace> spaces;
  std::map<std::pair<std::string, int32_t>, uint32_t> spillBank;
  uint32_t turn = 0;
  bool keepTop = true;
};

} // namespace orrery::allocate
