// Where each thread is, what a block finds in shared memory, and every way a
// launch can fail: by its shape, by its arguments, by what its threads do.
#include "gpu-reference/Buffer.h"
#include "gpu-reference/emulation/Fiber.h"
#include "tests/gpu-reference/Orders.h"

#include <gtest/gtest.h>

#include <set>

namespace orrery::gpu::emulated {
namespace {

/// The message of the launch before, or "".
std::string message() {
  const Status status = launchStatus("launch");
  return status ? "" : status.error().message;
}

__global__ void placesKernel(unsigned *out) {
  const unsigned block =
      (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread =
      (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] +=
      1000 * block + thread;
}

TEST(Launch, RunsEveryThreadOnce) {
  inSeveralOrders([] {
    auto out = Buffer<unsigned>::copyOf(std::vector<unsigned>(24 * 30), "out");
    ORRERY_LAUNCH(placesKernel, dim3(2, 3, 4), dim3(5, 3, 2), 0, nullptr,
                  out->data());
    ASSERT_EQ(message(), "");
    const std::vector<unsigned> places = *out->read();
    for (unsigned i = 0; i < places.size(); ++i) {
      EXPECT_EQ(places[i], 1000 * (i / 30) + i % 30);
    }
  });
}

__global__ void unwrittenKernel(unsigned *out) {
  ORRERY_SHARED(unsigned, fixed, [4]);
  ORRERY_DYNAMIC_SHARED(unsigned, dynamic);
  out[threadIdx.x] = fixed[threadIdx.x] + dynamic[threadIdx.x];
  fixed[threadIdx.x] = 3;
  dynamic[threadIdx.x] = 4;
}

TEST(Launch, UnwrittenSharedMemoryIsNotTheSameTwice) {
  std::set<std::vector<unsigned>> different;
  inSeveralOrders([&] {
    auto out = Buffer<unsigned>::allocate(4, "out");
    different.insert(*out->read()); // nor is that of the device
    // What a block leaves behind is not what the next finds.
    ORRERY_LAUNCH(unwrittenKernel, dim3(2), dim3(4), 16, nullptr, out->data());
    ASSERT_EQ(message(), "");
    EXPECT_NE(out->read()->front(), 7u);
    different.insert(*out->read());
  });
  EXPECT_EQ(different.size(), 10u);
}

__global__ void nothingKernel(const int *, int) {}

TEST(Launch, RefusesShapes) {
  const auto messageFor = [](dim3 grid, dim3 block, size_t shared = 0) {
    ORRERY_LAUNCH(nothingKernel, grid, block, shared, nullptr, nullptr, 1);
    return message();
  };
  EXPECT_EQ(messageFor(dim3(1), dim3(1024)), "");
  EXPECT_EQ(messageFor(dim3(1), dim3(1025)),
            "launch: kernel nothingKernel: a block of 1025 x 1 x 1 threads");
  EXPECT_EQ(messageFor(dim3(1), dim3(32, 33)),
            "launch: kernel nothingKernel: a block of 32 x 33 x 1 threads");
  EXPECT_EQ(messageFor(dim3(1), dim3(1, 1, 65)),
            "launch: kernel nothingKernel: a block of 1 x 1 x 65 threads");
  EXPECT_EQ(messageFor(dim3(0), dim3(1)),
            "launch: kernel nothingKernel: a grid of 0 x 1 x 1 blocks");
  EXPECT_EQ(messageFor(dim3(1, 65536), dim3(1)),
            "launch: kernel nothingKernel: a grid of 1 x 65536 x 1 blocks");
  EXPECT_EQ(messageFor(dim3(1), dim3(1), 48 * 1024), "");
  EXPECT_EQ(messageFor(dim3(1), dim3(1), 48 * 1024 + 1),
            "launch: kernel nothingKernel: 49153 bytes of dynamic shared "
            "memory, at most 49152 (cudaFuncSetAttribute can ask for more)");
}

__global__ void muchKernel(int) {}

TEST(Launch, GivesMoreSharedMemoryToWhoAsks) {
  const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(cudaFuncSetAttribute(muchKernel, attribute, 227 * 1024),
            cudaSuccess);
  ORRERY_LAUNCH(muchKernel, dim3(1), dim3(1), 227 * 1024, nullptr, 1);
  EXPECT_EQ(message(), "");
  EXPECT_EQ(cudaFuncSetAttribute(muchKernel, attribute, 227 * 1024 + 1),
            cudaErrorInvalidValue);
  EXPECT_NE(message(), "");
}

__global__ void tooMuchKernel() {
  ORRERY_SHARED(char, most, [40000]);
  ORRERY_SHARED(char, rest, [9153]);
  most[0] = rest[0];
}

TEST(Launch, RefusesMoreStaticSharedMemoryThanThereIs) {
  ORRERY_LAUNCH(tooMuchKernel, dim3(1), dim3(1), 0, nullptr);
  EXPECT_EQ(message(),
            "launch: kernel tooMuchKernel, block (0, 0, 0): thread 0: shared "
            "array rest of 9153 bytes does not fit: 49168 static (at most "
            "49152) and 0 dynamic (together at most 232448)");
}

TEST(Launch, RefusesPointersToHostMemory) {
  const int host = 0;
  ORRERY_LAUNCH(nothingKernel, dim3(1), dim3(1), 0, nullptr, &host, 1);
  EXPECT_EQ(message(), "launch: kernel nothingKernel: argument 1 points to "
                       "memory that is not the device's");
}

//===-- What threads do ---------------------------------------------------===//

/// Owned by threads that never get to an end by themselves.
struct Counted {
  explicit Counted(int &count) : count(count) { ++count; }
  ~Counted() { --count; }
  int &count;
};

int alive = 0;

__global__ void endsEarlyKernel(unsigned first) {
  const Counted counted(alive);
  if (threadIdx.x >= first) {
    return;
  }
  __syncthreads();
}

/// "(LaunchTest.cpp:" of a place in this file, as lines move.
std::string withoutLines(std::string text) {
  for (size_t at = text.find(".cpp:"); at != std::string::npos;
       at = text.find(".cpp:", at + 1)) {
    text.erase(at + 5, text.find(')', at) - at - 5);
  }
  return text;
}

TEST(Launch, NamesWhoWaitsForEver) {
  inSeveralOrders([] {
    ORRERY_LAUNCH(endsEarlyKernel, dim3(1, 2), dim3(64), 0, nullptr, 40);
    const std::string block =
        settings().order == Order::Forward ? "(0, 0, 0)" : "(0, 1, 0)";
    const std::string text = message();
    if (settings().order != Order::Shuffled) {
      EXPECT_EQ(withoutLines(text),
                "launch: kernel endsEarlyKernel, block " + block +
                    ": deadlock: 40 of 64 threads wait at __syncthreads "
                    "(LaunchTest.cpp:) (first: 0), 24 of 64 threads ended "
                    "(first: 40)");
    }
    EXPECT_NE(text.find("deadlock"), std::string::npos);
    EXPECT_EQ(alive, 0);
  });
}

__global__ void differentMeetingsKernel() {
  if (threadIdx.x < 7) {
    __ballot_sync(~0u, 1);
  } else if (threadIdx.x < 32) {
    __shfl_xor_sync(~0u, 1, 1);
  } else {
    __syncthreads();
  }
}

TEST(Launch, NamesMeetingsThatAreNotTheSame) {
  inSeveralOrders([] {
    ORRERY_LAUNCH(differentMeetingsKernel, dim3(1), dim3(64), 0, nullptr);
    EXPECT_EQ(withoutLines(message()),
              "launch: kernel differentMeetingsKernel, block (0, 0, 0): "
              "deadlock: 7 of 64 threads wait at __ballot_sync "
              "(LaunchTest.cpp:) (first: 0), 25 of 64 threads wait at "
              "__shfl_xor_sync (LaunchTest.cpp:) (first: 7), 32 of 64 threads "
              "wait at __syncthreads (LaunchTest.cpp:) (first: 32)");
  });
}

__global__ void differentBarriersKernel() {
  if (threadIdx.x < 7) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(Launch, NamesBarriersThatAreNotTheSame) {
  inSeveralOrders([] {
    ORRERY_LAUNCH(differentBarriersKernel, dim3(1), dim3(64), 0, nullptr);
    EXPECT_NE(withoutLines(message()).find(
                  "barriers at different places: 7 of 64 threads wait at "
                  "__syncthreads (LaunchTest.cpp:) (first: 0), 57 of 64 "
                  "threads wait at __syncthreads"),
              std::string::npos);
  });
}

__global__ void wrongMaskKernel() { __syncwarp(threadIdx.x == 3 ? 7u : ~0u); }

TEST(Launch, NamesAMaskWithoutItsLane) {
  inSeveralOrders([] {
    ORRERY_LAUNCH(wrongMaskKernel, dim3(1), dim3(32), 0, nullptr);
    EXPECT_EQ(message(), "launch: kernel wrongMaskKernel, block (0, 0, 0): "
                         "thread 3: __syncwarp with a mask that lacks lane 3");
  });
}

__global__ void trapKernel(int which) {
  const Counted counted(alive);
  __syncthreads();
  if (int(threadIdx.x) == which) {
    __trap();
  }
  __syncthreads();
}

TEST(Launch, EndsAtATrapAndGoesOnAfterwards) {
  inSeveralOrders([] {
    ORRERY_LAUNCH((trapKernel), dim3(1), dim3(40), 0, nullptr, 38);
    EXPECT_EQ(withoutLines(message()),
              "launch: kernel (trapKernel), block (0, 0, 0): thread 38: "
              "__trap (LaunchTest.cpp:)");
    EXPECT_EQ(alive, 0);
    ORRERY_LAUNCH((trapKernel), dim3(1), dim3(40), 0, nullptr, 40);
    EXPECT_EQ(message(), "");
  });
}

#ifdef ORRERY_ASAN_FIBERS
__global__ void pastTheEndKernel(int *out) {
  ORRERY_SHARED(int, words, [8]);
  words[threadIdx.x] = 1;
  out[threadIdx.x] = words[7];
}

TEST(LaunchDeathTest, SanitizerSeesTheEndsOfSharedAndDeviceMemory) {
  const auto run = [](unsigned threads, size_t room) {
    auto out = Buffer<int>::allocate(room, "out");
    ORRERY_LAUNCH(pastTheEndKernel, dim3(1), dim3(threads), 0, nullptr,
                  out->data());
  };
  run(8, 8);
  EXPECT_EQ(message(), "");
  // UBSan knows the array's type, ASan its end.
  EXPECT_DEATH(run(9, 9), "heap-buffer-overflow|out of bounds");
  EXPECT_DEATH(run(8, 7), "heap-buffer-overflow");
}
#endif

} // namespace
} // namespace orrery::gpu::emulated
