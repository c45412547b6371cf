// The two weight buffers of a plane: when a tile may come in, when it may be
// used, when its place is free again. Tiles are used in the order they came.
#pragma once

#include "machine/Instruction.h"
#include "simulator/timing/Illegal.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace orrery::sim {

/// One installed tile.
struct Tile {
  Tick start = 0;           ///< its first install cycle
  Tick ready = 0;           ///< first cycle a pass may start with it
  uint32_t instruction = 0; ///< the install, and which run of it
  uint32_t run = 0;
  int32_t plane = 0; ///< the plane the install named
  WeightFormat format = WeightFormat::Q8;
  uint32_t low = 0, high = 0;
};

class WeightBuffers {
public:
  static constexpr size_t kBuffers = 2;

  /// A tile starts to come in at tile.start.
  void begin(const Tile &tile) {
    std::erase_if(busyUntil, [&](Tick last) { return last < tile.start; });
    if (waiting.size() + busyUntil.size() >= kBuffers) {
      std::string why =
          waiting.size() >= kBuffers
              ? "both weight buffers hold tiles that no pass has used"
              : "the weight buffer is in use up to and including cycle " +
                    std::to_string(
                        *std::min_element(busyUntil.begin(), busyUntil.end()));
      throw Illegal(tile.start, why);
    }
    waiting.push_back(tile);
  }

  /// The tile of a pass that starts at `tick` on the named plane and whose
  /// last row enters at `lastRow`.
  Tile consume(int32_t plane, WeightFormat format, uint32_t low, uint32_t high,
               Tick tick, Tick lastRow) {
    if (waiting.empty()) {
      throw Illegal(tick, "no weight tile is installed");
    }
    Tile tile = waiting.front();
    if (tile.ready > tick) {
      refuse(tick, tile, "is usable from cycle " + std::to_string(tile.ready));
    }
    if (tile.format != format || tile.plane != plane) {
      refuse(tick, tile, "has another weight format");
    }
    if (tile.low != low || tile.high != high) {
      refuse(tick, tile,
             "is for columns [" + std::to_string(tile.low) + ", " +
                 std::to_string(tile.high) + "), expected [" +
                 std::to_string(low) + ", " + std::to_string(high) + ")");
    }
    waiting.pop_front();
    busyUntil.push_back(lastRow);
    return tile;
  }

  size_t unused() const { return waiting.size(); }
  const Tile &next() const { return waiting.front(); }

private:
  [[noreturn]] static void refuse(Tick tick, const Tile &tile,
                                  const std::string &why) {
    throw Illegal(tick, "the next tile, run " + std::to_string(tile.run) +
                            " of instruction " +
                            std::to_string(tile.instruction) + ", " + why);
  }

  std::deque<Tile> waiting;
  std::vector<Tick> busyUntil; ///< of used tiles: last cycle of use
};

} // namespace orrery::sim
