// SPDX-License-Identifier: Apache-2.0
// How a struct describes what results keep of it, once: HDF5 tables, JSON and its schema, and text follow from it.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace leadline {

/// Which files have a field.
enum class Since : bool {
  first_version,  ///< all: one without it is damaged
  later_version,  ///< not the older ones: in them it is absent
};

/// One value that results keep. `get` is a member of the struct, or a function of it for what follows from members.
template <typename Get>
struct Field {
  const char* name;  ///< in files, with the base unit where it has one: "time_ns_median", "num_pairs"
  Get get;
  const char* unit;     ///< "ns", "bytes", "bytes/s", "s"; "1" for a number of things; "" for what is no number
  const char* meaning;  ///< a few words without a full stop
  Since since = Since::first_version;
};

template <typename Get>
constexpr Field<Get> field(const char* name, Get get, const char* unit, const char* meaning,
                           Since since = Since::first_version) {
  return {name, get, unit, meaning, since};
}

/// Names a struct for the functions that describe it.
template <typename Struct>
struct Type {};

/// The fields of a struct, in the order of files: the std::tuple of fields that fields_of(Type<Struct>) returns, a
/// function beside the struct, in its namespace. Null where there is none.
template <typename Struct>
inline constexpr auto fields = [] {
  if constexpr (requires { fields_of(Type<Struct>()); }) {
    return fields_of(Type<Struct>());
  } else {
    return nullptr;
  }
}();

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

/// What the values of a struct take in tables, without what the compiler puts between them.
template <Described Struct>
inline constexpr std::size_t bytes_of_fields = std::apply(
    []<typename... Get>(const Field<Get>&...) { return (sizeof(FieldValue<Struct, Get>) + ...); }, fields<Struct>);

/// The name of the field with this member.
template <Described Struct, typename Value>
constexpr const char* name_of_field(Value Struct::*member) {
  const char* name = "";
  for_each_field<Struct>([&](const auto& one) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(one.get)>, Value Struct::*>) {
      if (one.get == member) name = one.name;
    }
  });
  return name;
}

/// The values of many structs, a list for each field. All fields are members.
template <Described Struct>
class Columns {
 public:
  /// As many of what a struct is at first.
  explicit Columns(std::size_t num) : columns_(lists(num, std::make_index_sequence<num_fields<Struct>>())) {}

  std::size_t size() const { return std::get<0>(columns_).size(); }
  void clear() { *this = Columns(size()); }

  void set(std::size_t index, const Struct& values) {
    for_each([&](const auto& one, auto& column) { column.at(index) = values.*one.get; });
  }

  Struct at(std::size_t index) const {
    Struct values;
    for_each([&](const auto& one, const auto& column) { values.*one.get = column.at(index); });
    return values;
  }

  /// The list of the field with this member: `row[&PairRecord::count]`.
  template <typename Value>
  const std::vector<Value>& operator[](Value Struct::*member) const& {
    const std::vector<Value>* found = nullptr;
    for_each([&](const auto& one, const auto& column) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(one.get)>, Value Struct::*>) {
        if (one.get == member) found = &column;
      }
    });
    return *found;
  }
  template <typename Value>
  std::vector<Value>& operator[](Value Struct::*member) & {
    return const_cast<std::vector<Value>&>(std::as_const(*this)[member]);
  }
  template <typename Value>
  std::vector<Value> operator[](Value Struct::*member) && {
    return std::move((*this)[member]);
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

  Lists columns_;
};

}  // namespace leadline
