// Atomics, for exactly the types CUDA has them for. Fibers share one OS thread,
// so plain loads and stores are atomic. No sums of floats: they would depend on
// order.
#pragma once

namespace orrery::gpu::emulated {

/// *place = next, and what was there before.
template <class T> T replace(T *place, T next) {
  const T before = *place;
  *place = next;
  return before;
}

inline int atomicAdd(int *place, int value) {
  return replace(place, int(unsigned(*place) + unsigned(value)));
}
inline unsigned atomicAdd(unsigned *place, unsigned value) {
  return replace(place, *place + value);
}
inline unsigned long long atomicAdd(unsigned long long *place,
                                    unsigned long long value) {
  return replace(place, *place + value);
}

inline int atomicMin(int *place, int value) {
  return replace(place, value < *place ? value : *place);
}
inline unsigned atomicMin(unsigned *place, unsigned value) {
  return replace(place, value < *place ? value : *place);
}
inline long long atomicMin(long long *place, long long value) {
  return replace(place, value < *place ? value : *place);
}
inline unsigned long long atomicMin(unsigned long long *place,
                                    unsigned long long value) {
  return replace(place, value < *place ? value : *place);
}

inline int atomicMax(int *place, int value) {
  return replace(place, value > *place ? value : *place);
}
inline unsigned atomicMax(unsigned *place, unsigned value) {
  return replace(place, value > *place ? value : *place);
}
inline long long atomicMax(long long *place, long long value) {
  return replace(place, value > *place ? value : *place);
}
inline unsigned long long atomicMax(unsigned long long *place,
                                    unsigned long long value) {
  return replace(place, value > *place ? value : *place);
}

inline int atomicOr(int *place, int value) {
  return replace(place, *place | value);
}
inline unsigned atomicOr(unsigned *place, unsigned value) {
  return replace(place, *place | value);
}
inline unsigned long long atomicOr(unsigned long long *place,
                                   unsigned long long value) {
  return replace(place, *place | value);
}
inline unsigned atomicAnd(unsigned *place, unsigned value) {
  return replace(place, *place & value);
}

inline int atomicExch(int *place, int value) { return replace(place, value); }
inline unsigned atomicExch(unsigned *place, unsigned value) {
  return replace(place, value);
}
inline unsigned long long atomicExch(unsigned long long *place,
                                     unsigned long long value) {
  return replace(place, value);
}

inline unsigned atomicCAS(unsigned *place, unsigned expected, unsigned value) {
  return replace(place, *place == expected ? value : *place);
}
inline unsigned long long atomicCAS(unsigned long long *place,
                                    unsigned long long expected,
                                    unsigned long long value) {
  return replace(place, *place == expected ? value : *place);
}

} // namespace orrery::gpu::emulated
