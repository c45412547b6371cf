// Values of lanes and the bytes they are on streams: byte k of the
// little-endian value on stream k of the group.
#pragma once

#include "machine/VectorProgram.h"

#include <cstdint>

namespace orrery::sim {

/// f32 from four byte planes of `lanes` bytes.
void gatherF32(const uint8_t *const planes[4], int32_t lanes, float *out);
/// f32 from two byte planes of f16.
void gatherF16(const uint8_t *const planes[2], int32_t lanes, float *out);
/// Accumulators from eight byte planes.
void gatherSums(const uint8_t *const planes[8], int32_t lanes, int64_t *out);
/// f32 from int8 codes.
void gatherI8(const uint8_t *plane, int32_t lanes, float *out);

/// f32 to four planes, `lanes` bytes apart.
void scatterF32(const float *in, int32_t lanes, uint8_t *out);
/// Accumulators to eight planes.
void scatterSums(const int64_t *in, int32_t lanes, uint8_t *out);
/// f32 rounded to f16, two planes.
void scatterF16(const float *in, int32_t lanes, uint8_t *out);
/// rint(x) clamped to +-127, one plane.
void scatterI8(const float *in, int32_t lanes, uint8_t *out);
/// Quantized by rule 4: codes, and a plane with the scales. False if a value
/// is not finite.
bool scatterA8(const float *in, int32_t lanes, uint8_t *out);

/// Index of the first value that is NaN or infinite; `lanes` if there is none.
int32_t firstNotFinite(const float *in, int32_t lanes);

} // namespace orrery::sim
