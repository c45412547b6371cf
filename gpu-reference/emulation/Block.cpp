#include "gpu-reference/emulation/Block.h"

#include "gpu-reference/emulation/KernelError.h"
#include "gpu-reference/emulation/Settings.h"
#include "gpu-reference/emulation/Threads.h"

#include <bit>
#include <cassert>
#include <string_view>

namespace orrery::gpu::emulated {

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};
constinit thread_local unsigned runningLane = 0;
constinit thread_local LaneWords *runningWords = nullptr;

static constinit thread_local Block *currentBlock = nullptr;

namespace {
/// Thrown where a thread waits when its block will not go on.
struct Unwind {};
} // namespace

Block::Block(const LaunchShape &shape, const std::function<void()> &thread)
    : shape(shape), kernelThread(thread), body([this] { runBody(); }),
      threadList(size_t(shape.block.x) * shape.block.y * shape.block.z),
      warps((threadList.size() + 31) / 32), order(settings().order),
      ignored(settings().ignored), random(settings().seed) {
  assert(currentBlock == nullptr && "a kernel launches a kernel");
  const dim3 &size = shape.block;
  for (unsigned i = 0; i < threads(); ++i) {
    threadList[i].index = {i % size.x, i / size.x % size.y,
                           i / (size.x * size.y)};
  }
  currentBlock = this;
  blockDim = shape.block;
  gridDim = shape.grid;
}

Block::~Block() { currentBlock = nullptr; }

Block &Block::current() {
  assert(currentBlock != nullptr && "device code outside a kernel");
  return *currentBlock;
}

std::string Block::run(const uint3 &index) {
  blockIdx = index;
  start();
  while (readyWarps != 0 && problem.empty()) {
    resume(nextThread());
  }
  if (problem.empty() && endedThreads != threads()) {
    problem = "deadlock: " + whoWaits();
  }
  unwindAll();
  return problem;
}

void Block::start() {
  atBarrier = 0;
  endedThreads = 0;
  arrays.clear();
  arrayBytes = 0;
  dynamic.reset();
  for (size_t w = 0; w < warps.size(); ++w) {
    warps[w].waiting = 0;
    warps[w].ended = ~0u;
  }
  for (unsigned i = 0; i < threads(); ++i) {
    threadList[i].fiber.start(body);
    threadList[i].barriers = 0;
    makeReady(i);
    warps[i / 32].ended &= ~(1u << (i % 32));
  }
}

//===-- One thread --------------------------------------------------------===//

void Block::runBody() {
  if (!unwinding) {
    try {
      kernelThread();
    } catch (const Unwind &) {
    } catch (const std::exception &error) {
      problem = "thread " + std::to_string(running) + ": " + error.what();
    }
  }
  endThread();
}

void Block::resume(unsigned thread) {
  Thread &next = threadList[thread];
  Warp &warp = warps[thread / 32];
  threadIdx = next.index;
  runningLane = thread % 32;
  runningWords = &warp.words[runningLane];
  warp.ready &= ~(1u << runningLane);
  if (warp.ready == 0) {
    readyWarps &= ~(1u << (thread / 32));
  }
  running = thread;
  next.fiber.resume();
}

void Block::park(State state) {
  Thread &me = threadList[running];
  me.state = state;
  me.fiber.stop();
  if (unwinding) {
    throw Unwind();
  }
}

void Block::makeReady(unsigned thread) {
  threadList[thread].state = State::Ready;
  warps[thread / 32].ready |= 1u << (thread % 32);
  readyWarps |= 1u << (thread / 32);
}

void Block::endThread() {
  threadList[running].state = State::Ended;
  ++endedThreads;
  Warp &warp = warps[running / 32];
  warp.ended |= 1u << lane();
  // Others may have waited for this one only.
  for (uint32_t rest = warp.waiting; rest != 0 && !unwinding;
       rest &= rest - 1) {
    const auto first = unsigned(std::countr_zero(rest));
    if ((warp.waiting >> first & 1) != 0) {
      tryMeeting(running / 32, first);
    }
  }
}

/// Threads that stand somewhere in the kernel leave it, so that what they own
/// is freed.
void Block::unwindAll() {
  unwinding = true;
  for (unsigned i = 0; i < threads(); ++i) {
    if (threadList[i].state != State::Ended) {
      resume(i);
    }
  }
  unwinding = false;
}

//===-- Order -------------------------------------------------------------===//

static unsigned anyBit(uint32_t bits, uint32_t number) {
  uint64_t skip = uint64_t(number) * unsigned(std::popcount(bits)) >> 32;
  for (; skip != 0; --skip) {
    bits &= bits - 1;
  }
  return unsigned(std::countr_zero(bits));
}

static unsigned greatestBit(uint32_t bits) {
  return 31u - unsigned(std::countl_zero(bits));
}

unsigned Block::nextThread() {
  unsigned warp = 0;
  unsigned lane = 0;
  switch (order) {
  case Order::Forward:
    warp = unsigned(std::countr_zero(readyWarps));
    lane = unsigned(std::countr_zero(warps[warp].ready));
    break;
  case Order::Backward:
    warp = greatestBit(readyWarps);
    lane = greatestBit(warps[warp].ready);
    break;
  case Order::Shuffled: {
    const uint64_t number = random();
    warp = anyBit(readyWarps, uint32_t(number >> 32));
    lane = anyBit(warps[warp].ready, uint32_t(number));
    break;
  }
  }
  return warp * 32 + lane;
}

//===-- Meetings ----------------------------------------------------------===//

void Block::meetWarp(const char *name, uint32_t mask, WarpFunction function,
                     const std::source_location &where) {
  if ((mask >> lane() & 1) == 0) {
    throw KernelError(std::string(name) + " with a mask that lacks lane " +
                      std::to_string(lane()));
  }
  Thread &me = threadList[running];
  me.operation = name;
  me.mask = mask;
  me.function = function;
  me.where = where;
  warps[running / 32].waiting |= 1u << lane();
  // Even who comes last stops, for the order to say who goes on first.
  const bool met = tryMeeting(running / 32, lane());
  park(met ? State::Ready : State::Warp);
}

/// Lets the lanes go on that wait for what lane `first` waits for, if all that
/// it needs are there.
bool Block::tryMeeting(unsigned warpIndex, unsigned first) {
  Warp &warp = warps[warpIndex];
  const Thread *const of = &threadList[warpIndex * 32];
  const Thread &model = of[first];
  const uint32_t present = model.mask & ~warp.ended;
  if ((warp.waiting & present) != present) {
    return false;
  }
  for (uint32_t rest = present; rest != 0; rest &= rest - 1) {
    const Thread &other = of[std::countr_zero(rest)];
    if (other.mask != model.mask || other.function != model.function ||
        (other.operation != model.operation &&
         std::string_view(other.operation) != model.operation)) {
      return false;
    }
  }
  model.function(warp.words, present);
  warp.waiting &= ~present;
  for (uint32_t rest = present; rest != 0; rest &= rest - 1) {
    makeReady(warpIndex * 32 + unsigned(std::countr_zero(rest)));
  }
  return true;
}

bool Block::ignores(Thread &thread, const std::source_location &where) const {
  return !ignored.file.empty() &&
         std::string_view(where.file_name()).ends_with(ignored.file) &&
         thread.barriers++ == ignored.number;
}

unsigned Block::meetBlock(bool predicate, const std::source_location &where) {
  Thread &me = threadList[running];
  if (ignores(me, where)) {
    return predicate ? 1 : 0;
  }
  me.operation = "__syncthreads";
  me.predicate = predicate;
  me.where = where;
  ++atBarrier;
  if (atBarrier != threads()) {
    park(State::Barrier);
    return lastCount;
  }
  releaseBarrier();
  park(State::Ready);
  return lastCount;
}

void Block::releaseBarrier() {
  atBarrier = 0;
  lastCount = 0;
  const Thread &last = threadList[running];
  for (unsigned i = 0; i < threads(); ++i) {
    if (threadList[i].where.line() != last.where.line()) {
      threadList[running].state = State::Barrier;
      throw KernelError("barriers at different places: " + whoWaits());
    }
  }
  for (unsigned i = 0; i < threads(); ++i) {
    lastCount += threadList[i].predicate ? 1 : 0;
    makeReady(i);
  }
}

//===-- Errors ------------------------------------------------------------===//

static std::string placeText(const std::source_location &where) {
  std::string_view file = where.file_name();
  file.remove_prefix(file.rfind('/') + 1);
  return " (" + std::string(file) + ":" + std::to_string(where.line()) + ")";
}

std::string Block::whoWaits() const {
  struct Group {
    std::string doing;
    unsigned first;
    unsigned count;
  };
  std::vector<Group> groups;
  for (unsigned i = 0; i < threads(); ++i) {
    const Thread &thread = threadList[i];
    std::string doing = thread.state == State::Ended ? "ended"
                        : thread.state == State::Ready
                            ? "run"
                            : "wait at " + std::string(thread.operation) +
                                  placeText(thread.where);
    auto group = groups.begin();
    while (group != groups.end() && group->doing != doing) {
      ++group;
    }
    if (group == groups.end()) {
      groups.push_back({std::move(doing), i, 1});
    } else {
      ++group->count;
    }
  }
  std::string text;
  for (const Group &group : groups) {
    text += (text.empty() ? "" : ", ") + std::to_string(group.count) + " of " +
            std::to_string(threads()) + " threads " + group.doing +
            " (first: " + std::to_string(group.first) + ")";
  }
  return text;
}

//===-- Names of Threads.h ------------------------------------------------===//

void __syncthreads(std::source_location where) {
  (void)Block::current().meetBlock(false, where);
}

int __syncthreads_count(int predicate, std::source_location where) {
  return int(Block::current().meetBlock(predicate != 0, where));
}

int __syncthreads_and(int predicate, std::source_location where) {
  return __syncthreads_count(predicate, where) ==
         int(Block::current().threads());
}

int __syncthreads_or(int predicate, std::source_location where) {
  return __syncthreads_count(predicate, where) != 0;
}

void __trap(std::source_location where) {
  throw KernelError("__trap" + placeText(where));
}

} // namespace orrery::gpu::emulated
