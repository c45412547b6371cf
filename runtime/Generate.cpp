#include "runtime/Generate.h"

#include <algorithm>

namespace orrery::runtime {

/// Reads `ids`; the last token's record.
static Expected<StepRecord> readAll(Session &session,
                                    std::span<const int32_t> ids,
                                    const GenerateOptions &options) {
  for (;;) {
    std::span<const int32_t> before = ids;
    auto record = session.readSome(ids);
    if (!record) {
      return record.error();
    }
    if (options.onStep) {
      if (Status ok =
              options.onStep(*record, before.first(record->validTokens));
          !ok) {
        return ok.error();
      }
    }
    if (ids.empty()) {
      return record;
    }
  }
}

Expected<Generated> generate(Session &session, std::span<const int32_t> prompt,
                             const GenerateOptions &options) {
  int64_t read = int64_t(prompt.size()) +
                 std::clamp<int64_t>(options.count, 1, session.contextLength());
  if (Status ok = session.prepare(int64_t(prompt.size()),
                                  session.currentPosition() + read - 1);
      !ok) {
    return ok.error();
  }
  Generated out;
  std::vector<int32_t> pending(prompt.begin(), prompt.end());
  for (;;) {
    auto last = readAll(session, pending, options);
    if (!last) {
      return last.error();
    }
    if (int64_t(out.ids.size()) == options.count) {
      return out;
    }
    int32_t next = options.sampler.next(last->logits.back(), last->next(),
                                        session.currentPosition() - 1);
    if (next == options.endToken) {
      out.stop = Stop::EndToken;
      return out;
    }
    out.ids.push_back(next);
    if (options.onToken) {
      options.onToken(next);
    }
    if (int64_t(out.ids.size()) == options.count) {
      return out;
    }
    if (session.currentPosition() == session.contextLength()) {
      out.stop = Stop::Context;
      return out;
    }
    pending = {next};
  }
}

} // namespace orrery::runtime
