// Of `orrery time`: what stages there are, and how their ranks share products.
#include "runtime/command/TimeReport.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>
#include <span>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

namespace {

// Whole layers are counted: "down + 2 layers + attention".
std::string layersText(const StageGroup &g) {
  static const std::vector<std::string> kLayer = {"attention", "gate and up",
                                                  "down"};
  std::string out;
  for (size_t k = 0; k < g.sections.size();) {
    std::span rest = std::span(g.sections).subspan(k);
    int64_t layers = 0;
    while (rest.size() >= 3 && std::ranges::equal(rest.first(3), kLayer)) {
      rest = rest.subspan(3);
      ++layers;
    }
    out += out.empty() ? "" : " + ";
    out += layers > 0 ? counted(layers, "layer") : g.sections[k];
    k += layers > 0 ? size_t(3 * layers) : 1;
  }
  out += out.empty() ? "no layer" : "";
  out += g.first ? ", embedding rows" : "";
  return out + (g.last ? ", head" : "");
}

} // namespace

/// "1 of 4 layers, embedding rows; 6 of down + 2 layers + attention; …"
std::string stagesText(const TimeReport &r) {
  std::string out = "stages   ";
  for (const StageGroup &g : stageGroups(*r.decode().step)) {
    out += g.part == 0 ? "" : "; ";
    out += g.relay ? counted(g.stages, "relay")
                   : formatv("{0} of {1}", g.stages, layersText(g)).str();
  }
  return out + "\n";
}

/// "attention column, down scatter", or "attention 2 column + 1 reduce".
static std::string formsText(const StageGroup &g) {
  std::string out;
  for (bool attention : {true, false}) {
    std::map<partition::ProductForm, int64_t> counts;
    for (const partition::SharedProduct &p : g.products) {
      counts[p.form] += p.attention == attention ? 1 : 0;
    }
    std::erase_if(counts, [](const auto &c) { return c.second == 0; });
    std::string forms;
    for (auto [form, count] : counts) {
      forms += forms.empty() ? "" : " + ";
      forms += counts.size() > 1 ? std::to_string(count) + " " : "";
      forms += partition::productFormName(form);
    }
    if (!forms.empty()) {
      out += (out.empty() ? "" : ", ") +
             std::string(attention ? "attention " : "down ") + forms;
    }
  }
  return out;
}

/// One line when all stages share alike, else by kind of stage.
std::string productsText(const TimeReport &r) {
  std::map<std::pair<bool, partition::ProductForm>, int64_t> seen;
  std::string kinds;
  for (const StageGroup &g : stageGroups(*r.decode().step)) {
    for (const partition::SharedProduct &p : g.products) {
      ++seen[{p.attention, p.form}];
    }
    if (!g.products.empty()) {
      kinds += formatv("{0}{1} of {2}: {3}", kinds.empty() ? "" : "; ",
                       g.stages, layersText(g), formsText(g));
    }
  }
  if (seen.empty()) {
    return "";
  }
  StageGroup all;
  for (const auto &[product, count] : seen) {
    all.products.push_back({product.first, product.second});
  }
  bool alike = all.products.size() == 1 ||
               (all.products.size() == 2 &&
                all.products[0].attention != all.products[1].attention);
  return formatv("products {0} (how ranks share what each has a part of)\n",
                 alike ? formsText(all) : kinds)
      .str();
}

} // namespace orrery::command
