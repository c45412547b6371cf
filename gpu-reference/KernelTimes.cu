#include "gpu-reference/KernelTimes.h"

#include "gpu-reference/MadeUpWeights.h"
#include "gpu-reference/StepGraph.h"
#include "gpu-reference/StepTimer.h"
#include "gpu-reference/kernels/Gemv.h"
#include "gpu-reference/kernels/Rows.h"

namespace orrery::gpu::ORRERY_GPU {

namespace {

Expected<MatrixBytes> madeUpMatrix(const GemvCase &shape) {
  const MadeUpMatrix values(shape.rows, shape.k, 1);
  if (shape.weights == StoredFormat::F16) {
    return MatrixBytes::packHalves(shape.rows, shape.k, values.floats());
  }
  return MatrixBytes::pack(values.quantized(shape.weights == StoredFormat::Q4_0
                                                ? models::WeightFormat::Q4_0
                                                : models::WeightFormat::Q8_0));
}

/// The same matrix so often that together they have `bytes`.
Expected<std::vector<DeviceMatrix>> copiesOf(const GemvCase &shape,
                                             int64_t bytes) {
  Expected<MatrixBytes> host = madeUpMatrix(shape);
  if (!host) {
    return host.error();
  }
  std::vector<DeviceMatrix> copies;
  size_t held = 0;
  do {
    Expected<DeviceMatrix> one =
        DeviceMatrix::upload(*host, "a matrix to time");
    if (!one) {
      return one.error();
    }
    held += one->bytes();
    copies.push_back(std::move(*one));
  } while (int64_t(held) < bytes);
  return Expected<std::vector<DeviceMatrix>>(std::move(copies));
}

/// Activation rows in the form that `shape` takes.
Expected<DeviceActivations> activationsOf(const GemvCase &shape,
                                          cudaStream_t stream) {
  ActivationForms forms;
  (shape.weights == StoredFormat::F16 ? forms.halves : forms.codes) = true;
  Expected<DeviceActivations> x = DeviceActivations::allocate(
      shape.batch, int32_t(shape.k), forms, "activations to time");
  if (!x) {
    return x.error();
  }
  Expected<Buffer<float>> values = Buffer<float>::copyOf(
      MadeUpMatrix(shape.batch, shape.k, 2).floats(), "activations to time");
  if (!values) {
    return values.error();
  }
  // The stream does not wait for copies.
  if (Status ok = cudaStatus(cudaDeviceSynchronize(),
                             "cudaDeviceSynchronize behind what is timed");
      !ok) {
    return ok.error();
  }
  quantize(values->data(), x->view(), stream);
  if (Status ok = cudaStatus(cudaStreamSynchronize(stream),
                             "cudaStreamSynchronize behind activations");
      !ok) {
    return ok.error();
  }
  return Expected<DeviceActivations>(std::move(*x));
}

/// Scales times of `parts` equal pieces of work to one.
StepTimes perPart(StepTimes times, size_t parts) {
  times.medianUs /= double(parts);
  times.p10Us /= double(parts);
  times.p90Us /= double(parts);
  return times;
}

} // namespace

Expected<StepTimes> timeGemv(const GemvCase &shape,
                             const TimingOptions &options) {
  Expected<Stream> stream = Stream::create();
  if (!stream) {
    return stream.error();
  }
  Expected<std::vector<DeviceMatrix>> copies =
      copiesOf(shape, options.workingSetBytes);
  if (!copies) {
    return copies.error();
  }
  Expected<DeviceActivations> x = activationsOf(shape, stream->get());
  if (!x) {
    return x.error();
  }
  Expected<Buffer<float>> y = Buffer<float>::allocate(
      size_t(shape.rows) * size_t(shape.batch), "a product to time");
  if (!y) {
    return y.error();
  }
  Expected<StepGraph> graph = StepGraph::record(stream->get(), [&] {
    for (const DeviceMatrix &matrix : *copies) {
      gemv(matrix.view(), x->view(), y->data(), shape.rows, FaultSite{},
           stream->get());
    }
    return launchStatus("launch of gemv");
  });
  if (!graph) {
    return graph.error();
  }
  Expected<StepTimes> times =
      timeOnStream(stream->get(), options.warmUp, options.repeats,
                   [&] { return graph->launch(stream->get()); });
  if (!times) {
    return times.error();
  }
  StepTimes one = perPart(*times, copies->size());
  one.bytes = int64_t(copies->front().bytes() + x->bytes());
  return one;
}

Expected<StepTimes> timeCopy(int64_t bytes, const TimingOptions &options) {
  Expected<Stream> stream = Stream::create();
  if (!stream) {
    return stream.error();
  }
  Expected<Buffer<uint8_t>> from =
      Buffer<uint8_t>::allocate(size_t(bytes), "the source of a copy");
  if (!from) {
    return from.error();
  }
  Expected<Buffer<uint8_t>> to =
      Buffer<uint8_t>::allocate(size_t(bytes), "the target of a copy");
  if (!to) {
    return to.error();
  }
  if (Status ok = cudaStatus(cudaMemset(from->data(), 1, size_t(bytes)),
                             "cudaMemset of a copy's source");
      !ok) {
    return ok.error();
  }
  // Its stream is not waited for by ours.
  if (Status ok = cudaStatus(cudaDeviceSynchronize(),
                             "cudaDeviceSynchronize behind a copy's source");
      !ok) {
    return ok.error();
  }
  Expected<StepTimes> times =
      timeOnStream(stream->get(), options.warmUp, options.repeats, [&] {
        return cudaStatus(
            cudaMemcpyAsync(to->data(), from->data(), size_t(bytes),
                            cudaMemcpyDeviceToDevice, stream->get()),
            "cudaMemcpyAsync of a timed copy");
      });
  if (times) {
    times->bytes = 2 * bytes;
  }
  return times;
}

} // namespace orrery::gpu::ORRERY_GPU
