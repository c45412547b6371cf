#include "runtime/command/DifferenceReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <bit>

using llvm::formatv;

namespace orrery::command {

using runtime::OpDifference;

std::string differenceText(const OpDifference &first, const char *who) {
  auto value = [](uint32_t bits) {
    return formatv("0x{0} ({1})", llvm::utohexstr(bits, true, 8),
                   Json(std::bit_cast<float>(bits)).dump())
        .str();
  };
  std::string op = first.op.empty()
                       ? "the logits, no op is known: " + first.why
                       : formatv("{0} ({1})", first.op, first.kind).str();
  return formatv("first difference: {0}, position {1}, element {2}: "
                 "interpreter {3}, {5} {4}\n",
                 op, first.at.position, first.at.element,
                 value(first.at.expected), value(first.at.found), who)
      .str();
}

Json differenceJson(const OpDifference &first, const char *foundBits) {
  Json out = {{"op", first.op},
              {"kind", first.kind},
              {"position", first.at.position},
              {"element", first.at.element},
              {"interpreter_bits", first.at.expected},
              {foundBits, first.at.found}};
  if (first.op.empty()) {
    out["op"] = nullptr;
    out["why_no_op"] = first.why;
  }
  return out;
}

} // namespace orrery::command
