// Instructions as bytes: the text of each queue as it lies in SRAM and in the
// program file. Not here: whether an instruction makes sense (Validate.h).
//
// Text of a queue, version kEncodingVersion: its instructions in order, each
//
//   opcode      1 byte: the index of the operation in `Operation`, plus 1
//   delta       varint: tick minus the tick of the queue's instruction before
//   presence    varint: bit k says that the k-th field is not at its default
//   fields      the present ones in order, each a varint
//
// A varint is little-endian base 128, in as few bytes as possible; signed
// fields are zigzag. Fields and defaults are the `fields` functions in
// Encoding.cpp. Unit numbers are not stored: the queue says them. Nor is the
// location: it is for people, not for the chip. There is one encoding of an
// instruction: what decodes encodes to the same bytes.
#pragma once

#include "machine/Instruction.h"
#include "machine/Machine.h"
#include "machine/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery {

inline constexpr uint32_t kEncodingVersion = 3;

/// The queue that holds an operation. A wide read or write stands in the queue
/// of each slice of its range; this is the first of them, under which the
/// program file stores it once.
QueueId queueOf(const Operation &operation);
/// "read slice 12", "load plane 3", "vxm", "sxm 1", "host in", "host
/// out", "link in 3", "icu".
std::string queueName(QueueId queue);

/// Appends the encoding of `instruction`; `previous` is the tick of the
/// instruction before it in the queue (0 for the first), not above its own.
/// Unused entries of a VectorOp's arrays must be at their defaults.
void encode(const Instruction &instruction, Tick previous,
            std::vector<uint8_t> &text);

/// Takes the first instruction off `text`, location 0; the exact inverse of
/// encode. An error names the byte of `text` where decoding stopped; `text` is
/// then unchanged. Never reads past the end.
Expected<Instruction> decode(QueueId queue, Tick previous,
                             std::span<const uint8_t> &text);

/// Bytes of an encoding are those of its delta and those of all else.
Bytes encodedDelta(Tick delta);
Bytes encodedRest(const Operation &operation);

/// SRAM bytes of one encoded instruction in one queue: whole units of
/// `instructionBytes`.
Bytes encodedBytes(const Instruction &instruction, Tick previous,
                   const Machine &machine);

} // namespace orrery
