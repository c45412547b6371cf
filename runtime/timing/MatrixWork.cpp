#include "runtime/timing/MatrixWork.h"

namespace orrery::runtime {

int64_t chargedMacs(const Program &part, const Machine &machine) {
  int64_t macs = 0;
  for (const Instruction &i : part.instructions) {
    if (auto *op = std::get_if<MatmulOp>(&i.operation)) {
      macs += int64_t(op->tiles) * op->inner * op->rows * (op->high - op->low) *
              machine.lanes;
    }
  }
  return macs;
}

MatrixWork matrixWork(const CompiledStep &step, const Machine &machine,
                      const models::ModelConfig &config, int64_t positions) {
  MatrixWork work;
  std::vector<int64_t> ofPart;
  for (const Program &part : step.system.parts) {
    ofPart.push_back(chargedMacs(part, machine));
  }
  for (const ChipProgram &chip : step.system.chips) {
    work.charged += ofPart[chip.part];
  }
  const Program &first = step.system.parts.front();
  for (int64_t t = 0; t < first.tokens; ++t) {
    work.useful += models::decodeMacsPerToken(config) +
                   models::attentionMacsPerToken(config, positions - t);
  }
  return work;
}

} // namespace orrery::runtime
