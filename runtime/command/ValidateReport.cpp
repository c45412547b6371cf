#include "runtime/command/ValidateReport.h"

#include "runtime/command/DifferenceReport.h"
#include "runtime/command/RunReport.h"
#include "runtime/command/ValidateBatch.h"

#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace orrery::command {

std::string formatText(const ValidateReport &report) {
  std::string out =
      formatv("{0} on {1}: {2} positions, {3:N} logits, {4:N} differ\n",
              report.modelName, report.machine.name, report.bits.rows(),
              report.bits.values(), report.bits.different());
  out += report.chipsText;
  if (report.first) {
    out += differenceText(*report.first, "simulator");
  }
  const models::Quality &q = report.quality;
  if (q.positions > 0) {
    out += formatv("against the golden logits: mean KL {0:e2}, greatest "
                   "{1:e2}, top-1 {2:f1} % of {3} positions\n",
                   q.meanKl, q.maxKl, 100 * q.top1, q.positions);
  }
  if (report.gpu) {
    out +=
        formatv("gpu: {0}: {1:N} logits, {2:N} differ\n", report.gpu->backend,
                report.gpu->bits.values(), report.gpu->bits.different());
  } else {
    out += formatv("gpu: not run: {0}\n", report.whyNoGpu);
  }
  if (report.gpu && report.gpu->first) {
    out += differenceText(*report.gpu->first, "GPU reference");
  }
  if (report.batch) {
    out += batchText(*report.batch);
  } else if (report.batchAsked) {
    out += formatv("batched decode: not run: {0}\n", report.whyNoBatch);
  }
  return out + receiptText(report.receipt, report.machine);
}

static Json gpuJson(const ValidateReport &report) {
  if (!report.gpu) {
    return {{"ran", false}, {"why", report.whyNoGpu}};
  }
  const runtime::BitCompare &compared = report.gpu->bits;
  Json out = {{"ran", true},
              {"backend", report.gpu->backend},
              {"values", compared.values()},
              {"different", compared.different()},
              {"tokens_chosen", compared.choices()},
              {"tokens_not_the_interpreters", compared.otherChoices()}};
  if (report.gpu->first) {
    out["first_difference"] =
        differenceJson(*report.gpu->first, "reference_bits");
  }
  return out;
}

Json toJson(const ValidateReport &report) {
  const runtime::BitCompare &bits = report.bits;
  Json out = {{"model", report.modelName},
              {"machine", report.machine.name},
              {"chips", report.chipsJson},
              {"positions", bits.rows()},
              {"values", bits.values()},
              {"different", bits.different()},
              {"tokens_chosen", bits.choices()},
              {"tokens_not_the_interpreters", bits.otherChoices()},
              {"ids", report.read}};
  if (report.first) {
    out["first_difference"] = differenceJson(*report.first, "simulator_bits");
  }
  out["gpu"] = gpuJson(report);
  if (report.batch) {
    out["batched_decode"] = batchJson(*report.batch);
  } else if (report.batchAsked) {
    out["batched_decode"] = {{"ran", false}, {"why", report.whyNoBatch}};
  }
  const models::Quality &q = report.quality;
  if (q.positions > 0) {
    out["golden"] = {{"positions", q.positions},
                     {"mean_kl_nats", q.meanKl},
                     {"max_kl_nats", q.maxKl},
                     {"top1", q.top1}};
  }
  out["receipt"] = toJson(report.receipt, report.machine);
  return out;
}

} // namespace orrery::command
