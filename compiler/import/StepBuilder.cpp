// The order of ops in a llama-like decoder step.
#include "compiler/import/StepBuilder.h"

#include "models/NotModelled.h"

using namespace mlir;

namespace orrery::compiler {

static llm::RopePairing pairingOf(models::RopePairing pairing) {
  return pairing == models::RopePairing::Adjacent ? llm::RopePairing::Adjacent
                                                  : llm::RopePairing::Half;
}

StepBuilder::StepBuilder(ModuleOp module, const models::ModelConfig &config,
                         const ImportOptions &options)
    : builder(module.getBodyRegion()), config(config), options(options) {}

void StepBuilder::build() {
  func::FuncOp step = createFunction();
  builder.setInsertionPointToStart(step.addEntryBlock());
  const Place outer;
  const std::string table = "token_embd.weight";
  Value stream = builder.create<llm::EmbedOp>(
      at(outer, "token_embd"), rows(config.hidden), step.getArgument(0), table,
      config.vocab, formatOf(table));
  for (int64_t index = 0; index < options.layers; ++index) {
    stream = layer(index, stream);
  }
  Value logits = head(stream);
  Value next =
      builder.create<llm::ArgmaxOp>(at(outer, "argmax"), ids(), logits);
  builder.create<func::ReturnOp>(at(outer, "return"), ValueRange{logits, next});
}

func::FuncOp StepBuilder::createFunction() {
  auto type = builder.getFunctionType({ids()}, {rows(config.vocab), ids()});
  auto step = builder.create<func::FuncOp>(at({}, "step"), "step", type);
  // What figures leave out of a model goes with its name into the program.
  llm::setStepInfo(step, {options.tokens, options.bucket, options.context,
                          models::titleOf(config)});
  return step;
}

Value StepBuilder::layer(int64_t index, Value stream) {
  const std::string number = std::to_string(index);
  const Place place{"blk." + number + ".", "layer " + number + " "};
  stream = builder.create<llm::AddOp>(at(place, "attn_residual"), stream,
                                      attention(place, index, stream));
  return builder.create<llm::AddOp>(at(place, "ffn_residual"), stream,
                                    feedForward(place, stream));
}

Value StepBuilder::attention(const Place &place, int64_t index, Value stream) {
  Value x = norm(place, "attn_norm", stream);
  Value q = linear(place, "attn_q", x, config.queryWidth());
  Value k = linear(place, "attn_k", x, config.kvWidth());
  Value v = linear(place, "attn_v", x, config.kvWidth());
  q = rope(place, "rope_q", q, config.heads);
  k = rope(place, "rope_k", k, config.kvHeads);
  Value heads = builder.create<llm::AttentionOp>(
      at(place, "attention"), q.getType(), q, k, v, index, config.heads,
      config.kvHeads, config.headDim, options.kvFormat, options.context);
  return linear(place, "attn_output", heads, config.hidden);
}

Value StepBuilder::feedForward(const Place &place, Value stream) {
  Value x = norm(place, "ffn_norm", stream);
  Value gate = linear(place, "ffn_gate", x, config.intermediate);
  Value up = linear(place, "ffn_up", x, config.intermediate);
  Value gated = builder.create<llm::GatedOp>(at(place, "ffn_gated"), gate, up);
  return linear(place, "ffn_down", gated, config.hidden);
}

Value StepBuilder::head(Value stream) {
  const Place outer;
  Value x = norm(outer, "output_norm", stream);
  const std::string weight =
      config.tiedEmbeddings ? "token_embd.weight" : "output.weight";
  return builder.create<llm::LinearOp>(at(outer, "output"), rows(config.vocab),
                                       x, weight, formatOf(weight));
}

Value StepBuilder::norm(const Place &place, StringRef name, Value x) {
  return builder.create<llm::RmsNormOp>(
      at(place, name), x, tensorOf(place, name), APFloat(config.normEps));
}

Value StepBuilder::linear(const Place &place, StringRef name, Value x,
                          int64_t width) {
  const std::string weight = tensorOf(place, name);
  return builder.create<llm::LinearOp>(at(place, name), rows(width), x, weight,
                                       formatOf(weight));
}

Value StepBuilder::rope(const Place &place, StringRef name, Value x,
                        int64_t heads) {
  return builder.create<llm::RopeOp>(
      at(place, name), x, heads, config.headDim, config.ropeDimension,
      APFloat(config.ropeTheta), pairingOf(config.ropePairing));
}

RankedTensorType StepBuilder::rows(int64_t width) {
  return RankedTensorType::get({options.tokens, width}, builder.getF32Type());
}

RankedTensorType StepBuilder::ids() {
  return RankedTensorType::get({options.tokens}, builder.getI32Type());
}

std::string StepBuilder::tensorOf(const Place &place, StringRef name) {
  return place.tensorPrefix + name.str() + ".weight";
}

Location StepBuilder::at(const Place &place, StringRef name) {
  return NameLoc::get(builder.getStringAttr(place.locationPrefix + name));
}

llm::WeightFormat StepBuilder::formatOf(const std::string &tensor) const {
  auto found = options.tensorFormats.find(tensor);
  return found == options.tensorFormats.end() ? options.weightFormat
                                              : found->second;
}

} // namespace orrery::compiler
