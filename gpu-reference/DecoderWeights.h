// The weights of a decoder in device memory.
#pragma once

#include "gpu-reference/Backends.h"
#include "gpu-reference/Buffer.h"
#include "gpu-reference/Matrix.h"

#include <cstddef>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

/// Matrices that are multiplied with the same rows, in one allocation where
/// they are of one format, so that one launch can take them all.
class MatrixGroup {
public:
  /// The matrices as they were given.
  const MatrixView &operator[](size_t index) const { return parts[index]; }
  const std::vector<MatrixView> &all() const { return parts; }
  /// The rows of all, one matrix below the other; null if formats differ.
  const MatrixView *joined() const { return oneMatrix ? &whole : nullptr; }
  size_t bytes() const;

  /// Takes matrices of rows[0], rows[1], … rows that were joined to one.
  void addJoined(DeviceMatrix matrix, const std::vector<int64_t> &rows);
  void add(DeviceMatrix matrix);

private:
  std::vector<DeviceMatrix> owned;
  std::vector<MatrixView> parts;
  MatrixView whole;
  bool oneMatrix = false;
};

struct LayerWeights {
  Buffer<float> attnNorm, ffnNorm; ///< [hidden]
  MatrixGroup qkv, gateUp;
  DeviceMatrix attnOutput, down;

  size_t bytes() const;
};

class DecoderWeights {
public:
  /// Asks `source` for every tensor of plan.config, one at a time. Fails, with
  /// the tensor's name, as the interpreter does (absent, other shape, stored in
  /// another quantized format) and when the device has no room.
  static Expected<DecoderWeights> load(const models::WeightSource &source,
                                       const ReferencePlan &plan);

  const DeviceMatrix &table() const { return embedding; }
  /// The output projection; the table for a tied model.
  const DeviceMatrix &head() const { return tied ? embedding : output; }
  const std::vector<LayerWeights> &layers() const { return blocks; }
  const Buffer<float> &outputNorm() const { return lastNorm; }

  /// Device memory held.
  size_t bytes() const;
  /// Bytes that a step must read: all matrices and vectors once; of a table
  /// that is not the head too, one row a token.
  size_t bytesReadByStep(int64_t tokens) const;

private:
  DeviceMatrix embedding, output;
  std::vector<LayerWeights> blocks;
  Buffer<float> lastNorm;
  bool tied = false;
};

} // namespace orrery::gpu::ORRERY_GPU
