// SPDX-License-Identifier: Apache-2.0
// What a described struct is in a file where there is one of it: facts in a group. A number or a text is an attribute;
// a list is a dataset, and is not there where it is empty.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/fields.hpp"
#include "result/described_json.hpp"
#include "result/hdf5/hdf5_input.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::result::hdf5 {

/// Texts of a list that have so many bytes each in a file.
template <std::size_t num_bytes>
struct Texts : std::vector<std::string> {
  static constexpr std::size_t size_of_text = num_bytes;

  Texts() = default;
  Texts(std::vector<std::string> texts) : std::vector<std::string>(std::move(texts)) {}
};

template <Described Struct>
void write_facts(const Handle& group, const Struct& facts) {
  for_each_field<Struct>([&](const auto& field) {
    const auto& fact = std::invoke(field.get, facts);
    using Fact = std::remove_cvref_t<decltype(fact)>;
    if constexpr (std::same_as<Fact, bool>) {
      write_attribute(group, field.name, fact ? 1 : 0);
    } else if constexpr (std::same_as<Fact, std::vector<std::int32_t>>) {
      if (!fact.empty()) write_list(group, {field.name, field.unit, field.meaning}, H5T_NATIVE_INT32, fact);
    } else if constexpr (std::derived_from<Fact, std::vector<std::string>>) {
      if (!fact.empty()) write_texts(group, {field.name, field.unit, field.meaning}, fact, Fact::size_of_text);
    } else {
      write_attribute(group, field.name, fact);
    }
  });
}

/// What write_facts has written into the group, "topologies/0000". Throws as Input does for what is missing that all
/// files have, and for counts that are negative.
template <Described Struct>
void read_facts(const Input& file, const std::string& group, Struct& facts) {
  for_each_field<Struct>([&](const auto& field) {
    if (field.since == Since::later_version && !file.has_attribute("/" + group, field.name)) return;
    file.read_fact(group, field.name, std::invoke(field.get, facts));
  });
}

}  // namespace leadline::result::hdf5

namespace leadline::result {

template <std::size_t num_bytes>
struct JsonType<hdf5::Texts<num_bytes>> : JsonType<std::vector<std::string>> {};

}  // namespace leadline::result
