// The vector unit's values: a program's chain of steps over the lanes of one
// vector after another, and its reductions.
#pragma once

#include "machine/VectorProgram.h"
#include "machine/numerics.h"
#include "simulator/function/BufferPool.h"
#include "simulator/function/BurstValues.h"
#include "simulator/timing/BurstTicks.h"
#include "simulator/timing/StepRegisters.h"

namespace orrery::sim {

/// One vector instruction: all its outputs come from the same run.
class VectorRun {
public:
  /// `inputs` by input of the program, each with its stream group; `ticks` are
  /// those at which the vectors are taken.
  VectorRun(const VectorProgram &program, const StepRegisters &registers,
            uint32_t instruction, const BurstTicks &ticks,
            std::vector<Operands> inputs, BufferPool &pool);

  /// Computes until vector `vector` of output `output` is there.
  void require(uint32_t output, uint64_t vector);
  const uint8_t *plane(uint32_t output, uint64_t vector,
                       uint32_t stream) const {
    const Result &r = results[output];
    return r.bytes.data() + (vector * r.streams + stream) * lanes;
  }

private:
  /// An output's bytes and the state of its reduction.
  struct Result {
    uint32_t streams = 0;
    Buffer bytes; ///< [vector][stream][lane]
    numerics::WideAccumulator wide;
    int64_t exact = 0;
    bool exactInRange = true;
    Buffer sums; ///< AddSums: int64 [lane]
    float best = 0;
    int64_t bestElement = -1;
  };

  void takeInput(uint32_t input, uint64_t vector);
  void reduce(const VectorOutput &out, Result &result, uint64_t vector);
  void finishReduction(const VectorOutput &out, Result &result);
  void addSums(const VectorOutput &out, Result &result, uint64_t vector);
  void emit(uint32_t output, uint64_t vector, const float *row);
  [[noreturn]] void bad(uint64_t vector, const std::string &what) const;
  float *value(size_t number) { return scratch.as<float>() + number * lanes; }
  /// Of an input of accumulators.
  int64_t *sumsOf(size_t input) {
    return accumulators.as<int64_t>() + input * lanes;
  }

  const VectorProgram &program;
  StepRegisters registers;
  uint32_t lanes;
  uint32_t instruction;
  BurstTicks ticks;
  std::vector<Operands> inputs;
  std::vector<Result> results;
  Buffer scratch;      ///< f32 [value number][lane], then one spare row
  Buffer accumulators; ///< int64 [input][lane], when an input has them
  uint64_t done = 0;   ///< input vectors taken
};

/// One output of a run as a burst.
class VectorOutputValues final : public BurstValues {
public:
  VectorOutputValues(std::shared_ptr<VectorRun> run, uint32_t output)
      : run(std::move(run)), output(output) {}
  void require(uint64_t vector, uint32_t) override {
    run->require(output, vector);
  }
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override {
    return run->plane(output, vector, stream);
  }

private:
  std::shared_ptr<VectorRun> run;
  uint32_t output;
};

} // namespace orrery::sim
