// A GGUF file on the command line to its step: reads the file's header only,
// so a header without data imports too.
#include "compiler/import/ImportGguf.h"

#include "compiler/import/ImportModel.h"

#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

namespace orrery::compiler {

namespace {
/// The command line's ImportOptions.
struct ImportFlags {
  llvm::cl::opt<int64_t> tokens{
      "tokens", llvm::cl::desc("new tokens a step takes"), llvm::cl::init(1)};
  llvm::cl::opt<int64_t> bucket{
      "bucket", llvm::cl::desc("positions a step reaches; 0: the context"),
      llvm::cl::init(0)};
  llvm::cl::opt<int64_t> context{
      "context",
      llvm::cl::desc("positions a KV cache holds; 0: the model's own"),
      llvm::cl::init(0)};
  llvm::cl::opt<int64_t> layers{
      "layers", llvm::cl::desc("leading layers to import; 0: all"),
      llvm::cl::init(0)};
  llvm::cl::opt<llm::WeightFormat> weightFormat{
      "weight-format",
      llvm::cl::desc("format of weights that the file stores as floats"),
      llvm::cl::values(clEnumValN(llm::WeightFormat::Q8_0, "q8_0", ""),
                       clEnumValN(llm::WeightFormat::Q4_0, "q4_0", ""),
                       clEnumValN(llm::WeightFormat::F16, "f16", "")),
      llvm::cl::init(llm::WeightFormat::Q8_0)};
  llvm::cl::opt<llm::KvFormat> kvFormat{
      "kv-format", llvm::cl::desc("format of the KV caches"),
      llvm::cl::values(clEnumValN(llm::KvFormat::Q8, "q8", ""),
                       clEnumValN(llm::KvFormat::F16, "f16", ""),
                       clEnumValN(llm::KvFormat::Q4, "q4", "")),
      llvm::cl::init(llm::KvFormat::Q8)};

  ImportOptions options(const models::GgufFile &file) const {
    ImportOptions options;
    options.tokens = tokens;
    options.bucket = bucket;
    options.context = context;
    options.layers = layers;
    options.weightFormat = weightFormat;
    options.tensorFormats = storedFormats(file);
    options.kvFormat = kvFormat;
    return options;
  }
};
} // namespace

static OwningOpRef<ModuleOp> importGguf(StringRef bytes, MLIRContext *context,
                                        const ImportFlags &flags) {
  auto fail = [&](const std::string &message) {
    emitError(UnknownLoc::get(context)) << message;
    return OwningOpRef<ModuleOp>();
  };
  auto file = models::GgufFile::parse(
      {reinterpret_cast<const std::byte *>(bytes.data()), bytes.size()});
  if (!file) {
    return fail(file.error().message);
  }
  auto config = models::readModelConfig(*file);
  if (!config) {
    return fail(config.error().message);
  }
  return importModel(*context, *config, flags.options(*file));
}

void registerImportGguf() {
  static ImportFlags flags;
  TranslateToMLIRRegistration registration(
      "import-gguf", "import the decoder step of a GGUF model file",
      [](StringRef bytes, MLIRContext *context) {
        return importGguf(bytes, context, flags);
      },
      [](DialectRegistry &registry) {
        registry.insert<func::FuncDialect, llm::LlmDialect>();
      });
}

} // namespace orrery::compiler
