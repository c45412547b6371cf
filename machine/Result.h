// Errors as values for the folders that know neither LLVM nor exceptions.
//
// A message is one lower-case line: what, where, expected, found.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace orrery {

/// One problem with something the user gave us.
struct Error {
  std::string message;
};

/// Either a value or the Error that kept us from having one.
template <class T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::move(value)) {}
  Expected(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() { return get(); }
  const T &operator*() const { return get(); }
  T *operator->() { return &get(); }
  const T *operator->() const { return &get(); }
  const Error &error() const {
    assert(!*this && "error() of a value");
    return std::get<Error>(state);
  }

private:
  T &get() {
    assert(*this && "value of an error");
    return std::get<T>(state);
  }
  const T &get() const {
    assert(*this && "value of an error");
    return std::get<T>(state);
  }
  std::variant<T, Error> state;
};

/// Success carries nothing.
struct Success {};
using Status = Expected<Success>;

} // namespace orrery
