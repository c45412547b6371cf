// Sums of structs of like terms: `kTerms` names them, each once.
#pragma once

namespace orrery::partition {

template <class Sum>
concept HasTerms = requires { Sum::kTerms[0]; };

template <HasTerms Sum> Sum &operator+=(Sum &a, const Sum &b) {
  for (auto term : Sum::kTerms) {
    a.*term += b.*term;
  }
  return a;
}
template <HasTerms Sum> Sum operator-(Sum a, const Sum &b) {
  for (auto term : Sum::kTerms) {
    a.*term -= b.*term;
  }
  return a;
}

} // namespace orrery::partition
