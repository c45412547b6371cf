#include "compiler/encode/Translate.h"

#include "compiler/encode/DecodeProgram.h"
#include "compiler/encode/EncodeProgram.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace orrery::compiler {

static FailureOr<tick::ProgramOp> onlyProgram(ModuleOp module) {
  auto programs = llvm::to_vector(module.getOps<tick::ProgramOp>());
  if (programs.size() != 1) {
    return module.emitError("expected one tick.program, found ")
           << programs.size();
  }
  return programs.front();
}

// saveProgram writes files only, so the bytes go through a temporary one.
static LogicalResult writeProgram(tick::ProgramOp op, const Program &program,
                                  raw_ostream &output) {
  SmallString<128> path;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("program", "orrery", path)) {
    return op.emitOpError("needs a temporary file: ") << error.message();
  }
  llvm::FileRemover remover(path);
  if (Status saved = saveProgram(program, path.str().str()); !saved) {
    return op.emitOpError("is not valid: ") << saved.error().message;
  }
  auto bytes = llvm::MemoryBuffer::getFile(path);
  if (!bytes) {
    return op.emitOpError("needs a temporary file: ")
           << bytes.getError().message();
  }
  output << (*bytes)->getBuffer();
  return success();
}

static LogicalResult tickToProgram(ModuleOp module, raw_ostream &output) {
  FailureOr<tick::ProgramOp> op = onlyProgram(module);
  if (failed(op)) {
    return failure();
  }
  FailureOr<Program> program = encodeProgram(*op);
  return failed(program) ? failure() : writeProgram(*op, *program, output);
}

static LogicalResult
programToTick(const std::shared_ptr<llvm::SourceMgr> &sources,
              raw_ostream &output, MLIRContext *context) {
  const llvm::MemoryBuffer *file =
      sources->getMemoryBuffer(sources->getMainFileID());
  Expected<Program> program =
      parseProgram({reinterpret_cast<const uint8_t *>(file->getBufferStart()),
                    file->getBufferSize()},
                   file->getBufferIdentifier().str());
  if (!program) {
    return emitError(UnknownLoc::get(context)) << program.error().message;
  }
  OwningOpRef<ModuleOp> module = decodeProgram(*context, *program);
  if (failed(verify(*module))) {
    return failure();
  }
  // Locations are part of the program.
  module->print(output, OpPrintingFlags().enableDebugInfo());
  output << '\n';
  return success();
}

void registerProgramTranslations() {
  TranslateFromMLIRRegistration(
      "tick-to-program", "encode a tick.program as a program file",
      tickToProgram,
      [](DialectRegistry &registry) { registry.insert<tick::TickDialect>(); });
  TranslateRegistration("program-to-tick",
                        "disassemble a program file to a tick.program",
                        programToTick);
}

} // namespace orrery::compiler
