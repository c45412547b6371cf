#include "gpu-reference/latency/HeldOut.h"

#include "models/Zoo.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

namespace orrery::gpu::latency {
namespace {

template <class... A> std::string line(const char *format, A... arguments) {
  char text[512];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return -1;
  }
  std::ranges::sort(values);
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

Expected<double> modelUs(Gpu gpu, const PublishedRow &row,
                         const HeldOutTerms &terms) {
  auto config = models::loadShape(row.model);
  if (!config) {
    return config.error();
  }
  DecodeCase what;
  what.config = *config;
  what.weights = row.weights;
  what.kv = row.kv;
  what.context = row.context;
  what.batch = row.batch;
  what.gpus = row.chips;
  what.structure = terms.layouts ? row.structure : EngineStructure{};
  what.beyondNode = !row.apart.empty();
  if (!terms.vectorBytes) {
    gpu.vectorOpBytesPerUs = std::numeric_limits<double>::infinity();
  }
  auto estimate = estimateDecode(gpu, what);
  if (!estimate) {
    return Error{row.id + ": " + estimate.error().message};
  }
  return estimate->us();
}

std::string rowText(const HeldOutRow &row) {
  const PublishedRow &p = row.published;
  return line("%-33s %-5s%2lld %-14s %-5s%5lld%7lld%10.2f%10.2f%8.1f\n",
              p.id.c_str(), p.system.c_str(), (long long)p.chips,
              p.model.c_str(), nameOf(p.weights).c_str(), (long long)p.batch,
              (long long)p.context, p.usPerStep / 1e3, row.modelUs / 1e3,
              100 * row.error());
}

} // namespace

Expected<std::vector<HeldOutRow>> heldOutRows(const HeldOutTerms &terms) {
  auto published = publishedRows();
  if (!published) {
    return published.error();
  }
  std::map<std::string, Gpu> gpus;
  for (const std::string &name : gpuNames()) {
    auto gpu = loadGpu(name);
    if (!gpu) {
      return gpu.error();
    }
    gpus.emplace(name, std::move(*gpu));
  }
  std::vector<HeldOutRow> rows;
  for (PublishedRow &row : *published) {
    auto gpu = gpus.find(row.system);
    if (gpu == gpus.end()) {
      continue; // of another maker
    }
    if (!terms.firstToken) {
      row.usPerStep = row.usWithFirst;
    }
    auto us = modelUs(gpu->second, row, terms);
    if (!us) {
      return us.error();
    }
    rows.push_back({std::move(row), *us});
  }
  return rows;
}

double medianError(const std::vector<HeldOutRow> &rows,
                   const std::function<bool(const HeldOutRow &)> &among) {
  std::vector<double> errors;
  for (const HeldOutRow &row : rows) {
    if (among(row)) {
      errors.push_back(std::abs(row.error()));
    }
  }
  return median(std::move(errors));
}

namespace {

class Medians {
public:
  Medians(const std::vector<HeldOutRow> &rows) : rows(rows) {}

  std::string of(const std::string &name,
                 const std::function<bool(const HeldOutRow &)> &among) const {
    long long count = std::ranges::count_if(rows, among);
    return count == 0 ? ""
                      : line("  %-44s%4lld rows %7.1f %%\n", name.c_str(),
                             count, 100 * medianError(rows, among));
  }

private:
  const std::vector<HeldOutRow> &rows;
};

} // namespace

Expected<std::string> heldOutText() {
  auto modelled = heldOutRows();
  if (!modelled) {
    return modelled.error();
  }
  const std::vector<HeldOutRow> &rows = *modelled;
  std::string out =
      line("%-33s %-7s %-14s %-5s%5s%7s%10s%10s%8s\n", "row", "GPUs", "model",
           "", "batch", "ctx", "publ. ms", "model ms", "err %");
  std::string apart, engine;
  std::set<std::string> engines, systems;
  for (const HeldOutRow &row : rows) {
    engines.insert(row.published.engine);
    systems.insert(row.published.system);
    (row.heldOut() ? out : apart) += rowText(row);
    if (!row.heldOut()) {
      apart += "    " + row.published.apart + "\n";
    }
  }
  out += "\nreported apart, in no median but the last\n" + apart;
  out += "\nmedian absolute error\n";
  auto held = [](const HeldOutRow &row) { return row.heldOut(); };
  out += Medians(rows).of("held out", held);
  for (const std::string &name : engines) {
    out += Medians(rows).of("  " + name, [&](const HeldOutRow &row) {
      return row.heldOut() && row.published.engine == name;
    });
  }
  for (const std::string &name : systems) {
    out += Medians(rows).of("  " + name, [&](const HeldOutRow &row) {
      return row.heldOut() && row.published.system == name;
    });
  }
  for (const auto &[name, terms] :
       {std::pair<const char *, HeldOutTerms>{"every engine laid out alike",
                                              {false, true, true}},
        {"first token not taken off", {true, false, true}},
        {"vector ops without their bytes", {true, true, false}},
        {"without any of these three", {false, false, false}}}) {
    auto without = heldOutRows(terms);
    if (!without) {
      return without.error();
    }
    out += Medians(*without).of(std::string("held out, ") + name, held);
  }
  return out + Medians(rows).of("with those apart",
                                [](const HeldOutRow &) { return true; });
}

double sampleError(const Gpu &gpu, int64_t batch) {
  std::vector<double> errors;
  for (const GemmSample &s : gpu.samples) {
    if (s.batch == batch) {
      const MatmulFit &fit = *gpu.fit(s.fit);
      double bytes = double(matrixBytes(s.rows, s.cols, s.fit));
      double ops = 2.0 * double(s.rows) * double(s.cols) * double(s.batch);
      double us =
          fit.t0Us + std::max(bytes / fit.bytesPerUs, ops / fit.opsPerUs);
      errors.push_back(std::abs(us / s.us - 1));
    }
  }
  return median(std::move(errors));
}

Expected<std::string> sampleText() {
  std::string out =
      line("%-6s%8s%10s%16s\n", "GPU", "batch", "samples", "median error");
  for (const std::string &name : gpuNames()) {
    auto gpu = loadGpu(name);
    if (!gpu) {
      return gpu.error();
    }
    std::map<int64_t, long long> counts;
    for (const GemmSample &sample : gpu->samples) {
      ++counts[sample.batch];
    }
    for (auto [batch, count] : counts) {
      out += line("%-6s%8lld%10lld%14.1f %%\n", name.c_str(), (long long)batch,
                  count, 100 * sampleError(*gpu, batch));
    }
  }
  return out;
}

} // namespace orrery::gpu::latency
