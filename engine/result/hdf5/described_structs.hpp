// SPDX-License-Identifier: Apache-2.0
// What described structs are in a file, with unit and meaning as attributes: of many a table, one dataset for each
// field; of one facts in a group. There a number or a text is an attribute; a list is a dataset, and is not there where
// it is empty.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/fields.hpp"
#include "result/described_json.hpp"
#include "result/hdf5/hdf5_input.hpp"
#include "result/hdf5/library.hpp"

namespace leadline::result::hdf5 {

/// A value as tables have it: 0 for what was not measured, -1 for no rank, enums by their numbers.
template <typename Value>
auto stored(const Value& value) {
  if constexpr (std::same_as<Value, double>) {
    return std::isfinite(value) ? value : 0.0;
  } else if constexpr (std::same_as<Value, bool>) {
    return static_cast<std::uint8_t>(value ? 1 : 0);
  } else if constexpr (std::is_enum_v<Value>) {
    return static_cast<std::int32_t>(value);
  } else if constexpr (std::same_as<Value, std::optional<std::int32_t>>) {
    return value.value_or(-1);
  } else {
    return value;
  }
}

/// What a field's table holds; a text has none.
template <typename Struct, typename Get>
using StoredValue = decltype(stored(std::declval<FieldValue<Struct, Get>>()));

/// Where the table of each field lies, in their order; bytes from the beginning of the file, 0 = it is not there.
template <Described Struct>
using FieldOffsets = std::array<std::uint64_t, num_fields<Struct>>;

/// A field of several numbers: its table has one more dimension.
template <typename Value>
inline constexpr std::size_t num_numbers = 0;  ///< a text has no table
template <typename Value>
requires std::is_arithmetic_v<Value>
inline constexpr std::size_t num_numbers<Value> = 1;
template <typename Value, std::size_t num>
inline constexpr std::size_t num_numbers<std::array<Value, num>> = num;

template <typename Value>
struct NumberOf {
  using type = Value;
};
template <typename Value, std::size_t num>
struct NumberOf<std::array<Value, num>> {
  using type = Value;
};

/// The names of those that older files do not have.
template <Described Struct>
std::vector<std::string> later_fields() {
  std::vector<std::string> names;
  for_each_field<Struct>([&](const auto& one) {
    if (one.since == Since::later_version) names.emplace_back(one.name);
  });
  return names;
}

/// Tables of this shape without contents, but for those of fields that are left out.
template <Described Struct>
FieldOffsets<Struct> allocate_fields(const Handle& group, const Shape& shape,
                                     const std::vector<std::string>& left_out = {}) {
  FieldOffsets<Struct> offsets{};
  std::size_t index = 0;
  for_each_field<Struct>([&](const auto& field) {
    using Value = StoredValue<Struct, decltype(field.get)>;
    std::uint64_t& offset = offsets.at(index++);
    if constexpr (num_numbers < Value >> 0) {
      if (std::ranges::find(left_out, field.name) != left_out.end()) return;
      Shape whole = shape;
      if (num_numbers < Value >> 1) whole.push_back(num_numbers<Value>);
      offset = allocate(group, {field.name, field.unit, field.meaning}, native_type<typename NumberOf<Value>::type>(),
                        whole);
    }
  });
  return offsets;
}

/// Where the table of the field with this member lies.
template <Described Struct, typename Value>
std::uint64_t offset_of(const FieldOffsets<Struct>& offsets, Value Struct::*member) {
  std::uint64_t offset = 0;
  std::size_t index = 0;
  for_each_field<Struct>([&](const auto& field) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(field.get)>, Value Struct::*>) {
      if (field.get == member) offset = offsets.at(index);
    }
    ++index;
  });
  return offset;
}

/// Calls visit(offset, values) for each table that is there, in order: where it lies, and what these structs have for
/// it.
template <Described Struct, typename Visit>
void for_each_column(const FieldOffsets<Struct>& offsets, std::span<const Struct> structs, const Visit& visit) {
  std::size_t index = 0;
  for_each_field<Struct>([&](const auto& field) {
    using Value = StoredValue<Struct, decltype(field.get)>;
    const std::uint64_t offset = offsets.at(index++);
    if constexpr (num_numbers < Value >> 0) {
      if (offset == 0) return;
      std::vector<Value> values;
      for (const Struct& one : structs) values.push_back(stored(std::invoke(field.get, one)));
      visit(offset, values);
    }
  });
}

/// A list for each field, with all values of these structs.
template <Described Struct>
void write_fields(const Handle& group, const std::vector<Struct>& structs) {
  for_each_field<Struct>([&](const auto& field) {
    using Value = FieldValue<Struct, decltype(field.get)>;
    std::vector<Value> values;
    for (const Struct& one : structs) values.push_back(std::invoke(field.get, one));
    write_list(group, {field.name, field.unit, field.meaning}, native_type<Value>(), values);
  });
}

/// Whether a file is older than the field, so that it has no table of this name.
template <typename Get>
bool is_absent(const Input& file, const std::string& table, const Field<Get>& field) {
  return field.since == Since::later_version && !file.has(table);
}

/// What write_fields has written, all fields being members. Throws as Input does, also where the lists differ in length
/// or one is missing that all files have.
template <Described Struct>
std::vector<Struct> read_fields(const Input& file, const std::string& group, std::size_t num) {
  std::vector<Struct> structs(num);
  for_each_field<Struct>([&](const auto& field) {
    using Value = FieldValue<Struct, decltype(field.get)>;
    const std::string name = group + "/" + field.name;
    if (is_absent(file, name, field)) return;
    const auto values = file.numbers<Value>(name, {num}, {{0}, {num}});
    for (std::size_t index = 0; index < num; ++index) structs[index].*field.get = values[index];
  });
  return structs;
}

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
