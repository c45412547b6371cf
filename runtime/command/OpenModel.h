// From flags to a model file and a session over it.
#pragma once

#include "models/Weights.h"
#include "runtime/Session.h"
#include "runtime/command/Console.h"

#include <memory>

namespace orrery::command {

llm::WeightFormat dialectFormat(models::WeightFormat format);
llm::KvFormat dialectFormat(models::KvFormat format);
SplitOptions splitOf(const Partition &partition);
std::string formatName(models::WeightFormat format);
std::string formatName(models::KvFormat format);

/// Tensors keep the format they are stored in; floats get the target's. Fails
/// when a format was asked for that no tensor would take.
Expected<runtime::SessionOptions>
sessionOptions(const Target &target, const models::WeightFile &file);

/// "q8_0", "q8_0 (as stored)", "q8_0, 3 of 30 matrices as stored".
std::string weightsText(const Target &target, const models::WeightFile &file);

/// The session, or null after its error was printed and `code` set.
std::unique_ptr<runtime::Session>
openSession(const models::WeightFile &weights,
            const runtime::SessionOptions &options, ExitCode &code);

/// The prompt's tokens. Fails without a tokenizer, for an empty prompt to a
/// model without begin token, and when they are more than `context`.
Expected<std::vector<int32_t>> promptIds(const models::WeightFile &file,
                                         const std::string &prompt,
                                         int64_t context);

/// Token ids: "1,403,407", or a file that holds such a list, a JSON array, or
/// a JSON object with one under "ids".
Expected<std::vector<int32_t>> readIds(const std::string &listOrFile,
                                       int64_t vocab);

} // namespace orrery::command
