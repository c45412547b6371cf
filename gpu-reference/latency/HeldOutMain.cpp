// orrery-gpu-model: prints how the GPU latency model stands to the kernel
// samples it is made of, and to published rates of whole models.
#include "gpu-reference/latency/HeldOut.h"

#include <cstdio>

using namespace orrery::gpu::latency;

int main(int argc, char **argv) {
  if (argc > 1) {
    std::fprintf(stderr, "%s: expected no arguments, found %s\n", argv[0],
                 argv[1]);
    return 2;
  }
  auto samples = sampleText(), models = heldOutText();
  for (const auto *each : {&samples, &models}) {
    if (!*each) {
      std::fprintf(stderr, "%s: %s\n", argv[0], each->error().message.c_str());
      return 1;
    }
  }
  std::printf("matrix products: the fits beside their samples\n%s\n"
              "whole models: the model beside published rates\n%s",
              samples->c_str(), models->c_str());
  return 0;
}
