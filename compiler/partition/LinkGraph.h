// The chips of a system as a graph: vertices are chips, edges are cables.
#pragma once

#include "machine/Machine.h"

#include <boost/graph/adjacency_list.hpp>

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace orrery::partition {

class LinkGraph {
public:
  explicit LinkGraph(const Machine &machine);

  int32_t chips() const { return int32_t(neighboursOf.size()); }
  bool linked(int32_t a, int32_t b) const {
    return adjacent[size_t(a) * neighboursOf.size() + size_t(b)];
  }
  /// Ascending, each once.
  const std::vector<int32_t> &neighbours(int32_t chip) const {
    return neighboursOf[size_t(chip)];
  }
  /// Cables between two linked chips.
  int32_t cables(int32_t a, int32_t b) const {
    return cablesOf.at(std::minmax(a, b));
  }
  /// Free chips that one can walk to from any of `from` over free chips.
  int64_t reachable(std::span<const int32_t> from,
                    const std::vector<char> &used) const;

private:
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph;
  std::vector<std::vector<int32_t>> neighboursOf;
  std::vector<bool> adjacent; ///< chips x chips
  std::map<std::pair<int32_t, int32_t>, int32_t> cablesOf;
};

} // namespace orrery::partition
