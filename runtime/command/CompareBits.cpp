#include "runtime/command/CompareBits.h"

#include "models/Zoo.h"
#include "runtime/ReferenceCheck.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/ReferenceChoice.h"

namespace orrery::command {

using namespace runtime;

namespace {

/// A prompt, and tokens behind it one by one.
constexpr size_t kPrompt = 6, kTokens = 8;

/// Ids of all kinds; what they say does not matter for bits.
std::vector<int32_t> someIds(int64_t vocab) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < kTokens; ++i) {
    ids.push_back(int32_t((1 + i * 37) % size_t(vocab)));
  }
  return ids;
}

Expected<ComparedBits> readOnAll(const models::WeightFile &file,
                                 Session &session, ReferenceCheck &reference) {
  llm::Interpreter interpreter(file);
  BitCompare bits;
  const std::vector<int32_t> ids = someIds(file.config().vocab);
  std::span<const int32_t> left(ids);
  while (!left.empty()) {
    const bool prompt = ids.size() - left.size() < kPrompt;
    std::span<const int32_t> part =
        left.first(prompt ? kPrompt - (ids.size() - left.size()) : 1);
    const std::span<const int32_t> before = part;
    auto record = session.readSome(part);
    if (!record) {
      return record.error();
    }
    const auto read = before.first(record->validTokens);
    auto step = *session.stepModule(*record->program)
                     .getOps<mlir::func::FuncOp>()
                     .begin();
    auto expected = interpreter.run(step, read, record->position);
    if (!expected) {
      return Error{"interpreter: " + expected.error().message};
    }
    if (Status ok = reference.add(read, record->position, *expected); !ok) {
      return Error{"GPU reference: " + ok.error().message};
    }
    for (uint32_t t = 0; t < record->validTokens; ++t) {
      bits.add(record->position + t, std::as_const(expected->logits).row(t),
               record->logits[t]);
    }
    left = left.subspan(read.size());
  }
  return ComparedBits{bits.different() == 0 &&
                          reference.bits().different() == 0,
                      bits.values(), reference.backendText()};
}

} // namespace

BitsOutcome compareBits(const CompareArguments &arguments, int64_t mostMacs) {
  auto skip = [](std::string why) { return BitsOutcome{{}, std::move(why)}; };
  if (models::isZooName(arguments.model)) {
    return skip("a shape has no weights");
  }
  auto file = models::WeightFile::open(arguments.model);
  if (!file) { // a config.json, or a file without its weights
    return skip(file.error().message);
  }
  if (!quickToRead(file->config(), kTokens, mostMacs)) {
    return skip(std::to_string(kTokens) + " positions of " +
                std::to_string(models::decodeMacsPerToken(file->config())) +
                " multiply-accumulates each take this host too long; `orrery "
                "validate --gpu` does it");
  }
  auto options = sessionOptions(arguments.target, *file);
  if (!options) {
    return skip(options.error().message);
  }
  auto choice = chooseReference(GpuChoice::Auto, file->config(), kTokens);
  if (!choice || !choice->backend) {
    return skip(choice ? choice->why : choice.error().message);
  }
  auto session = Session::open(*file, *options);
  if (!session) {
    return skip(session.error().message);
  }
  if ((*session)->contextLength() < int64_t(kTokens)) {
    return skip("a context of " + std::to_string((*session)->contextLength()) +
                " positions is shorter than the " + std::to_string(kTokens) +
                " that are read");
  }
  auto reference = ReferenceCheck::open(*file, (*session)->importOptions(),
                                        *choice->backend);
  if (!reference) {
    return skip("GPU reference: " + reference.error().message);
  }
  auto compared = readOnAll(*file, **session, *reference);
  if (!compared) {
    return {{}, compared.error().message, true};
  }
  return {std::move(*compared), "", false};
}

} // namespace orrery::command
