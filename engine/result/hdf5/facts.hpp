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
/// files have, and for int32 that are negative.
template <Described Struct>
void read_facts(const Input& file, const std::string& group, Struct& facts) {
  for_each_field<Struct>([&](const auto& field) {
    const std::string object = "/" + group, list = group + "/" + field.name;
    if (field.since == Since::later_version && !file.has_attribute(object, field.name)) return;
    auto& fact = std::invoke(field.get, facts);
    using Fact = std::remove_cvref_t<decltype(fact)>;
    if constexpr (std::same_as<Fact, bool>) {
      fact = file.whole_attribute(object, field.name) != 0;
    } else if constexpr (std::same_as<Fact, std::int32_t>) {
      fact = file.count_attribute(object, field.name);
    } else if constexpr (std::same_as<Fact, std::int64_t>) {
      fact = file.whole_attribute(object, field.name);
    } else if constexpr (std::same_as<Fact, std::uint64_t>) {
      fact = file.unsigned_attribute(object, field.name);
    } else if constexpr (std::same_as<Fact, double>) {
      fact = file.real_attribute(object, field.name);
    } else if constexpr (std::same_as<Fact, std::string>) {
      fact = file.text_attribute(object, field.name);
    } else if constexpr (std::same_as<Fact, std::vector<std::int32_t>>) {
      fact = file.list(list);
    } else {
      fact = file.list_of_texts(list);
    }
  });
}

}  // namespace leadline::result::hdf5

namespace leadline::result {

template <std::size_t num_bytes>
struct JsonType<hdf5::Texts<num_bytes>> : JsonType<std::vector<std::string>> {};

}  // namespace leadline::result
