#include "simulator/function/VectorValues.h"

#include "machine/kernels/Gemv.h"
#include "machine/kernels/Rows.h"
#include "simulator/function/AluSteps.h"
#include "simulator/function/Lanes.h"

#include <algorithm>

namespace orrery::sim {

VectorRun::VectorRun(const VectorProgram &program,
                     const StepRegisters &registers, uint32_t instruction,
                     const BurstTicks &ticks, std::vector<Operands> inputs,
                     BufferPool &pool)
    : program(program), registers(registers), lanes(registers.lanes),
      instruction(instruction), ticks(ticks), inputs(std::move(inputs)),
      results(program.outputs.size()),
      scratch(pool.take((program.inputs.size() + program.steps.size() + 1) *
                        lanes * sizeof(float))) {
  for (size_t o = 0; o < results.size(); ++o) {
    const VectorOutput &out = program.outputs[o];
    uint64_t count = ticks.count();
    count = out.reduction == Reduction::None ? count : count / program.group;
    results[o].streams = uint32_t(streamsOf(out.type));
    results[o].bytes = pool.take(count * results[o].streams * lanes);
    if (out.reduction == Reduction::AddSums) {
      results[o].sums = pool.take(lanes * sizeof(int64_t));
    }
  }
  if (std::ranges::count(program.inputs, StreamType::Sum) > 0) {
    accumulators = pool.take(program.inputs.size() * lanes * sizeof(int64_t));
  }
}

void VectorRun::require(uint32_t output, uint64_t vector) {
  uint64_t needed = program.outputs[output].reduction == Reduction::None
                        ? vector + 1
                        : (vector + 1) * program.group;
  while (done < needed) {
    uint64_t n = done;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      takeInput(i, n);
    }
    for (size_t s = 0; s < program.steps.size(); ++s) {
      const AluStep &step = program.steps[s];
      runStep(step, registers, uint32_t(n), value(step.a), value(step.b),
              value(inputs.size() + s));
    }
    for (uint32_t o = 0; o < results.size(); ++o) {
      const VectorOutput &out = program.outputs[o];
      if (out.reduction == Reduction::None) {
        emit(o, n, value(out.value));
        continue;
      }
      reduce(out, results[o], n);
      if ((n + 1) % program.group == 0) {
        finishReduction(out, results[o]);
        emit(o, n / program.group, value(inputs.size() + program.steps.size()));
      }
    }
    done = n + 1;
  }
  if (done == ticks.count()) {
    for (Operands &group : inputs) {
      group.clear(); // the producers are no longer needed
    }
  }
}

void VectorRun::takeInput(uint32_t input, uint64_t vector) {
  const Operands &group = inputs[input];
  const uint8_t *planes[8] = {};
  for (size_t k = 0; k < group.size(); ++k) {
    group[k].require(vector);
    planes[k] = group[k].plane(vector);
  }
  switch (program.inputs[input]) {
  case StreamType::F32:
    return gatherF32(planes, int32_t(lanes), value(input));
  case StreamType::F16:
    return gatherF16(planes, int32_t(lanes), value(input));
  case StreamType::Sum:
    return gatherSums(planes, int32_t(lanes), sumsOf(input));
  default:
    return gatherI8(planes[0], int32_t(lanes), value(input));
  }
}

void VectorRun::addSums(const VectorOutput &out, Result &r, uint64_t vector) {
  const int64_t *x = sumsOf(out.value);
  int64_t *sums = r.sums.as<int64_t>();
  if (vector % program.group == 0) {
    std::fill_n(sums, lanes, 0);
  }
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (!numerics::accumulate(sums[lane], x[lane])) {
      bad(vector, "the exact sum in lane " + std::to_string(lane) +
                      " leaves the accumulator's range of +-2^27");
    }
  }
}

void VectorRun::reduce(const VectorOutput &out, Result &r, uint64_t vector) {
  const float *x = value(out.value);
  uint64_t place = vector % program.group;
  if (place == 0) {
    r.wide = {};
    r.exact = 0;
    r.exactInRange = true;
    r.bestElement = -1;
  }
  switch (out.reduction) {
  case Reduction::SumWide:
    r.wide.add(numerics::sumWide(x, lanes));
    break;
  case Reduction::SumExact:
    r.exactInRange &= numerics::sumExact(x, lanes, r.exact);
    break;
  case Reduction::Max: {
    float best = numerics::maxRow(x, lanes);
    bool wins = place == 0 || best != best || best > r.best;
    r.best = wins && !(place != 0 && r.best != r.best) ? best : r.best;
    break;
  }
  case Reduction::ArgMax: {
    int64_t lane = numerics::argmax(x, lanes);
    if (lane >= 0 && (r.bestElement < 0 || x[lane] > r.best)) {
      r.best = x[lane];
      r.bestElement = lane + int64_t(place) * lanes;
    }
    break;
  }
  case Reduction::ArgBest: {
    // Lane 0 a value, lane 1 its element index.
    auto element = int64_t(numerics::floatToBits(x[1]));
    bool wins = x[0] == x[0] && (r.bestElement < 0 || x[0] > r.best ||
                                 (x[0] == r.best && element < r.bestElement));
    if (wins) {
      r.best = x[0];
      r.bestElement = element;
    }
    break;
  }
  case Reduction::AddSums:
    return addSums(out, r, vector);
  case Reduction::None:
    break;
  }
}

/// The result row goes into the spare row of the scratch.
void VectorRun::finishReduction(const VectorOutput &out, Result &r) {
  float *row = value(inputs.size() + program.steps.size());
  float result = r.best;
  if (out.reduction == Reduction::SumWide) {
    result = r.wide.read();
  } else if (out.reduction == Reduction::SumExact) {
    if (!r.exactInRange || !numerics::accumulatorInRange(r.exact)) {
      bad(done, "the exact sum leaves the accumulator's range of +-2^27");
    }
    result = numerics::readAccumulator(r.exact);
  } else if (out.reduction == Reduction::ArgMax ||
             out.reduction == Reduction::ArgBest) {
    if (r.bestElement < 0) {
      bad(done, "no number among the candidates of the greatest value");
    }
    std::fill(row, row + lanes, 0.0f);
    row[0] = r.best;
    row[1] = numerics::bitsToFloat(uint32_t(r.bestElement));
    return;
  } else if (out.reduction == Reduction::AddSums) {
    if (!numerics::readAccumulators(r.sums.as<int64_t>(), lanes, row)) {
      bad(done, "an exact sum leaves the accumulator's range of +-2^27");
    }
    return;
  }
  std::fill(row, row + lanes, result);
}

void VectorRun::emit(uint32_t output, uint64_t vector, const float *row) {
  Result &r = results[output];
  StreamType type = program.outputs[output].type;
  int32_t n = int32_t(lanes);
  if (type != StreamType::I8) {
    int32_t lane = firstNotFinite(row, n);
    if (lane < n) {
      bad(done, "output " + std::to_string(output) + " is " +
                    (row[lane] != row[lane] ? "NaN" : "infinite") +
                    " in lane " + std::to_string(lane));
    }
  }
  uint8_t *to = r.bytes.data() + vector * r.streams * lanes;
  switch (type) {
  case StreamType::F32:
    return scatterF32(row, n, to);
  case StreamType::F16:
    for (int32_t lane = 0; lane < n; ++lane) {
      if (!numerics::isFinite(numerics::roundToHalf(row[lane]))) {
        bad(done, "output " + std::to_string(output) +
                      " is beyond f16 in lane " + std::to_string(lane));
      }
    }
    return scatterF16(row, n, to);
  case StreamType::I8:
    return scatterI8(row, n, to);
  case StreamType::A8:
    scatterA8(row, n, to);
    return;
  case StreamType::Sum: // of AddSums; `row` is the same, read out
    return scatterSums(r.sums.as<int64_t>(), n, to);
  }
}

void VectorRun::bad(uint64_t vector, const std::string &what) const {
  throw BadValue{instruction, ticks.at(vector),
                 "vector " + std::to_string(vector) + ": " + what};
}

} // namespace orrery::sim
