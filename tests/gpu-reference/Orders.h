// Runs of a kernel that must not differ: under several orders of threads and
// contents of unwritten memory in the emulation, once on a device.
#pragma once

#include "gpu-reference/Cuda.h"

#ifndef __CUDACC__
#include "gpu-reference/emulation/Settings.h"
#endif

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

#ifdef __CUDACC__

template <class Body> void inSeveralOrders(Body body) { body(); }

#else

/// Forward, backward, and a few that are shuffled.
inline std::vector<Settings> severalOrders() {
  std::vector<Settings> orders(5, settings());
  orders[0].order = Order::Forward;
  orders[1].order = Order::Backward;
  for (size_t i = 2; i < orders.size(); ++i) {
    orders[i].order = Order::Shuffled;
    orders[i].seed = 100 + i;
  }
  return orders;
}

inline std::string orderText(const Settings &order) {
  switch (order.order) {
  case Order::Forward:
    return "threads forward";
  case Order::Backward:
    return "threads backward";
  case Order::Shuffled:
    break;
  }
  return "threads shuffled, seed " + std::to_string(order.seed);
}

template <class Body> void inSeveralOrders(Body body) {
  for (const Settings &order : severalOrders()) {
    SCOPED_TRACE(orderText(order));
    const SettingsScope scope(order);
    body();
  }
}

#endif

} // namespace orrery::gpu::ORRERY_GPU
