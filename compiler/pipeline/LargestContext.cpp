// How much context a chip has room for, by trying: what padding, tables,
// temporaries and program text take is known only once all are placed.
#include "compiler/Compile.h"

namespace orrery {

int64_t largestContext(mlir::MLIRContext &context,
                       const models::ModelConfig &config,
                       CompileRequest request) {
  auto machine = loadMachine(request.machine);
  if (!machine) {
    return 0;
  }
  int64_t lanes = machine->lanes;
  auto fits = [&](int64_t tiles) {
    request.import.tokens = 1;
    request.import.context = request.import.bucket = tiles * lanes;
    return bool(compileStep(context, config, request));
  };
  int64_t low = 0, high = (request.import.context + lanes - 1) / lanes;
  int64_t middle = 1;
  while (high - low > 1) {
    if (fits(middle)) {
      low = middle;
    } else if (low == 0) {
      return 0;
    } else {
      high = middle;
    }
    middle = (low + high) / 2;
  }
  return low * lanes;
}

Error withRoomFor(Error refusal, mlir::MLIRContext &context,
                  const models::ModelConfig &config,
                  const CompileRequest &request) {
  CompileRequest whole = request;
  if (whole.import.context == 0) {
    whole.import.context = config.contextLength;
  }
  if (int64_t fits = largestContext(context, config, whole)) {
    refusal.message +=
        "; a context of " + std::to_string(fits) + " positions fits";
  }
  return refusal;
}

} // namespace orrery
