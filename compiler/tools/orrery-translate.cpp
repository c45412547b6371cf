// orrery-translate: imports models to the llm dialect.
#include "compiler/Register.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  orrery::registerTranslations();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "Orrery translations\n"));
}
