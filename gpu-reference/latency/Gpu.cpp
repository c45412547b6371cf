// A GPU's description from JSON; rates at many rows from its samples.
#include "gpu-reference/latency/Gpu.h"

#include "gpu-reference/latency/Fields.h"

#include <algorithm>

namespace orrery::gpu::latency {
namespace {

using nlohmann::json;
using Keys = description::Keys;

// Ranges that keep arithmetic finite; no GPU is near their ends.
constexpr double kTiny = 1e-6, kHuge = 1e9;
constexpr double kUsPerSecond = 1e6;
/// The names a fit's `math` may have: peaks of the description.
constexpr const char *kMath[] = {"bf16_tflops", "int8_tops", "fp8_tflops",
                                 "fp4_tflops"};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

class GpuReader {
public:
  explicit GpuReader(const json &root) : top("", root, problem) {}

  Expected<Gpu> run() {
    if (readTop() && readLaunch() && readMatmul() && readGemm() &&
        deriveRates() && readAttention() &&
        readAllReduce("all_reduce", gpu.allReduce) && readNccl()) {
      return std::move(gpu);
    }
    return Error{problem.message()};
  }

private:
  bool readTop();
  bool readLaunch();
  bool readMatmul();
  bool readFit(const std::string &name, const json &value);
  bool readGemm();
  bool readGemmTable(Fields table);
  bool deriveRates();
  bool readAttention();
  bool readAttentionCurve(Fields &attention, const char *key, double slope,
                          std::optional<Curve> &out);
  bool readAllReduce(const char *key, AllReduce &out);
  bool readNccl();

  FirstProblem problem;
  Fields top;
  Gpu gpu;
  std::map<std::string, double> peak; ///< by math, operations a us
  std::map<std::string, std::vector<double>> share; ///< of it, by math
  std::map<WeightKind, std::string> mathOf;
};

bool GpuReader::readTop() {
  const Keys numbers = {
      "hbm_gb", "hbm_tb_per_s", "bf16_tflops",  "nvlink_gb_per_s",
      "tdp_w",  "node_gpus",    "vector_op_us", "vector_op_bandwidth_share"};
  Keys needed = numbers;
  needed.insert({"name", "title", "source", "launch", "matmul", "gemm",
                 "attention", "all_reduce"});
  Keys allowed(std::begin(kMath), std::end(kMath));
  allowed.insert("nccl");
  if (!top.keys(needed, allowed) || !top.text("name", gpu.name) ||
      !top.text("title", gpu.title)) {
    return false;
  }
  Keys sourced = numbers;
  for (const char *math : kMath) {
    double value = 0;
    if (top.has(math)) {
      sourced.insert(math);
      if (!top.number(math, value, kTiny, kHuge)) {
        return false;
      }
      peak[math] = value * 1e12 / kUsPerSecond;
    }
  }
  Fields source("source", top["source"], problem);
  if (!source.keys(sourced)) {
    return false;
  }
  for (std::string_view key : sourced) {
    if (!description::checkSource("", key, top["source"], problem)) {
      return false;
    }
  }
  double gb = 0, tb = 0, share = 0, unused = 0;
  bool good = top.number("hbm_gb", gb, kTiny, kHuge) &&
              top.number("hbm_tb_per_s", tb, kTiny, kHuge) &&
              top.number("nvlink_gb_per_s", unused, kTiny, kHuge) &&
              top.number("tdp_w", unused, kTiny, kHuge) &&
              top.whole("node_gpus", gpu.nodeGpus, 1, 1 << 10) &&
              top.number("vector_op_us", gpu.vectorOpUs, 0, kHuge) &&
              top.number("vector_op_bandwidth_share", share, kTiny, 1);
  gpu.hbmBytes = int64_t(gb * 1e9);
  gpu.hbmBytesPerUs = tb * 1e12 / kUsPerSecond;
  gpu.vectorOpBytesPerUs = share * gpu.hbmBytesPerUs;
  return good;
}

bool GpuReader::readLaunch() {
  Fields launch("launch", top["launch"], problem);
  std::string kind, source;
  return launch.keys({"kind", "source"}) && launch.text("kind", kind) &&
         launch.text("source", source) &&
         (kind == "cuda_graph" ||
          launch.fail("kind", "expected cuda_graph, found " + kind));
}

bool GpuReader::readMatmul() {
  if (!top["matmul"].is_object()) {
    return problem.fail("matmul", "an object",
                        description::shown(top["matmul"]));
  }
  for (const auto &[name, value] : top["matmul"].items()) {
    if (!readFit(name, value)) {
      return false;
    }
  }
  return gpu.matmul.contains(WeightKind::Bf16) ||
         problem.fail("matmul.bf16", "a value", "nothing");
}

bool GpuReader::readFit(const std::string &name, const json &value) {
  auto kind = weightKindNamed(name);
  if (!kind) {
    return problem.fail("matmul: " + kind.error().message);
  }
  Fields fit("matmul." + name, value, problem);
  MatmulFit out;
  std::string math;
  double bandwidth = 0;
  if (!fit.keys({"t0_us", "tb_per_s", "math", "source"}) ||
      !fit.number("t0_us", out.t0Us, 0, kHuge) ||
      !fit.number("tb_per_s", bandwidth, kTiny, kHuge) ||
      !fit.text("math", math) || !fit.text("source", out.source)) {
    return false;
  }
  if (!peak.contains(math)) {
    return fit.fail("math",
                    "expected a peak of the description, found " + math);
  }
  out.bytesPerUs = bandwidth * 1e12 / kUsPerSecond;
  mathOf[*kind] = math;
  gpu.matmul[*kind] = out;
  return true;
}

bool GpuReader::readGemm() {
  if (!top.array("gemm")) {
    return false;
  }
  for (size_t i = 0; i < top["gemm"].size(); ++i) {
    if (!readGemmTable(Fields(top.at("gemm", i), top["gemm"][i], problem))) {
      return false;
    }
  }
  return share.contains("bf16_tflops") ||
         problem.fail("gemm", "a table of bf16_tflops", "none");
}

bool GpuReader::readGemmTable(Fields table) {
  std::string weights, t0Of, math, source;
  if (!table.keys(
          {"weights", "t0_of", "math", "batches", "samples", "source"}) ||
      !table.text("weights", weights) || !table.text("t0_of", t0Of) ||
      !table.text("math", math) || !table.text("source", source) ||
      !table.array("batches") || !table.array("samples")) {
    return false;
  }
  auto kind = weightKindNamed(t0Of);
  if (!kind || !gpu.matmul.contains(*kind)) {
    return table.fail("t0_of", "expected a key of matmul, found " + t0Of);
  }
  if (!peak.contains(math)) {
    return table.fail("math",
                      "expected a peak of the description, found " + math);
  }
  double t0 = gpu.matmul[*kind].t0Us;
  size_t columns = table["batches"].size();
  for (size_t i = 0; i < table["samples"].size(); ++i) {
    Fields row(table.at("samples", i), table["samples"][i], problem);
    GemmSample sample{weights, *kind, 0, 0, 0, 0};
    if (!row.keys({"rows", "cols", "us"}) ||
        !row.whole("rows", sample.rows, 1, 1 << 24) ||
        !row.whole("cols", sample.cols, 1, 1 << 24) || !row.array("us") ||
        (row["us"].size() != columns &&
         !row.fail("us", "expected one number for each of batches"))) {
      return false;
    }
    for (size_t c = 0; c < columns; ++c) {
      const json &us = row["us"][c], &batch = table["batches"][c];
      if (!us.is_number() || !batch.is_number_integer() ||
          us.get<double>() <= t0 || batch.get<int64_t>() < 1) {
        return row.fail("us", "expected times above t0 at batches of 1 or "
                              "more");
      }
      sample.us = us.get<double>();
      sample.batch = batch.get<int64_t>();
      gpu.samples.push_back(sample);
    }
    // The last batch is the one that computes most.
    double ops =
        2.0 * double(sample.rows) * double(sample.cols) * double(sample.batch);
    share[math].push_back(ops / (sample.us - t0) / peak[math]);
  }
  return true;
}

// The share of its peak that a unit reaches: the median of its samples at the
// largest batch, or, where none were measured, that of the bf16 unit.
bool GpuReader::deriveRates() {
  for (auto &[kind, fit] : gpu.matmul) {
    const std::string &math = mathOf[kind];
    auto own = share.find(math);
    const auto &from = own == share.end() ? share["bf16_tflops"] : own->second;
    fit.opsPerUs = peak[math] * std::min(1.0, median(from));
  }
  return true;
}

bool GpuReader::readAttention() {
  Fields attention("attention", top["attention"], problem);
  double bandwidth = 0;
  std::string source;
  if (!attention.keys({"head_dim", "samples", "tb_per_s", "source"},
                      {"one_head_samples"}) ||
      !attention.number("tb_per_s", bandwidth, kTiny, kHuge) ||
      !attention.text("source", source)) {
    return false;
  }
  double slope = kUsPerSecond / (bandwidth * 1e12);
  std::optional<Curve> all;
  if (!readAttentionCurve(attention, "samples", slope, all)) {
    return false;
  }
  gpu.attention = *all;
  return !attention.has("one_head_samples") ||
         readAttentionCurve(attention, "one_head_samples", slope,
                            gpu.oneHeadAttention);
}

bool GpuReader::readAttentionCurve(Fields &attention, const char *key,
                                   double slope, std::optional<Curve> &out) {
  int64_t headDim = 0;
  if (!attention.whole("head_dim", headDim, 1, 1 << 16) ||
      !attention.array(key)) {
    return false;
  }
  std::vector<Curve::Point> points;
  for (size_t i = 0; i < attention[key].size(); ++i) {
    Fields row(attention.at(key, i), attention[key][i], problem);
    int64_t context = 0, batch = 0, heads = 0;
    double us = 0;
    if (!row.keys({"context", "batch", "kv_heads", "us"}) ||
        !row.whole("context", context, 1, 1 << 30) ||
        !row.whole("batch", batch, 1, 1 << 20) ||
        !row.whole("kv_heads", heads, 1, 1 << 16) ||
        !row.number("us", us, kTiny, kHuge)) {
      return false;
    }
    points.push_back({double(context) * double(batch) * double(heads) *
                          double(kvBytes(headDim, KvKind::F16)),
                      us});
  }
  auto curve = Curve::make(std::move(points), slope);
  if (!curve) {
    return attention.fail(key, curve.error().message);
  }
  out = std::move(*curve);
  return true;
}

bool GpuReader::readAllReduce(const char *key, AllReduce &out) {
  Fields object(key, top[key], problem);
  std::string source;
  if (!object.keys({"bytes", "tables", "source"}) ||
      !object.text("source", source) || !object.array("bytes") ||
      !object.array("tables")) {
    return false;
  }
  const json &bytes = object["bytes"];
  std::map<int64_t, Curve> tables;
  for (size_t i = 0; i < object["tables"].size(); ++i) {
    Fields table(object.at("tables", i), object["tables"][i], problem);
    int64_t gpus = 0;
    if (!table.keys({"gpus", "us"}) ||
        !table.whole("gpus", gpus, 2, gpu.nodeGpus) || !table.array("us")) {
      return false;
    }
    const json &us = table["us"];
    std::vector<Curve::Point> points;
    for (size_t b = 0; b < std::min(bytes.size(), us.size()); ++b) {
      points.push_back({bytes[b].is_number() ? bytes[b].get<double>() : 0,
                        us[b].is_number() ? us[b].get<double>() : 0});
    }
    auto curve = Curve::make(std::move(points));
    if (us.size() != bytes.size() || !curve || tables.contains(gpus)) {
      return table.fail("us", "expected one number above 0 for each of bytes, "
                              "one table for " +
                                  std::to_string(gpus) + " GPUs");
    }
    tables.emplace(gpus, std::move(*curve));
  }
  out = AllReduce(std::move(tables));
  return true;
}

bool GpuReader::readNccl() {
  return !top.has("nccl") ||
         readAllReduce("nccl", gpu.nccl.emplace(std::map<int64_t, Curve>()));
}

} // namespace

Expected<Gpu> parseGpu(std::string_view text, const std::string &where) {
  auto root = description::parse(text);
  if (!root) {
    return Error{"gpu `" + where + "`: " + root.error().message};
  }
  auto gpu = GpuReader(*root).run();
  return gpu ? std::move(gpu)
             : Error{"gpu `" + where + "`: " + gpu.error().message};
}

} // namespace orrery::gpu::latency
