// The report of `orrery compare` as text: a table, what stands behind each row,
// and bars.
#include "runtime/command/CompareReport.h"
#include "runtime/command/RunReport.h"

#include "models/NotModelled.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

namespace {

/// With a decimal where there are few digits before it.
std::string rate(double value) {
  return value < 100 ? formatv("{0:f1}", value).str()
                     : formatv("{0:N}", int64_t(std::round(value))).str();
}

std::string speedText(const CompareRow &row) {
  if (row.speedUp) {
    return formatv("{0:f2}x", *row.speedUp).str();
  }
  return tooSlowToCompare(row) ? "slow GPU" : "-";
}

std::string rowText(const CompareRow &row, size_t number) {
  std::string out = formatv("{0,3}  {1,-15}{2,6}", number, row.system,
                            row.chips > 0 ? std::to_string(row.chips) : "?")
                        .str();
  if (!row.usPerToken) {
    return out + formatv("{0,13}{1,15}{2,13}{3,10}{4,10}  does not fit\n", "-",
                         "-", "-", "-", "-")
                     .str();
  }
  return out + formatv("{0,13:f2}{1,15}{2,13}{3,10}{4,10}  {5}\n",
                       *row.usPerToken, rate(row.tokensPerSecondPerUser()),
                       rate(row.tokensPerSecond()),
                       row.rooflineShare
                           ? formatv("{0:f0} %", 100 * *row.rooflineShare).str()
                           : "-",
                       speedText(row), evidenceName(row.how))
                   .str();
}

std::string detailText(const CompareRow &row, size_t number) {
  return formatv("{0,3}  {1}, {2}: {3}\n", number, row.system,
                 row.tooBig.empty() ? evidenceName(row.how) : "does not fit",
                 row.tooBig.empty() ? row.detail : row.tooBig)
      .str();
}

/// What users are on the chips, and on a GPU.
std::string usersText(const CompareReport &r) {
  const StepTimes &times = r.timed->times;
  std::string chips =
      times.stages.size() == 1
          ? "taking turns"
          : formatv("in flight, each at a stage of its own ({0} fill them)",
                    times.inFlight())
                .str();
  return formatv("users    {0}; on the chips {1}, on a GPU one batch\n",
                 r.batch, chips)
      .str();
}

std::string slowText(const CompareReport &r) {
  std::string out;
  for (const CompareRow &row : r.others) {
    if (tooSlowToCompare(row) && !r.allowSlowGpu) {
      out += formatv("no speed-up over {0}, {1}: it reaches {2:f1} % of its "
                     "memory roofline, less than {3:f0} %\n",
                     row.system, evidenceName(row.how),
                     100 * *row.rooflineShare, 100 * kLeastRooflineShare);
    }
  }
  return out.empty() ? out
                     : out + "  (there a GPU is held up by launches and small "
                             "kernels, and a ratio says little of the "
                             "hardware;\n  --allow-slow-gpu prints it)\n";
}

std::string barsText(const std::vector<const CompareRow *> &rows) {
  constexpr double kWidth = 50;
  double most = 0;
  for (const CompareRow *row : rows) {
    most =
        row->usPerToken ? std::max(most, row->tokensPerSecondPerUser()) : most;
  }
  std::string out = "\ntokens/s of one user\n";
  for (const CompareRow *row : rows) {
    if (row->usPerToken) {
      double value = row->tokensPerSecondPerUser();
      auto length = size_t(std::lround(kWidth * value / most));
      out += formatv(
          "  {0,-15} {1,-10}|{2} {3}\n", row->system, evidenceName(row->how),
          std::string(std::max<size_t>(length, 1), '#'), rate(value));
    }
  }
  return out;
}

std::string bitsText(const BitsOutcome &bits) {
  if (!bits.made) {
    return "\nbits not compared: " + bits.whyNot + "\n";
  }
  return formatv("\nbits equal: {0} ({1:N} logits of this system and of the "
                 "GPU's kernels, {2})\n",
                 bits.made->equal ? "yes" : "no", bits.made->logits,
                 bits.made->backend);
}

} // namespace

std::string formatText(const CompareReport &r) {
  std::vector<const CompareRow *> rows = {&r.self};
  for (const CompareRow &row : r.others) {
    rows.push_back(&row);
  }
  std::string out = formatv(
      "{0} on {1} and on GPUs: weights {2}, KV {3}, {4}{5}\n",
      models::titleOf(r.config), r.machine.name, r.weights, r.kv,
      counted(r.context, "position"), r.bits.made ? "" : "; shape only");
  out += usersText(r);
  out += formatv("\n{0,3}  {1,-15}{2,6}{3,13}{4,15}{5,13}{6,10}{7,10}  {8}\n",
                 "", "", "chips", "us a token", "tok/s a user", "tok/s all",
                 "roofline", "speed-up", "how it was had");
  for (size_t i = 0; i < rows.size(); ++i) {
    out += rowText(*rows[i], i + 1);
  }
  out += "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    out += detailText(*rows[i], i + 1);
  }
  out += "roofline: bytes a step must read over the GPU's peak bandwidth, over "
         "its latency; speed-up: row 1's\ntokens/s of a user over the row's, "
         "whatever the number of chips; published rows have settings of their\n"
         "own and get none\n";
  out += slowText(r) + barsText(rows);
  out += bitsText(r.bits);
  return out + brokenText(r.receipt) + models::omissionText({&r.config, 1});
}

} // namespace orrery::command
