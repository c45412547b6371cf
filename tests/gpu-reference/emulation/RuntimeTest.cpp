// The runtime: memory and its errors, streams, graphs, events.
#include "gpu-reference/Buffer.h"
#include "gpu-reference/emulation/Settings.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace orrery::gpu::emulated {
namespace {

std::string lastMessage() {
  const Status status = launchStatus("last");
  return status ? "" : status.error().message;
}

TEST(Memory, IsCountedAndEnds) {
  Settings small = settings();
  size_t before = 0;
  size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  small.memoryBytes = total - before + 1000;
  const SettingsScope scope(small);
  {
    auto first = Buffer<float>::allocate(200, "the first");
    ASSERT_TRUE(first);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first->data()) % 256, 0u);
    auto second = Buffer<float>::allocate(51, "the second");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().message,
              "out of device memory: 204 bytes for the second, 200 free");
    EXPECT_EQ(lastMessage(), "");
    EXPECT_TRUE(Buffer<float>::allocate(50, "the third"));
  }
  size_t free = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 1000u);
}

TEST(Memory, GoesToAndFro) {
  auto buffer = Buffer<int>::copyOf(std::vector<int>{1, 2, 3, 4}, "b");
  ASSERT_TRUE(buffer);
  EXPECT_TRUE(buffer->upload(std::vector<int>{7, 8}, 1));
  EXPECT_EQ(*buffer->read(), (std::vector<int>{1, 7, 8, 4}));
  std::vector<int> part(2);
  EXPECT_TRUE(buffer->download(part, 2));
  EXPECT_EQ(part, (std::vector<int>{8, 4}));
  EXPECT_EQ(buffer->upload(part, 3).error().message,
            "copy of elements 3 to 5 of a buffer of 4");
  EXPECT_EQ(cudaMemset(buffer->data() + 1, 0, 4), cudaSuccess);
  EXPECT_EQ(*buffer->read(), (std::vector<int>{1, 0, 8, 4}));

  Buffer<int> other = std::move(*buffer);
  EXPECT_EQ(buffer->data(), nullptr);
  EXPECT_EQ(other.size(), 4u);
  auto empty = Buffer<int>::allocate(0, "nothing");
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->data(), nullptr);
  EXPECT_TRUE(empty->read()->empty());
}

TEST(Memory, CopiesOnlyWhatIsThere) {
  auto buffer = Buffer<char>::allocate(16, "b");
  std::vector<char> host(32);
  EXPECT_EQ(cudaMemcpy(buffer->data(), host.data(), 17, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(lastMessage(), "last: cudaMemcpy: the destination is not 17 bytes "
                           "of one device allocation");
  EXPECT_EQ(
      cudaMemcpy(host.data(), buffer->data() + 1, 16, cudaMemcpyDeviceToHost),
      cudaErrorInvalidValue);
  EXPECT_EQ(lastMessage(), "last: cudaMemcpy: the source is not 16 bytes of "
                           "one device allocation");
  EXPECT_EQ(cudaMemcpy(host.data(), buffer->data(), 16, cudaMemcpyHostToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(lastMessage(),
            "last: cudaMemcpy: the source is device memory, expected host");
  EXPECT_EQ(cudaMemset(host.data(), 0, 1), cudaErrorInvalidValue);
  EXPECT_NE(lastMessage(), "");
  EXPECT_EQ(cudaFree(host.data()), cudaErrorInvalidValue);
  EXPECT_NE(lastMessage(), "");
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

__global__ void addOneKernel(int *x, int n) {
  if (int(threadIdx.x) < n) {
    x[threadIdx.x] += 1;
  }
}

/// Destroys what a test made.
struct Stream {
  Stream() { EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess); }
  ~Stream() { EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess); }
  cudaStream_t stream = nullptr;
};

class Graph : public testing::Test {
protected:
  void begin() {
    EXPECT_EQ(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal),
              cudaSuccess);
  }
  cudaGraphExec_t end() {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(s.stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
  }
  void run(cudaGraphExec_t exec) {
    EXPECT_EQ(cudaGraphLaunch(exec, s.stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(s.stream), cudaSuccess);
  }

  Stream s;
  Buffer<int> x =
      std::move(*Buffer<int>::copyOf(std::vector<int>{10, 20, 30}, "x"));
};

TEST_F(Graph, RunsWhatWasRecordedAsOftenAsAsked) {
  std::vector<int> in = {0, 0, 0};
  std::vector<int> out = {0, 0, 0};
  int n = 2;
  begin();
  EXPECT_EQ(cudaMemcpyAsync(x.data(), in.data(), 12, cudaMemcpyHostToDevice,
                            s.stream),
            cudaSuccess);
  ORRERY_LAUNCH(addOneKernel, dim3(1), dim3(32), 0, s.stream, x.data(), n);
  ORRERY_LAUNCH(addOneKernel, dim3(1), dim3(32), 0, s.stream, x.data(), 1);
  EXPECT_EQ(cudaMemcpyAsync(out.data(), x.data(), 12, cudaMemcpyDeviceToHost,
                            s.stream),
            cudaSuccess);
  EXPECT_EQ(lastMessage(), "");
  cudaGraphExec_t exec = end();
  EXPECT_EQ(*x.read(), (std::vector<int>{10, 20, 30})); // not yet
  n = 0; // arguments were taken when recorded, memory is read when run
  in = {5, 6, 7};
  run(exec);
  EXPECT_EQ(out, (std::vector<int>{7, 7, 7}));
  in = {8, 8, 8};
  run(exec);
  EXPECT_EQ(out, (std::vector<int>{10, 9, 8}));
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

__global__ void failingKernel() { __trap(); }

TEST_F(Graph, SaysWhatFailedInside) {
  begin();
  ORRERY_LAUNCH(failingKernel, dim3(1), dim3(1), 0, s.stream);
  cudaGraphExec_t exec = end();
  EXPECT_EQ(lastMessage(), "");
  EXPECT_EQ(cudaGraphLaunch(exec, s.stream), cudaErrorLaunchFailure);
  EXPECT_NE(lastMessage().find("kernel failingKernel, block (0, 0, 0)"),
            std::string::npos);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(Graph, RefusesWhatCannotBeRecorded) {
  begin();
  void *memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 8), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamSynchronize(s.stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaMemset(x.data(), 0, 4), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(lastMessage(),
            "last: work on the default stream while a stream is captured");
  EXPECT_EQ(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaGraphExecDestroy(end()), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(s.stream, &graph), cudaErrorInvalidValue);
  EXPECT_NE(lastMessage(), "");
}

TEST(Events, TimeWhatIsBetweenThem) {
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  float milliseconds = -1;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&end, cudaEventDefault), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(start), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end),
            cudaErrorInvalidResourceHandle);
  EXPECT_NE(lastMessage(), "");
  EXPECT_EQ(cudaEventRecord(end), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
}

TEST(Devices, ThereIsOne) {
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  cudaDeviceProp properties{};
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(std::string(properties.name), "emulated on the host");
  EXPECT_EQ(properties.totalGlobalMem, settings().memoryBytes);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(lastMessage(), "last: device 1 of 1");
}

} // namespace
} // namespace orrery::gpu::emulated
