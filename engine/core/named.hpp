// SPDX-License-Identifier: Apache-2.0
// The names of an enum's values, in one table: parsing, printing, help and schemas read it.
#pragma once

#include <cstddef>
#include <span>

namespace leadline {

/// A value with its name in options and files. Beside its enum stands
/// `std::span<const Named<Enum>> names_of(Enum)`, which gives all of them.
template <typename Value>
struct Named {
  Value value;
  const char* name;
  const char* meaning = "";  ///< for help: a few words without a full stop; may be empty
};

template <typename Value, std::size_t num>
const char* name_in(const Named<Value> (&names)[num], Value value) {
  for (const Named<Value>& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

}  // namespace leadline
