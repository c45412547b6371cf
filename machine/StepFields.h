// Which fields of an AluStep its operation uses: what a reader must find there,
// and what must be zero.
#pragma once

#include "machine/VectorProgram.h"

namespace orrery {

struct StepFields {
  int operands = 1; ///< a, or a and b
  bool immediate = false;
  bool limit = false; ///< bound, position and token
  bool width = false;
  bool tile = false;
};

inline StepFields fieldsOf(AluOp op) {
  switch (op) {
  case AluOp::Add:
  case AluOp::Sub:
  case AluOp::Mul:
  case AluOp::Div:
  case AluOp::Max:
  case AluOp::AddBits:
    return {.operands = 2};
  case AluOp::Exp:
  case AluOp::Sqrt:
  case AluOp::Silu:
    return {};
  case AluOp::Keep:
    return {.immediate = true, .limit = true, .tile = true};
  case AluOp::Window:
  case AluOp::Splat:
    return {.width = true, .tile = true};
  case AluOp::KvScale:
  case AluOp::KvCode:
    return {.width = true};
  case AluOp::Immediate:
    return {.operands = 0, .immediate = true};
  }
  return {};
}

} // namespace orrery
