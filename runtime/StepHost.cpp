#include "runtime/StepHost.h"

#include "runtime/StageChips.h"

#include <bit>

namespace orrery::runtime {

Expected<std::vector<SramImage>> fillImages(const CompiledStep &step,
                                            const Machine &machine,
                                            const models::WeightSource &weights,
                                            const AfterFill &afterFill) {
  std::vector<SramImage> images;
  for (const ChipProgram &chip : step.system.chips) {
    const ImagePlan &plan = step.parts[chip.part].image;
    SramImage &image = images.emplace_back(machine);
    if (Status ok =
            fillImage(plan, machine, weights, image, step.shareOf(chip));
        !ok) {
      return ok.error();
    }
    if (afterFill) {
      afterFill(chip, plan, image);
    }
  }
  return images;
}

HostInput::HostInput(const CompiledStep &step, const Machine &machine,
                     EmbeddingTable table)
    : lanes(machine.lanes), table(std::move(table)) {
  for (const CompiledPart &part : step.parts) {
    plans.push_back({{}, {}, part.image.host});
  }
}

std::vector<std::vector<float>>
HostInput::of(const SystemProgram &program, std::span<const int32_t> ids,
              uint32_t position, const AfterRows &afterRows) const {
  std::vector<float> embeddings;
  for (int32_t id : ids) {
    std::vector<float> row = table.row(id);
    embeddings.insert(embeddings.end(), row.begin(), row.end());
  }
  std::vector<std::vector<float>> out;
  for (const ChipProgram &chip : program.chips) {
    const ImagePlan &plan = plans[chip.part];
    auto &rows = out.emplace_back(
        hostVectors(plan, lanes, program.parts[chip.part].tokens, position,
                    embeddings, int32_t(chip.rank)));
    if (afterRows) {
      afterRows(chip, plan, rows);
    }
  }
  return out;
}

Expected<std::vector<int32_t>> sentIds(const SystemProgram &program,
                                       const sim::SystemResult &result,
                                       uint32_t tokens) {
  std::vector<int32_t> ids;
  std::vector<size_t> last = stageChips(program).back();
  for (uint32_t t = 0; t < tokens; ++t) {
    for (size_t chip : last) {
      // {value, index} of the argmax.
      float index = result.of(chip).hostOutput[t][1];
      auto id = int32_t(std::bit_cast<uint32_t>(index));
      if (chip == last.front()) {
        ids.push_back(id);
      } else if (id != ids.back()) {
        return Error{"chips " +
                     std::to_string(program.chips[last.front()].chip) +
                     " and " + std::to_string(program.chips[chip].chip) +
                     " of the last stage disagree about the greatest logit of "
                     "token " +
                     std::to_string(t) + ": " + std::to_string(ids.back()) +
                     " and " + std::to_string(id)};
      }
    }
  }
  return ids;
}

std::vector<float> gatherLogits(const CompiledStep &step,
                                const sim::SystemSimulator &simulator,
                                uint32_t token) {
  const SystemProgram &system = step.system;
  std::vector<size_t> last = stageChips(system).back();
  std::vector<float> out;
  for (size_t chip : last) {
    std::vector<float> shard =
        simulator.logits(chip, system.parts[system.chips[chip].part], token);
    out.insert(out.end(), shard.begin(), shard.end());
  }
  // Shards are equally wide: the last ones end with padding. Not so on one
  // chip, whose probes may have more lanes than the value has elements.
  if (last.size() > 1) {
    mlir::func::FuncOp whole =
        *mlir::ModuleOp(*step.step).getOps<mlir::func::FuncOp>().begin();
    auto type =
        mlir::cast<mlir::RankedTensorType>(whole.getResultTypes().front());
    out.resize(size_t(type.getDimSize(1)));
  }
  return out;
}

} // namespace orrery::runtime
