// Operations of the threads of a warp together: shuffles, votes, reductions.
//
// Each is a meeting: the lanes named in `mask` that have not ended must come,
// with the same operation and the same mask; when the last is there the result
// of all is computed at once. What CUDA leaves undefined (the value of a lane
// that does not take part) is poison here.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

namespace orrery::gpu::emulated {

/// What a lane brings to a meeting and takes from it.
struct LaneWords {
  std::array<uint32_t, 16> in;
  std::array<uint32_t, 16> out;
};
using WarpWords = std::array<LaneWords, 32>;

/// Computes `out` of the lanes in `present` from `in` of those.
using WarpFunction = void (*)(WarpWords &lanes, uint32_t present);

// Of the running thread; set by the scheduler.
extern constinit thread_local unsigned runningLane;
extern constinit thread_local LaneWords *runningWords;

/// The calling thread's words.
inline LaneWords &laneWords() { return *runningWords; }
/// Its number in its warp.
inline unsigned laneIndex() { return runningLane; }

/// Waits for the lanes in `mask`, runs `function` once, goes on.
void meet(const char *name, uint32_t mask, WarpFunction function,
          const std::source_location &where);

// The functions behind the intrinsics.
void shuffleLanes(WarpWords &lanes, uint32_t present);
void ballotLanes(WarpWords &lanes, uint32_t present);
void addLanes(WarpWords &lanes, uint32_t present);
void orLanes(WarpWords &lanes, uint32_t present);
void andLanes(WarpWords &lanes, uint32_t present);
void minLanes(WarpWords &lanes, uint32_t present);
void maxLanes(WarpWords &lanes, uint32_t present);
void minSignedLanes(WarpWords &lanes, uint32_t present);
void maxSignedLanes(WarpWords &lanes, uint32_t present);

/// value of lane `source`; `source` 32 and above: a lane's own.
template <class T>
T shuffle(const char *name, uint32_t mask, T value, unsigned source,
          const std::source_location &where) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) >= 4 && sizeof(T) <= 8);
  LaneWords &words = laneWords();
  std::memcpy(words.in.data(), &value, sizeof(T));
  words.in[2] = source;
  meet(name, mask, &shuffleLanes, where);
  T result;
  std::memcpy(&result, words.out.data(), sizeof(T));
  return result;
}

/// Result of a function of one word.
inline uint32_t voteWord(const char *name, uint32_t mask, uint32_t word,
                         WarpFunction function,
                         const std::source_location &where) {
  LaneWords &words = laneWords();
  words.in[0] = word;
  meet(name, mask, function, where);
  return words.out[0];
}

using Where = std::source_location;

inline void __syncwarp(uint32_t mask = ~0u, Where where = Where::current()) {
  meet("__syncwarp", mask, [](WarpWords &, uint32_t) {}, where);
}

// `width` cuts the warp into parts of that many lanes, a power of 2.
template <class T>
T __shfl_sync(uint32_t mask, T value, int source, int width = 32,
              Where where = Where::current()) {
  const unsigned first = laneIndex() & ~unsigned(width - 1);
  return shuffle("__shfl_sync", mask, value,
                 first + (unsigned(source) & unsigned(width - 1)), where);
}
template <class T>
T __shfl_xor_sync(uint32_t mask, T value, int bits, int width = 32,
                  Where where = Where::current()) {
  const unsigned source = laneIndex() ^ unsigned(bits);
  const unsigned end = (laneIndex() & ~unsigned(width - 1)) + unsigned(width);
  return shuffle("__shfl_xor_sync", mask, value,
                 source < end ? source : laneIndex(), where);
}
template <class T>
T __shfl_down_sync(uint32_t mask, T value, unsigned delta, int width = 32,
                   Where where = Where::current()) {
  const unsigned part = laneIndex() & unsigned(width - 1);
  return shuffle("__shfl_down_sync", mask, value,
                 part + delta < unsigned(width) ? laneIndex() + delta
                                                : laneIndex(),
                 where);
}
template <class T>
T __shfl_up_sync(uint32_t mask, T value, unsigned delta, int width = 32,
                 Where where = Where::current()) {
  const unsigned part = laneIndex() & unsigned(width - 1);
  return shuffle("__shfl_up_sync", mask, value,
                 part >= delta ? laneIndex() - delta : laneIndex(), where);
}

inline uint32_t __ballot_sync(uint32_t mask, int predicate,
                              Where where = Where::current()) {
  return voteWord("__ballot_sync", mask, predicate != 0, &ballotLanes, where);
}
inline int __any_sync(uint32_t mask, int predicate,
                      Where where = Where::current()) {
  return int(voteWord("__any_sync", mask, predicate != 0, &orLanes, where));
}
inline int __all_sync(uint32_t mask, int predicate,
                      Where where = Where::current()) {
  return int(voteWord("__all_sync", mask, predicate != 0, &andLanes, where));
}

inline uint32_t __reduce_add_sync(uint32_t mask, uint32_t value,
                                  Where where = Where::current()) {
  return voteWord("__reduce_add_sync", mask, value, &addLanes, where);
}
inline int __reduce_add_sync(uint32_t mask, int value,
                             Where where = Where::current()) {
  return int(
      voteWord("__reduce_add_sync", mask, uint32_t(value), &addLanes, where));
}
inline uint32_t __reduce_min_sync(uint32_t mask, uint32_t value,
                                  Where where = Where::current()) {
  return voteWord("__reduce_min_sync", mask, value, &minLanes, where);
}
inline int __reduce_min_sync(uint32_t mask, int value,
                             Where where = Where::current()) {
  return int(voteWord("__reduce_min_sync", mask, uint32_t(value),
                      &minSignedLanes, where));
}
inline uint32_t __reduce_max_sync(uint32_t mask, uint32_t value,
                                  Where where = Where::current()) {
  return voteWord("__reduce_max_sync", mask, value, &maxLanes, where);
}
inline int __reduce_max_sync(uint32_t mask, int value,
                             Where where = Where::current()) {
  return int(voteWord("__reduce_max_sync", mask, uint32_t(value),
                      &maxSignedLanes, where));
}
inline uint32_t __reduce_or_sync(uint32_t mask, uint32_t value,
                                 Where where = Where::current()) {
  return voteWord("__reduce_or_sync", mask, value, &orLanes, where);
}
inline uint32_t __reduce_and_sync(uint32_t mask, uint32_t value,
                                  Where where = Where::current()) {
  return voteWord("__reduce_and_sync", mask, value, &andLanes, where);
}

} // namespace orrery::gpu::emulated
