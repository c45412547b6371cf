#include "runtime/command/CompareGpus.h"

#include "gpu-reference/latency/Published.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <set>

using llvm::formatv;

namespace orrery::command {
namespace {

using namespace gpu::latency;

WeightKind kindOf(llm::WeightFormat format) {
  switch (format) {
  case llm::WeightFormat::Q8_0:
    return WeightKind::Q8_0;
  case llm::WeightFormat::Q4_0:
    return WeightKind::Q4_0;
  case llm::WeightFormat::F16:
    return WeightKind::F16;
  }
  return WeightKind::F16;
}

KvKind kindOf(models::KvFormat format) {
  switch (format) {
  case models::KvFormat::F16:
    return KvKind::F16;
  case models::KvFormat::Q8:
    return KvKind::Q8;
  case models::KvFormat::Q4:
    return KvKind::Q4;
  }
  return KvKind::F16;
}

std::string gigabytes(int64_t bytes) {
  return formatv("{0:f1} GB", double(bytes) / 1e9).str();
}

/// Why the model is not on that many GPUs, and on how many it would be.
std::string tooBigText(const Gpu &gpu, const DecodeCase &setting,
                       const DecodeEstimate &e) {
  int64_t fewest = fewestGpus(gpu, setting);
  std::string out =
      formatv("needs {0} on each of {1} GPU{2} (weights {3}, KV cache {4}), "
              "has {5}; ",
              gigabytes(e.bytesHeld()), setting.gpus,
              setting.gpus == 1 ? "" : "s", gigabytes(e.weightBytesHeld),
              gigabytes(e.kvBytesHeld), gigabytes(e.hbmBytes))
          .str();
  return out +
         (fewest > 0
              ? formatv("fits from --tp {0}", fewest).str()
              : formatv("more than a node of {0} holds", gpu.nodeGpus).str());
}

CompareRow rowOn(const Gpu &gpu, const DecodeCase &setting, Evidence how) {
  CompareRow row;
  row.system = gpu.name;
  row.how = how;
  row.chips = setting.gpus;
  row.batch = setting.batch;
  row.context = setting.context;
  return row;
}

CompareRow modelledRow(const Gpu &gpu, const DecodeCase &setting,
                       const DecodeEstimate &e) {
  CompareRow row = rowOn(gpu, setting, Evidence::Modelled);
  if (!e.fits()) {
    row.tooBig = tooBigText(gpu, setting, e);
    return row;
  }
  row.usPerToken = e.us();
  row.rooflineShare = e.rooflineShare(e.us());
  row.model = e;
  row.detail =
      formatv("products {0:f0} us, attention {1:f0}, all-reduce "
              "{2:f0}, vectors {3:f0}, head {4:f0}{5}",
              e.productsUs, e.attentionUs, e.allReduceUs, e.vectorsUs, e.headUs,
              e.assumed ? "; constants of the nearest kernel measured" : "")
          .str();
  return row;
}

void addMeasured(const Gpu &gpu, const DecodeCase &setting,
                 const std::vector<MeasuredStep> &measured,
                 std::vector<CompareRow> &out) {
  for (const MeasuredStep &m : measured) {
    if (!m.isOn(gpu) || m.model != setting.config.name ||
        m.weights != setting.weights || !setting.tensorWeights.empty() ||
        m.kv != setting.kv || m.context != setting.context ||
        m.batch != setting.batch || m.gpus != setting.gpus) {
      continue;
    }
    CompareRow row = rowOn(gpu, setting, Evidence::Measured);
    row.usPerToken = m.medianUs;
    row.rooflineShare = double(m.bytes) / gpu.hbmBytesPerUs / m.medianUs;
    row.detail =
        formatv("median, p10 {0:f0} us, p90 {1:f0} us; {2:f0} % of its copy "
                "bandwidth; {3}, driver {4}, {5} ({6})",
                m.p10Us, m.p90Us,
                100 * double(m.bytes) / m.copyBytesPerUs / m.medianUs, m.device,
                m.driver, m.date, m.file)
            .str();
    out.push_back(std::move(row));
  }
}

bool matches(const PublishedRow &p, const std::string &system,
             const DecodeCase &setting) {
  return p.system == system && p.model == setting.config.name &&
         precisionBits(p.weights) == precisionBits(setting.weights) &&
         p.batch == setting.batch;
}

CompareRow publishedRow(const PublishedRow &p) {
  CompareRow row;
  row.system = p.system;
  row.how = Evidence::Published;
  row.chips = p.chips;
  row.usPerToken = p.usPerStep;
  row.batch = p.batch;
  row.context = p.context;
  row.detail =
      formatv("{0}, {1} weights{2}, mean context {3}; {4}; {5}, {6}{7}",
              p.engine, nameOf(p.weights),
              p.kvSaid ? ", KV " + nameOf(p.kv) : "", p.context, p.conditions,
              p.source, p.date, p.apart.empty() ? "" : "; but " + p.apart)
          .str();
  return row;
}

void addPublished(const Gpu &gpu, const DecodeCase &setting,
                  const std::vector<PublishedRow> &published,
                  std::vector<CompareRow> &out) {
  for (const PublishedRow &p : published) {
    if (!matches(p, gpu.name, setting) || p.chips != setting.gpus) {
      continue;
    }
    CompareRow row = publishedRow(p);
    DecodeCase own = setting;
    own.weights = p.weights;
    own.tensorWeights.clear();
    own.kv = p.kv;
    own.context = p.context;
    own.structure = p.structure;
    if (auto e = estimateDecode(gpu, own)) {
      row.rooflineShare = e->rooflineShare(p.usPerStep);
    }
    out.push_back(std::move(row));
  }
}

} // namespace

DecodeCase decodeCase(const CompareArguments &a, const ShapeSubject &subject) {
  DecodeCase out;
  out.config = subject.config;
  out.weights = kindOf(subject.options.weights);
  for (const auto &[name, format] : subject.options.tensorFormats) {
    if (kindOf(format) != out.weights) {
      out.tensorWeights[name] = kindOf(format);
    }
  }
  out.kv = kindOf(a.target.kv);
  out.context = subject.options.context;
  out.batch = a.batch;
  out.gpus = a.tensorParallel;
  return out;
}

Expected<std::vector<CompareRow>> gpuRows(const CompareArguments &a,
                                          const DecodeCase &setting) {
  auto published = publishedRows();
  auto measured = a.measurements.empty() ? keptMeasurements()
                                         : readMeasurements(a.measurements);
  if (!published || !measured) {
    return published ? measured.error() : published.error();
  }
  std::vector<CompareRow> rows;
  std::set<std::string> seen;
  for (const std::string &name : a.gpus.empty() ? gpuNames() : a.gpus) {
    auto gpu = loadGpu(name);
    if (!gpu) {
      return Error{"--gpu: " + gpu.error().message};
    }
    if (!seen.insert(gpu->name).second) {
      return Error{"--gpu: expected each GPU once, found " + gpu->name +
                   " twice"};
    }
    auto estimate = estimateDecode(*gpu, setting);
    if (!estimate) {
      return Error{gpu->name + ": " + estimate.error().message};
    }
    addMeasured(*gpu, setting, *measured, rows);
    rows.push_back(modelledRow(*gpu, setting, *estimate));
    addPublished(*gpu, setting, *published, rows);
  }
  return rows;
}

Expected<std::vector<CompareRow>> makerRows(const Machine &machine,
                                            const DecodeCase &setting) {
  auto published = publishedRows();
  if (!published) {
    return published.error();
  }
  std::vector<CompareRow> rows;
  if (machine.name.starts_with("lpu-v1")) {
    for (const PublishedRow &p : *published) {
      if (matches(p, "groq-lpu-v1", setting)) {
        rows.push_back(publishedRow(p));
      }
    }
  }
  return rows;
}

} // namespace orrery::command
