// Arbitrary bytes as a program file, of one chip or several: refused with a
// message, or a program whose users need not check it. The checksum is put
// right first, or nothing would get past it; those of parts are not.
//
// Start: orrery_program_fuzzer -max_len=65536 WORK-FOLDER
//        tests/fuzz/program-corpus
#include "machine/Encoding.h"
#include "machine/SystemProgram.h"
#include "machine/Timing.h"
#include "machine/Validate.h"

#include <cstdlib>

using namespace orrery;

namespace {

/// Ends the run when something that must hold does not.
void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// What users do with a burst: its times are in range and rise.
void useShape(const BurstShape &shape) {
  require(shape.count() >= 1);
  require(shape.span() >= 0 && shape.span() <= 2 * kMaxTick);
  require(shape.count() == 1 ||
          shape.at(shape.count() - 1) > shape.at(shape.count() - 2));
}

void useAddress(const AddressPattern &address, const Machine &machine) {
  for (uint64_t n : {uint64_t(0), address.count() / 2, address.count() - 1}) {
    int64_t at = address.at(n);
    require(at >= 0 && at < machine.sram.vectorsPerBank);
  }
}

class User {
public:
  User(const Program &program, const Machine &machine)
      : program(program), machine(machine) {}

  void operator()(const ReadOp &op) {
    useShape(op.shape);
    useAddress(op.address, machine);
  }
  void operator()(const WriteOp &op) {
    useShape(op.shape);
    useAddress(op.address, machine);
  }
  void operator()(const MatmulOp &op) {
    useShape(matmulOutputShape(machine, op));
    require(matmulOutputStart(machine, op) > 0);
  }
  void operator()(const VectorOp &op) {
    const VectorProgram &run = program.vectorPrograms.at(op.program);
    useShape(vectorInputShape(machine, run, op.count));
    for (const VectorOutput &output : run.outputs) {
      useShape(vectorOutputShape(machine, run, output, op.count));
      require(vectorOutputStart(machine, run, output) > 0);
    }
    for (const AluStep &step : run.steps) {
      require(step.tile(op.count - 1) < step.tile.modulo);
      require(step.token(op.count - 1) < step.token.modulo);
    }
  }
  void operator()(const PermuteOp &op) {
    useShape(permuteOutputShape(op));
    require(permuteOutputStart(machine, op) > 0);
  }
  void operator()(const FetchOp &op) {
    useShape(fetchShape(machine));
    require(int64_t(op.address) + machine.fetchVectors <=
            machine.sram.vectorsPerBank);
  }
  void operator()(const auto &op) { useShape(op.shape); }

private:
  const Program &program;
  const Machine &machine;
};

void useProgram(const Program &program) {
  Machine machine = *parseMachine(program.machineJson, "of the program");
  for (const Instruction &instruction : program.instructions) {
    require(program.locations.size() > instruction.location);
    require(!queueName(queueOf(instruction.operation)).empty());
    std::visit(User(program, machine), instruction.operation);
  }
  require(programBytes(program, machine) >= 0);
  auto bytes = serializeProgram(program);
  require(bool(bytes));
  auto again = parseProgram(*bytes, "again");
  require(again && *again == program);
}

void useSystem(const SystemProgram &system) {
  Machine machine =
      *parseMachine(system.parts.at(0).machineJson, "of the program");
  require(bool(validateSystemProgram(system, machine)));
  PortMap ends(machine);
  for (const ChipProgram &chip : system.chips) {
    require(chip.part < system.parts.size());
    for (const LinkPorts &link : chip.links) {
      for (int32_t port : {link.out, link.in}) {
        require(port == -1 || ends.otherEnd(chip.chip, port).first >= 0);
      }
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  constexpr size_t kChecksumBytes = 8;
  if (size >= kChecksumBytes) {
    size_t body = size - kChecksumBytes;
    uint64_t sum =
        stableHash({reinterpret_cast<const char *>(file.data()), body});
    for (size_t i = 0; i < kChecksumBytes; ++i) {
      file[body + i] = uint8_t(sum >> (8 * i));
    }
  }
  auto program = parseSystemProgram(file, "fuzz");
  if (program) {
    useSystem(*program);
    for (const Program &part : program->parts) {
      useProgram(part);
    }
  } else {
    require(program.error().message.starts_with("program `fuzz`: "));
  }
  return 0;
}
