// What is launched for a step, and on which buffers.
#include "gpu-reference/Decoder.h"

#include "gpu-reference/kernels/Gemm.h"
#include "gpu-reference/kernels/Gemv.h"
#include "gpu-reference/kernels/Rows.h"

#include <algorithm>

namespace orrery::gpu::ORRERY_GPU {

//===-- The launches of a step --------------------------------------------===//

namespace {
/// The forms that products with `matrices` read.
ActivationForms formsFor(std::span<const MatrixView> matrices) {
  ActivationForms forms;
  for (const MatrixView &matrix : matrices) {
    const bool halves = matrix.format == MatrixFormat::F16;
    (halves ? forms.halves : forms.codes) = true;
  }
  return forms;
}
ActivationForms formsFor(const DeviceMatrix &matrix) {
  const MatrixView view = matrix.view();
  return formsFor(std::span(&view, 1));
}

/// `view` with those forms only.
ActivationView only(ActivationView view, ActivationForms forms) {
  view.values = forms.values ? view.values : nullptr;
  view.codes = forms.codes ? view.codes : nullptr;
  view.scales = forms.codes ? view.scales : nullptr;
  view.halves = forms.halves ? view.halves : nullptr;
  return view;
}
} // namespace

/// One step. Each method launches what its name says and tells `after`; behind
/// an error none does anything.
class Decoder::Launcher {
public:
  Launcher(Decoder &decoder, const StepRows &step,
           const AttentionPlan &attention, cudaStream_t stream,
           const AfterOp &after)
      : d(decoder), c(decoder.config), rows(step.count()),
        batched(step.batched()), attentionPlan(attention), stream(stream),
        after(after) {}

  Status step();

private:
  void begin();
  void attentionBlock(int64_t index, const LayerWeights &layer);
  void feedForward(int64_t index, const LayerWeights &layer);
  void head();

  ActivationView rowsOf(DeviceActivations &memory, LargeWord word,
                        ActivationForms forms) {
    ActivationView view = only(memory.view(rows), forms);
    view.large = d.input.data() + int64_t(word);
    return view;
  }
  ActivationView norm(uint32_t op, const Buffer<float> &weight,
                      ActivationForms forms);
  void linear(uint32_t op, const MatrixView &weight, const ActivationView &x,
              float *to);
  void linears(uint32_t firstOp, const MatrixGroup &weights,
               const ActivationView &x, float *to);
  void turn(uint32_t op, float *x, int64_t count);
  void addToStream(uint32_t op);

  FaultSite site(uint32_t op) { return {d.faults.data(), op}; }
  bool going() const { return bool(status); }
  /// A step of one token that nobody looks into: rows of several matrices lie
  /// one behind the other, and one launch makes them all. Its fault names the
  /// first op of them; who wants to know looks into the step.
  bool joins() const { return rows == 1 && !after; }
  void check(cudaError_t error, const char *call) {
    status = cudaStatus(error, call);
  }
  /// The launches of `op` are given.
  void done(uint32_t op, const float *values, int64_t width) {
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
      status = cudaStatus(error, "launch of " + d.stepOps.name(op));
    } else if (after) {
      status = after(op, values, int32_t(width));
    }
  }

  Decoder &d;
  const models::ModelConfig &c;
  int32_t rows;
  bool batched;
  const AttentionPlan &attentionPlan;
  cudaStream_t stream;
  const AfterOp &after;
  Status status = Success();
};

Status Decoder::Launcher::step() {
  begin();
  for (int64_t index = 0; index < c.layers; ++index) {
    const LayerWeights &layer = d.weights.layers()[size_t(index)];
    attentionBlock(index, layer);
    feedForward(index, layer);
  }
  head();
  return status;
}

void Decoder::Launcher::begin() {
  const size_t bytes = size_t(d.inputLayout(rows).words) * sizeof(uint32_t);
  check(cudaMemcpyAsync(d.input.data(), d.hostInput.data(), bytes,
                        cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync of a step's input");
  if (going()) {
    check(cudaMemsetAsync(d.faults.data(), 0xff, sizeof(Fault), stream),
          "cudaMemsetAsync of the fault word");
  }
  if (going()) {
    ActivationView out;
    out.rows = rows;
    out.k = int32_t(c.hidden);
    out.values = d.stream.data();
    const auto *ids = reinterpret_cast<const int32_t *>(
        d.input.data() + d.inputLayout(rows).ids);
    const uint32_t op = d.stepOps.embed();
    embed(d.weights.table().view(), ids, out, site(op), stream);
    done(op, out.values, c.hidden);
  }
}

ActivationView Decoder::Launcher::norm(uint32_t op, const Buffer<float> &weight,
                                       ActivationForms forms) {
  forms.values = bool(after);
  const ActivationView out = rowsOf(d.normed, LargeWord::Normed, forms);
  if (going()) {
    rmsNorm(d.stream.data(), weight.data(), c.normEps, out, site(op), stream);
    done(op, out.values, c.hidden);
  }
  return out;
}

void Decoder::Launcher::linear(uint32_t op, const MatrixView &weight,
                               const ActivationView &x, float *to) {
  if (!going()) {
    return;
  }
  if (rows <= kGemvRows) {
    gemv(weight, x, to, weight.rows, site(op), stream);
  } else {
    gemm(weight, x, to, weight.rows, site(op), stream);
  }
  done(op, to, weight.rows);
}

/// The products of ops firstOp, firstOp + 1, …, one behind the other.
void Decoder::Launcher::linears(uint32_t firstOp, const MatrixGroup &weights,
                                const ActivationView &x, float *to) {
  if (joins() && weights.joined() != nullptr) {
    linear(firstOp, *weights.joined(), x, to);
    return;
  }
  for (const MatrixView &weight : weights.all()) {
    linear(firstOp++, weight, x, to);
    to += int64_t(rows) * weight.rows;
  }
}

void Decoder::Launcher::turn(uint32_t op, float *x, int64_t count) {
  if (!going()) {
    return;
  }
  const InputLayout layout = d.inputLayout(rows);
  const RotaryShape shape{
      int32_t(count), int32_t(c.headDim), int32_t(c.ropeDimension),
      c.ropePairing == models::RopePairing::Adjacent ? RotaryPairs::Adjacent
                                                     : RotaryPairs::Halves};
  const auto *words = reinterpret_cast<const float *>(d.input.data());
  rope(x, count * c.headDim, rows, shape, words + layout.cos,
       words + layout.sin, site(op), stream);
  done(op, x, count * c.headDim);
}

void Decoder::Launcher::addToStream(uint32_t op) {
  if (going()) {
    add(d.stream.data(), d.projected.data(), rows, int32_t(c.hidden),
        d.stream.data(), site(op), stream);
    done(op, d.stream.data(), c.hidden);
  }
}

void Decoder::Launcher::attentionBlock(int64_t index,
                                       const LayerWeights &layer) {
  const auto op = [&](LayerOp name) { return d.stepOps.of(index, name); };
  const ActivationView x =
      norm(op(LayerOp::AttnNorm), layer.attnNorm, formsFor(layer.qkv.all()));
  float *query = d.qkv.data();
  float *key = query + rows * c.queryWidth();
  float *value = key + rows * c.kvWidth();
  linears(op(LayerOp::AttnQ), layer.qkv, x, query);
  if (joins()) {
    turn(op(LayerOp::RopeQ), query, c.heads + c.kvHeads);
  } else {
    turn(op(LayerOp::RopeQ), query, c.heads);
    turn(op(LayerOp::RopeK), key, c.kvHeads);
  }
  if (!going()) {
    return;
  }
  const KvCacheView cache{d.pool.data(), d.tables.data(),
                          batched ? d.tables.stride() : 0, d.pages().layout(),
                          int32_t(index)};
  const uint32_t here = op(LayerOp::Attention);
  kvAppend(key, value, rows, d.positions(), cache, stream);
  attention(query, d.heads.data(), rows, d.positions(), cache, attentionPlan,
            d.scratch.data(), site(here), stream);
  done(here, d.heads.data(), c.queryWidth());
  if (going()) {
    const ActivationView mixed =
        rowsOf(d.headRows, LargeWord::Heads, formsFor(layer.attnOutput));
    quantize(d.heads.data(), mixed, stream);
    linear(op(LayerOp::AttnOutput), layer.attnOutput.view(), mixed,
           d.projected.data());
  }
  addToStream(op(LayerOp::AttnResidual));
}

void Decoder::Launcher::feedForward(int64_t index, const LayerWeights &layer) {
  const auto op = [&](LayerOp name) { return d.stepOps.of(index, name); };
  const ActivationView x =
      norm(op(LayerOp::FfnNorm), layer.ffnNorm, formsFor(layer.gateUp.all()));
  float *gate = d.gateUp.data();
  const float *up = gate + rows * c.intermediate;
  linears(op(LayerOp::FfnGate), layer.gateUp, x, gate);
  if (!going()) {
    return;
  }
  ActivationForms forms = formsFor(layer.down);
  forms.values = bool(after);
  const ActivationView mixed = rowsOf(d.gatedRows, LargeWord::Gated, forms);
  gated(gate, up, c.intermediate, mixed, site(op(LayerOp::FfnGated)), stream);
  done(op(LayerOp::FfnGated), mixed.values, c.intermediate);
  linear(op(LayerOp::FfnDown), layer.down.view(), mixed, d.projected.data());
  addToStream(op(LayerOp::FfnResidual));
}

void Decoder::Launcher::head() {
  const ActivationView x = norm(d.stepOps.outputNorm(), d.weights.outputNorm(),
                                formsFor(d.weights.head()));
  linear(d.stepOps.output(), d.weights.head().view(), x, d.logitRows.data());
  if (going()) {
    argmax(d.logitRows.data(), rows, int32_t(c.vocab), d.greedyKeys.data(),
           d.greedyIds.data(), stream);
    done(d.stepOps.argmax(), nullptr, 1);
  }
}

Status Decoder::launch(const StepRows &step, const AttentionPlan &attention,
                       cudaStream_t stream, const AfterOp &after) {
  return Launcher(*this, step, attention, stream, after).step();
}

//===-- Input and results -------------------------------------------------===//

Decoder::InputLayout Decoder::inputLayout(int32_t rows) const {
  const int64_t pairs = config.ropeDimension / 2;
  const int64_t padded = (rows + 3) / 4 * 4;
  InputLayout layout{};
  layout.ids = kLargeWords + padded;
  layout.cos = layout.ids + padded;
  layout.sin = layout.cos + rows * pairs;
  layout.words = layout.sin + rows * pairs;
  return layout;
}

void Decoder::setInput(const StepRows &step) {
  const InputLayout layout = inputLayout(step.count());
  uint32_t *words = hostInput.data();
  std::fill(words, words + layout.words, 0u);
  const auto bits = [](auto value) {
    return __builtin_bit_cast(uint32_t, value);
  };
  std::ranges::copy(step.positions, words + kLargeWords);
  std::ranges::transform(step.ids, words + layout.ids, bits);
  uint32_t *cos = words + layout.cos;
  uint32_t *sin = words + layout.sin;
  for (uint32_t position : step.positions) {
    const numerics::RopeTable turns =
        numerics::ropeTable(frequencies, int64_t(position), 1);
    cos = std::ranges::transform(turns.cos, cos, bits).out;
    sin = std::ranges::transform(turns.sin, sin, bits).out;
  }
}

Expected<std::vector<float>> Decoder::logits(int32_t rows) const {
  std::vector<float> values(size_t(rows) * size_t(config.vocab));
  if (Status ok = logitRows.download(values); !ok) {
    return Error{"the logits: " + ok.error().message};
  }
  return values;
}

Expected<std::vector<int32_t>> Decoder::greedy(int32_t rows) const {
  std::vector<int32_t> ids(static_cast<size_t>(rows));
  if (Status ok = greedyIds.download(ids); !ok) {
    return Error{"the greedy ids: " + ok.error().message};
  }
  return ids;
}

Expected<std::optional<FaultPlace>> Decoder::fault() const {
  Expected<std::vector<Fault>> word = faults.read();
  if (!word) {
    return Error{"the fault word: " + word.error().message};
  }
  return faultPlace(word->front());
}

size_t Decoder::bytesRead(int64_t position, int64_t batch) const {
  return weights.bytesReadByStep(batch) +
         size_t(batch * (position + 1) *
                models::kvBytesPerToken(config, plan.options.kv));
}

} // namespace orrery::gpu::ORRERY_GPU
