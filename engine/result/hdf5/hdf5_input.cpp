// SPDX-License-Identifier: Apache-2.0
// Checked reading of tables, texts and attributes.
#include "result/hdf5/hdf5_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "core/error.hpp"
#include "result/file_kind.hpp"
#include "result/subprocess.hpp"

namespace leadline::result::hdf5 {

namespace {

constexpr hsize_t max_text_bytes = 1 << 16;  // of one fixed-size text

std::string without_padding(const std::string& text) { return text.substr(0, text.find('\0')); }

/// One text of a file, of either kind; `read` is called with the type in memory and the place for the value.
template <typename Read>
std::string read_text(const Handle& type, const Read& read) {
  if (H5Tis_variable_str(type.id()) > 0) {
    const Handle memory_type = text_type();
    char* characters = nullptr;
    read(memory_type.id(), static_cast<void*>(&characters));
    std::string text = characters == nullptr ? "" : characters;
    check(H5free_memory(characters));
    return text;
  }
  const hsize_t size = H5Tget_size(type.id());
  if (size == 0 || size > max_text_bytes) throw Failure(fmt::format("a text of {} bytes", size));
  std::string text(size, '\0');
  // As stored: our own type in memory would be refused where the file says that the text is ASCII.
  read(type.id(), text.data());
  return without_padding(text);
}

herr_t append_attribute(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

herr_t append_member(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

Shape shape_of_handle(const Handle& dataset) {
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const int num_dimensions = H5Sget_simple_extent_ndims(space.id());
  if (num_dimensions < 0) hdf5::fail();
  Shape shape(static_cast<std::size_t>(num_dimensions));
  check(H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr));
  return shape;
}

}  // namespace

Input::Input(const std::string& path)
    : path_(path), file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_access().id()), H5Fclose) {}

std::uint64_t Input::size_bytes() const {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path_, unknown);
  return unknown ? 0 : size;
}

void Input::fail(const std::string& what) const { throw_damaged(path_, what); }

bool Input::has(const std::string& name) const {
  const std::size_t slash = name.rfind('/');
  if (slash != std::string::npos && !has(name.substr(0, slash))) return false;
  return H5Lexists(file_.id(), name.c_str(), H5P_DEFAULT) > 0;
}

bool Input::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

Handle Input::open_dataset(const std::string& name) const {
  if (!has(name)) fail("/" + name + " is missing");
  return Handle(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
}

Shape Input::shape_of(const std::string& dataset) const { return shape_of_handle(open_dataset(dataset)); }

Handle Input::open_table(const std::string& name, const Shape& shape, H5T_class_t kind) const {
  Handle dataset = open_dataset(name);
  if (shape_of_handle(dataset) != shape) fail("/" + name + " has another shape than the rest");
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  if (H5Tget_class(type.id()) != kind) fail("/" + name + " has values of another kind");
  return dataset;
}

template <typename Number>
std::vector<Number> Input::numbers(const std::string& name, const Shape& shape, const Box& box) const {
  const Handle dataset = open_table(name, shape, std::is_floating_point_v<Number> ? H5T_FLOAT : H5T_INTEGER);
  hsize_t size = 1;
  for (const hsize_t extent : box.count) size *= extent;
  std::vector<Number> values(size);
  if (size == 0) return values;
  const Handle in_file(H5Dget_space(dataset.id()), H5Sclose);
  if (!box.start.empty()) {
    check(H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, box.start.data(), nullptr, box.count.data(), nullptr));
  }
  const Handle in_memory(H5Screate_simple(1, &size, nullptr), H5Sclose);
  check(H5Dread(dataset.id(), native_type<Number>(), in_memory.id(), in_file.id(), H5P_DEFAULT, values.data()));
  return values;
}

template std::vector<double> Input::numbers(const std::string&, const Shape&, const Box&) const;
template std::vector<std::int32_t> Input::numbers(const std::string&, const Shape&, const Box&) const;
template std::vector<std::uint32_t> Input::numbers(const std::string&, const Shape&, const Box&) const;
template std::vector<std::uint64_t> Input::numbers(const std::string&, const Shape&, const Box&) const;

std::string Input::text(const std::string& name, const Shape& shape, const Shape& start) const {
  const Handle dataset = open_table(name, shape, H5T_STRING);
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Handle in_file(H5Dget_space(dataset.id()), H5Sclose);
  const Shape count(start.size(), 1);
  if (!start.empty()) {
    check(H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
  }
  const Handle in_memory = scalar();
  return read_text(type, [&](hid_t memory_type, void* place) {
    check(H5Dread(dataset.id(), memory_type, in_memory.id(), in_file.id(), H5P_DEFAULT, place));
  });
}

std::vector<std::string> Input::texts(const std::string& name, const Shape& shape, const Box& box) const {
  const Handle dataset = open_table(name, shape, H5T_STRING);
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const hsize_t num = box.count[0];
  std::vector<std::string> texts;
  if (H5Tis_variable_str(type.id()) > 0) {
    for (hsize_t index = 0; index < num; ++index) texts.push_back(text(name, shape, {box.start[0] + index}));
    return texts;
  }
  const hsize_t size = H5Tget_size(type.id());
  if (size == 0 || size > max_text_bytes) throw Failure(fmt::format("a text of {} bytes", size));
  const Handle in_file(H5Dget_space(dataset.id()), H5Sclose);
  check(H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, box.start.data(), nullptr, box.count.data(), nullptr));
  const Handle in_memory(H5Screate_simple(1, &num, nullptr), H5Sclose);
  std::string all(num * size, '\0');
  check(H5Dread(dataset.id(), type.id(), in_memory.id(), in_file.id(), H5P_DEFAULT, all.data()));
  for (hsize_t index = 0; index < num; ++index) texts.push_back(without_padding(all.substr(index * size, size)));
  return texts;
}

HeaderValue Input::attribute(const std::string& object, const std::string& name) const {
  if (!has_attribute(object, name)) fail(fmt::format("{} has no attribute {}", object, name));
  const Handle attribute(H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (H5Sget_simple_extent_npoints(space.id()) != 1) fail(fmt::format("{} has a list as {}", object, name));
  switch (H5Tget_class(type.id())) {
    case H5T_STRING:
      return read_text(type,
                       [&](hid_t memory_type, void* place) { check(H5Aread(attribute.id(), memory_type, place)); });
    case H5T_INTEGER: {
      long long value = 0;
      check(H5Aread(attribute.id(), H5T_NATIVE_LLONG, &value));
      return std::int64_t{value};
    }
    case H5T_FLOAT: {
      double value = 0;
      check(H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value));
      return value;
    }
    default:
      fail(fmt::format("{} has something unknown as {}", object, name));
  }
}

std::string Input::text_attribute(const std::string& object, const std::string& name) const {
  const HeaderValue value = attribute(object, name);
  if (!std::holds_alternative<std::string>(value)) fail(fmt::format("{} of {} is no text", name, object));
  return std::get<std::string>(value);
}

std::int64_t Input::whole_attribute(const std::string& object, const std::string& name) const {
  const HeaderValue value = attribute(object, name);
  if (!std::holds_alternative<std::int64_t>(value)) fail(fmt::format("{} of {} is no whole number", name, object));
  return std::get<std::int64_t>(value);
}

std::uint64_t Input::unsigned_attribute(const std::string& object, const std::string& name) const {
  if (whole_attribute(object, name) < 0) fail(fmt::format("{} of {} is negative", name, object));
  const Handle attribute(H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  unsigned long long value = 0;
  check(H5Aread(attribute.id(), H5T_NATIVE_ULLONG, &value));
  return value;
}

double Input::real_attribute(const std::string& object, const std::string& name) const {
  const HeaderValue value = attribute(object, name);
  if (!std::holds_alternative<double>(value)) fail(fmt::format("{} of {} is no real number", name, object));
  return std::get<double>(value);
}

std::int32_t Input::count_attribute(const std::string& object, const std::string& name) const {
  const std::int64_t value = whole_attribute(object, name);
  const bool is_count = value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
  if (!is_count) fail(fmt::format("{} has {} as {}", object, value, name));
  return static_cast<std::int32_t>(value);
}

/// Nothing where there is none. A file of this size has no longer one.
std::optional<Shape> Input::shape_of_list(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  Shape shape = shape_of(name);
  if (shape.size() != 1 || shape[0] > size_bytes()) fail("/" + name + " is no list");
  return shape;
}

std::vector<std::int32_t> Input::list(const std::string& name) const {
  const auto shape = shape_of_list(name);
  return shape ? numbers<std::int32_t>(name, *shape, {{0}, *shape}) : std::vector<std::int32_t>();
}

std::vector<std::string> Input::list_of_texts(const std::string& name) const {
  constexpr hsize_t texts_at_once = 1 << 14;
  std::vector<std::string> all;
  const auto shape = shape_of_list(name);
  for (hsize_t first = 0; shape && first < (*shape)[0]; first += texts_at_once) {
    auto some = texts(name, *shape, {{first}, {std::min(texts_at_once, (*shape)[0] - first)}});
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return all;
}

std::vector<std::string> Input::attribute_names(const std::string& object) const {
  const Handle group(H5Gopen2(file_.id(), object.c_str(), H5P_DEFAULT), H5Gclose);
  const Handle properties(H5Gget_create_plist(group.id()), H5Pclose);
  unsigned order = 0;
  check(H5Pget_attr_creation_order(properties.id(), &order));
  const H5_index_t index = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  std::vector<std::string> names;
  check(H5Aiterate2(group.id(), index, H5_ITER_INC, nullptr, append_attribute, &names));
  return names;
}

std::vector<std::string> Input::member_names(const std::string& group) const {
  const Handle handle(H5Gopen2(file_.id(), group.c_str(), H5P_DEFAULT), H5Gclose);
  std::vector<std::string> names;
  check(H5Literate(handle.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, append_member, &names));
  return names;
}

void rethrow_as_error(const std::string& path) {
  try {
    throw;
  } catch (const Failure& failure) {
    const std::string why = failure.what();
    if (why.find("truncated") != std::string::npos) {
      throw Error(ExitStatus::run_failed, "cannot read '" + path + "'", "the file is truncated",
                  "Copy it again; was the disk full?");
    }
    throw_damaged(path, why);
  } catch (const std::bad_alloc&) {
    throw_damaged(path, "it says that it is larger than memory");
  } catch (const std::length_error&) {
    throw_damaged(path, "it says that it is larger than memory");
  }
}

void expect_readable(const std::string& path, const std::function<void()>& look) {
  // Looking at a repeat takes less than a millisecond, and 3 KB of the file.
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const std::uint64_t size_bytes = ignored ? 0 : size;
  // Lengths in a damaged file may be any number; sound tables are unpacked to some times their size.
  const Allowance allowance{2 + size_bytes / 1'000'000, (std::uint64_t{384} << 20) + 64 * size_bytes};
  const Ending ending = probe_in_child(look, allowance);
  if (ending == Ending::died) throw_damaged(path, "the HDF5 library cannot cope with what is in it");
  // The child can tell nobody what it threw.
  if (ending == Ending::threw) run_with_memory_limit(look, allowance);
}

}  // namespace leadline::result::hdf5
