// SPDX-License-Identifier: Apache-2.0
// How a struct describes what results keep of it, once: HDF5 tables, JSON and its schema, and text follow from it.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace leadline {

/// One value that results keep. `get` is a member of the struct, or a function of it for what follows from members.
template <typename Get>
struct Field {
  const char* name;  ///< in files, with the base unit where it has one: "time_ns_median", "num_pairs"
  Get get;
  const char* unit;     ///< "ns", "bytes", "bytes/s", "s"; "1" for a number of things; "" for what is no number
  const char* meaning;  ///< a few words without a full stop
};

template <typename Get>
constexpr Field<Get> field(const char* name, Get get, const char* unit, const char* meaning) {
  return {name, get, unit, meaning};
}

/// The fields of a struct, in the order of files: a std::tuple, specialised beside the struct.
template <typename Struct>
inline constexpr std::nullptr_t fields = nullptr;

template <typename Struct>
concept Described = !std::is_null_pointer_v<std::remove_cv_t<decltype(fields<Struct>)>>;

template <Described Struct>
inline constexpr std::size_t num_fields = std::tuple_size_v<std::remove_cv_t<decltype(fields<Struct>)>>;

/// What a field of the struct holds.
template <typename Struct, typename Get>
using FieldValue = std::remove_cvref_t<std::invoke_result_t<const Get&, const Struct&>>;

/// Calls visit(field) for each field of the struct, in order.
template <Described Struct, typename Visit>
constexpr void for_each_field(const Visit& visit) {
  std::apply([&](const auto&... one) { (visit(one), ...); }, fields<Struct>);
}

/// The values of many structs, a list for each field. All fields are members.
template <Described Struct>
class Columns {
 public:
  explicit Columns(std::size_t num) : columns_(lists(num, std::make_index_sequence<num_fields<Struct>>())) {}

  std::size_t size() const { return std::get<0>(columns_).size(); }

  void set(std::size_t index, const Struct& values) {
    for_each([&](const auto& one, auto& column) { column.at(index) = values.*one.get; });
  }

  Struct at(std::size_t index) const {
    Struct values;
    for_each([&](const auto& one, const auto& column) { values.*one.get = column.at(index); });
    return values;
  }

  /// The list of one field: `row.of<&PairRecord::count>()`.
  template <auto member>
  auto& of() {
    return std::get<index_of<member>()>(columns_);
  }
  template <auto member>
  const auto& of() const {
    return std::get<index_of<member>()>(columns_);
  }

  /// Calls visit(field, list) for each field, in order.
  template <typename Visit>
  void for_each(const Visit& visit) {
    visit_all(*this, visit, std::make_index_sequence<num_fields<Struct>>());
  }
  template <typename Visit>
  void for_each(const Visit& visit) const {
    visit_all(*this, visit, std::make_index_sequence<num_fields<Struct>>());
  }

 private:
  template <typename... Get>
  static std::tuple<std::vector<FieldValue<Struct, Get>>...> lists_of(const std::tuple<Field<Get>...>&);
  using Lists = decltype(lists_of(fields<Struct>));

  template <std::size_t... index>
  static Lists lists(std::size_t num, std::index_sequence<index...>) {
    return Lists(std::tuple_element_t<index, Lists>(num)...);
  }

  template <typename Self, typename Visit, std::size_t... index>
  static void visit_all(Self& self, const Visit& visit, std::index_sequence<index...>) {
    (visit(std::get<index>(fields<Struct>), std::get<index>(self.columns_)), ...);
  }

  template <auto member>
  static constexpr std::size_t index_of() {
    std::size_t index = 0, found = num_fields<Struct>;
    for_each_field<Struct>([&](const auto& one) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(one.get)>, decltype(member)>) {
        if (one.get == member) found = index;
      }
      ++index;
    });
    return found;
  }

  Lists columns_;
};

}  // namespace leadline
