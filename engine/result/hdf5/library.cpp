// SPDX-License-Identifier: Apache-2.0
// The HDF5 library: handles, errors, and the steps by which a file's structure is made.
#include "result/hdf5/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "result/shared_file.hpp"

namespace leadline::result::hdf5 {

Session::Session() {
  [[maybe_unused]] static const herr_t no_flush_at_exit = H5dont_atexit();
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

namespace {

/// Called from the innermost entry outwards; keeps the first.
herr_t keep_first(unsigned, const H5E_error2_t* entry, void* text) {
  auto& reason = *static_cast<std::string*>(text);
  if (reason.empty() && entry->desc != nullptr) reason = entry->desc;
  return 0;
}

}  // namespace

void fail() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  // The file driver's reasons hold "errno = 28" amid addresses and times.
  const std::string mark = "errno = ";
  const auto at = reason.find(mark);
  const int error_number = at == std::string::npos ? 0 : std::atoi(reason.c_str() + at + mark.size());
  throw Failure(reason.empty() ? "the HDF5 library gives no reason" : reason, error_number);
}

Handle text_type() { return text_type(H5T_VARIABLE); }

Handle text_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  check(H5Tset_size(type.id(), size));
  check(H5Tset_cset(type.id(), H5T_CSET_UTF8));
  if (size != H5T_VARIABLE) check(H5Tset_strpad(type.id(), H5T_STR_NULLPAD));
  return type;
}

Handle scalar() { return Handle(H5Screate(H5S_SCALAR), H5Sclose); }

Handle file_access() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  check(H5Pset_file_locking(access.id(), false, true));
#endif
  return access;
}

namespace {

void write(const Handle& object, const char* name, hid_t type, const void* value) {
  const Handle space = scalar();
  Handle attribute(H5Acreate2(object.id(), name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  check(H5Awrite(attribute.id(), type, value));
  attribute.close();
}

}  // namespace

void write_attribute(const Handle& object, const char* name, const std::string& value) {
  const Handle type = text_type();
  const char* text = value.c_str();
  write(object, name, type.id(), &text);
}

void write_attribute(const Handle& object, const char* name, int value) { write(object, name, H5T_NATIVE_INT, &value); }

void write_attribute(const Handle& object, const char* name, std::int64_t value) {
  write(object, name, H5T_NATIVE_LLONG, &value);
}

void write_attribute(const Handle& object, const char* name, std::uint64_t value) {
  write(object, name, H5T_NATIVE_ULLONG, &value);
}

void write_attribute(const Handle& object, const char* name, double value) {
  write(object, name, H5T_NATIVE_DOUBLE, &value);
}

Handle create_file(const std::string& path) {
  return Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, file_access().id()), H5Fclose);
}

Handle open_file(const std::string& path) {
  return Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, file_access().id()), H5Fclose);
}

void remove_link(const Handle& parent, const char* name) {
  if (H5Lexists(parent.id(), name, H5P_DEFAULT) > 0) check(H5Ldelete(parent.id(), name, H5P_DEFAULT));
}

void remove_attribute(const Handle& object, const char* name) {
  if (H5Aexists(object.id(), name) > 0) check(H5Adelete(object.id(), name));
}

Handle make_group(const Handle& parent, const char* name) {
  return Handle(H5Gcreate2(parent.id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
}

Handle make_group_in_order(const Handle& parent, const char* name) {
  const Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  check(H5Pset_attr_creation_order(properties.id(), H5P_CRT_ORDER_TRACKED));
  // The header of such a group has room for the time, and files of equal results have equal bytes.
  check(H5Pset_obj_track_times(properties.id(), false));
  return Handle(H5Gcreate2(parent.id(), name, H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Gclose);
}

Handle make_space(const std::vector<hsize_t>& shape) {
  if (shape.empty()) return scalar();
  return Handle(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
}

Handle without_times() {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  check(H5Pset_obj_track_times(properties.id(), false));
  return properties;
}

void describe(const Handle& dataset, const DatasetName& name) {
  if (*name.unit != '\0') write_attribute(dataset, "unit", std::string(name.unit));
  if (*name.meaning != '\0') write_attribute(dataset, "meaning", std::string(name.meaning));
}

std::uint64_t allocate(const Handle& parent, const DatasetName& name, hid_t type, const std::vector<hsize_t>& shape) {
  const Handle properties = without_times();
  check(H5Pset_layout(properties.id(), H5D_CONTIGUOUS));
  check(H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY));
  check(H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER));
  const Handle space = make_space(shape);
  Handle dataset(H5Dcreate2(parent.id(), name.name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                 H5Dclose);
  const haddr_t offset = H5Dget_offset(dataset.id());
  if (offset == HADDR_UNDEF) throw Failure(fmt::format("the HDF5 library gives {} no place in the file", name.name));
  describe(dataset, name);
  dataset.close();
  return offset;
}

Handle packed_in(const std::vector<hsize_t>& chunk) {
  Handle properties = without_times();
  check(H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()));
  // A library without zlib makes a larger file that reads the same.
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
    check(H5Pset_shuffle(properties.id()));
    check(H5Pset_deflate(properties.id(), 6));
  }
  return properties;
}

namespace {

constexpr hsize_t elements_packed_at_once = 1 << 14;

Handle list_properties(hsize_t length, std::size_t element_size) {
  if (length * element_size < least_bytes_to_pack) return without_times();
  return packed_in({std::min(length, elements_packed_at_once)});
}

}  // namespace

PackedList::PackedList(const Handle& parent, const DatasetName& name, hid_t type, hsize_t length)
    : type_(H5Tcopy(type), H5Tclose),
      space_(make_space({length})),
      dataset_(H5Dcreate2(parent.id(), name.name, type, space_.id(), H5P_DEFAULT,
                          list_properties(length, H5Tget_size(type)).id(), H5P_DEFAULT),
               H5Dclose),
      element_size_(H5Tget_size(type)) {
  describe(dataset_, name);
}

void PackedList::add(std::string_view element) {
  pending_ += element;
  if (pending_.size() == elements_packed_at_once * element_size_) write();
}

void PackedList::write() {
  const hsize_t num = pending_.size() / element_size_;
  if (num == 0) return;
  check(H5Sselect_hyperslab(space_.id(), H5S_SELECT_SET, &num_written_, nullptr, &num, nullptr));
  const Handle in_memory = make_space({num});
  check(H5Dwrite(dataset_.id(), type_.id(), in_memory.id(), space_.id(), H5P_DEFAULT, pending_.data()));
  num_written_ += num;
  pending_.clear();
}

void PackedList::close() {
  write();
  dataset_.close();
}

void write_texts(const Handle& parent, const DatasetName& name, const std::vector<std::string>& texts,
                 std::size_t size) {
  std::string bytes;
  for (const std::string& text : texts) bytes += padded(text, size);
  const Handle type = text_type(size), space = make_space({texts.size()}), properties = without_times();
  Handle dataset(H5Dcreate2(parent.id(), name.name, type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                 H5Dclose);
  check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
  describe(dataset, name);
  dataset.close();
}

void write_text(const Handle& parent, const char* name, const std::string& text) {
  const Handle type = text_type();
  const Handle space = scalar();
  const Handle properties = without_times();
  Handle dataset(H5Dcreate2(parent.id(), name, type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                 H5Dclose);
  const char* characters = text.c_str();
  check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &characters));
  dataset.close();
}

}  // namespace leadline::result::hdf5
