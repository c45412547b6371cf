// What follows from the numbers of a machine description.
#pragma once

#include "machine/Machine.h"
#include "runtime/command/Json.h"

#include <string>
#include <vector>

namespace orrery::command {

struct MachineFigure {
  std::string name; ///< with its unit
  double value;
  std::string formula;
};

/// Peaks and sums; nothing that depends on a program.
std::vector<MachineFigure> machineFigures(const Machine &machine);
Json figuresJson(const Machine &machine);

} // namespace orrery::command
