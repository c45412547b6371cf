// orrery-translate: model files to IR, IR to program files and back.
#include "compiler/Register.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  orrery::registerTranslations();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "Orrery translations\n"));
}
