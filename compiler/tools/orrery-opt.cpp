// orrery-opt: runs passes on IR.
#include "compiler/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  orrery::registerDialects(registry);
  orrery::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Orrery optimizer\n", registry));
}
