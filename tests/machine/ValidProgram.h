// A valid program that tests of its checks edit.
#pragma once

#include "machine/Validate.h"

#include <functional>
#include <string>

namespace orrery::testing {

inline const Machine &chip() {
  static const Machine machine = *loadMachine("lpu-small");
  return machine;
}

/// A program with one instruction of each kind.
inline Program validProgram() {
  Program p{};
  p.machineJson = formatMachine(chip());
  p.tokens = 2;
  p.bucket = 128;
  p.context = 256;
  p.inputVectors = 3;
  p.logits = {4, 0, 10, 2, 100};
  p.regions = {{"w", RegionKind::Weight, 0, 4, 0, 0, 100, 0, 0}};
  p.locations = {"layer 3 attn_q"};
  VectorProgram v;
  v.inputs = {StreamType::F32, StreamType::F16};
  AluStep add{AluOp::Add};
  add.b = 1;
  AluStep splat{AluOp::Splat};
  splat.a = 2;
  splat.width = 16;
  splat.tile = {1, 4};
  v.steps = {add, splat};
  v.outputs = {{3, StreamType::F32, Reduction::SumWide}};
  v.group = 5;
  p.vectorPrograms = {v};
  p.laneMaps = {std::vector<uint16_t>(64, 0xffff)};

  ReadOp read;
  read.slice = 10;
  read.width = 4;
  read.out = {{Direction::West, 2}, 3};
  read.shape = {6, 1, 2, 8};
  read.address = {100, {3, 4, 1}, {1, 10, 0}, Dynamic::None, 0};
  WriteOp write;
  write.slice = 10;
  write.in.direction = Direction::West;
  LoadOp load;
  InstallOp install;
  install.high = 64;
  install.shape.length = 5; // 64 + 4 vectors over 16 streams
  MatmulOp matmul;
  matmul.high = 64;
  matmul.tiles = 2;
  matmul.period = 5;
  matmul.stop = 40;
  VectorOp vector;
  vector.count = 10;
  vector.inputs = 2;
  vector.outputs = 1;
  vector.out[0].stop = 40;
  PermuteOp permute;
  permute.out.stop = 40;
  ReceiveOp receive;
  FetchOp fetch;
  fetch.target = {QueueId::Kind::Matmul, 3};
  Tick tick = 100;
  for (const Operation &operation :
       {Operation(read), Operation(write), Operation(load), Operation(install),
        Operation(matmul), Operation(vector), Operation(permute),
        Operation(receive), Operation(SendOp()), Operation(fetch)}) {
    p.instructions.push_back({tick++, 0, operation});
  }
  return p;
}

/// The error after an edit of the valid program.
inline std::string errorAfter(const std::function<void(Program &)> &edit) {
  Program program = validProgram();
  edit(program);
  Status status = validateProgram(program, chip());
  return status ? "no error" : status.error().message;
}

/// The error after an edit of its instruction of kind Op, without the place.
template <class Op> std::string errorOf(const std::function<void(Op &)> &edit) {
  std::string error = errorAfter([&](Program &p) {
    for (Instruction &instruction : p.instructions) {
      if (Op *op = std::get_if<Op>(&instruction.operation)) {
        edit(*op);
      }
    }
  });
  size_t place = error.find("): ");
  return place == std::string::npos ? error : error.substr(place + 3);
}

} // namespace orrery::testing
