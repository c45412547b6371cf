// The numbers of a machine description as a table: where each stands in the
// JSON text and in Machine, and which values make sense. Parser, formatter and
// the tests walk it; a new number is a new row.
#pragma once

#include "machine/Machine.h"

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace orrery {

/// One number of the description.
struct NumberField {
  std::string_view object; ///< JSON object that holds it; "" is the top
  std::string_view key;
  std::variant<int32_t &(*)(Machine &), Tick &(*)(Machine &),
               double &(*)(Machine &)>
      member;
  double low, high;     ///< both allowed
  int32_t multiple = 1; ///< whole numbers: of this

  /// "sram.banks"
  std::string path() const;
  bool whole() const { return member.index() != 2; }
  double get(const Machine &m) const;
  void set(Machine &m, double value) const;
  /// "a whole number from 32 to 1024, a multiple of 32"
  std::string range() const;
  bool allows(double value) const;
};

/// All of them, in the order in which formatMachine writes them.
std::span<const NumberField> numberFields();
/// The JSON objects that hold numbers, "" first, in that order.
std::span<const std::string_view> numberObjects();

/// What no single number shows: the relations between them. The error is
/// "path: expected X, found Y".
Status checkRelations(const Machine &machine);

/// A number as JSON would show it, without trailing zeros.
std::string numberText(double value);

} // namespace orrery
