#include "compiler/partition/LinkGraph.h"

#include <boost/graph/breadth_first_search.hpp>
#include <boost/pending/queue.hpp>

#include <algorithm>

namespace orrery::partition {

LinkGraph::LinkGraph(const Machine &machine)
    : graph(size_t(machine.system.chips)),
      neighboursOf(size_t(machine.system.chips)),
      adjacent(neighboursOf.size() * neighboursOf.size()) {
  for (const Link &link : machine.system.links) {
    auto [a, b] = std::minmax(link.chip, link.otherChip);
    if (++cablesOf[{a, b}] > 1) {
      continue;
    }
    adjacent[size_t(a) * neighboursOf.size() + size_t(b)] = true;
    adjacent[size_t(b) * neighboursOf.size() + size_t(a)] = true;
    boost::add_edge(size_t(a), size_t(b), graph);
    neighboursOf[size_t(a)].push_back(b);
    neighboursOf[size_t(b)].push_back(a);
  }
  for (auto &list : neighboursOf) {
    std::sort(list.begin(), list.end());
  }
}

namespace {
struct Count : boost::default_bfs_visitor {
  explicit Count(int64_t &seen) : seen(&seen) {}
  template <class Vertex, class Graph>
  void discover_vertex(Vertex, const Graph &) {
    ++*seen;
  }
  int64_t *seen;
};
} // namespace

int64_t LinkGraph::reachable(std::span<const int32_t> from,
                             const std::vector<char> &used) const {
  // A used chip counts as seen, so that no walk enters it.
  using Colour = boost::default_color_type;
  std::vector<Colour> colours(neighboursOf.size(), Colour::white_color);
  for (size_t chip = 0; chip < used.size(); ++chip) {
    colours[chip] = used[chip] ? Colour::black_color : Colour::white_color;
  }
  std::vector<size_t> sources;
  for (int32_t chip : from) {
    for (int32_t next : neighbours(chip)) {
      if (!used[size_t(next)]) {
        sources.push_back(size_t(next));
      }
    }
  }
  int64_t seen = 0;
  auto map = boost::make_iterator_property_map(
      colours.begin(), boost::get(boost::vertex_index, graph));
  for (size_t source : sources) {
    if (colours[source] == Colour::white_color) {
      boost::queue<size_t> queue;
      boost::breadth_first_visit(graph, source, queue, Count(seen), map);
    }
  }
  return seen;
}

} // namespace orrery::partition
