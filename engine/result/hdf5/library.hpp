// SPDX-License-Identifier: Apache-2.0
// The HDF5 library: handles, errors, and the steps by which a file's structure is made.
#pragma once

#include <hdf5.h>

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "result/output_file.hpp"

namespace leadline::result::hdf5 {

/// What the library says about a failed call, and the system's error number where that is the cause (0 = none).
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& why, int error_number = 0)
      : std::runtime_error(why), error_number_(error_number) {}

  int error_number() const { return error_number_; }

 private:
  int error_number_;
};

/// While it lives, this thread's HDF5 does not print its errors. The first one keeps the library from flushing files
/// at exit, where after a full disk it would try without end; all files are closed explicitly.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// Throws Failure with the error stack's innermost reason.
[[noreturn]] void fail();

inline void check(herr_t status) {
  if (status < 0) fail();
}

/// An owned identifier of the library.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  /// Takes what a call returned; throws Failure if the call failed.
  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {
    if (id < 0) fail();
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) closer_(id_);
  }

  hid_t id() const { return id_; }

  /// Closes now, with the error that may come of it.
  void close() { check(closer_(std::exchange(id_, H5I_INVALID_HID))); }

 private:
  hid_t id_;
  Closer closer_;
};

/// Variable-length and fixed-size zero-padded UTF-8.
Handle text_type();
Handle text_type(std::size_t size);

Handle scalar();

/// How files are opened: without locks, which fail on parallel file systems that are mounted without them; only one
/// process at a time changes a file.
Handle file_access();

void write_attribute(const Handle& object, const char* name, const std::string& value);
void write_attribute(const Handle& object, const char* name, int value);
void write_attribute(const Handle& object, const char* name, std::int64_t value);
void write_attribute(const Handle& object, const char* name, std::uint64_t value);
void write_attribute(const Handle& object, const char* name, double value);

/// Runs `write` with a quiet library; its failure becomes an Error(run_failed) that names the file.
template <typename Write>
auto writing(const std::string& path, const Write& write) {
  const Session session;
  try {
    return write();
  } catch (const Failure& failure) {
    if (failure.error_number() != 0) throw write_error(path, failure.error_number());
    throw write_error(path, failure.what());
  }
}

// All that follows throws Failure.

/// A fresh file over `path`, or the one that is there.
Handle create_file(const std::string& path);
Handle open_file(const std::string& path);

/// Takes away what has this name, if anything has.
void remove_link(const Handle& parent, const char* name);
void remove_attribute(const Handle& object, const char* name);

Handle make_group(const Handle& parent, const char* name);

/// The same, of which readers learn in which order its attributes were written.
Handle make_group_in_order(const Handle& parent, const char* name);

/// How datasets are made: nothing in them says when, so that the same result is the same file, byte for byte.
Handle without_times();

/// The type of such numbers in memory.
template <typename Number>
hid_t native_type() {
  if constexpr (std::same_as<Number, double>) {
    return H5T_NATIVE_DOUBLE;
  } else if constexpr (std::same_as<Number, std::uint8_t>) {
    return H5T_NATIVE_UINT8;
  } else if constexpr (std::same_as<Number, std::int32_t>) {
    return H5T_NATIVE_INT32;
  } else if constexpr (std::same_as<Number, std::uint32_t>) {
    return H5T_NATIVE_UINT32;
  } else if constexpr (std::same_as<Number, std::int64_t>) {
    return H5T_NATIVE_INT64;
  } else {
    static_assert(std::same_as<Number, std::uint64_t>);
    return H5T_NATIVE_UINT64;
  }
}

/// A dataset's name and, where there is a meaning, what it says of itself in its attributes.
struct DatasetName {
  DatasetName(const char* name_of_it) : name(name_of_it) {}
  DatasetName(const char* name_of_it, const char* unit_of_it, const char* meaning_of_it)
      : name(name_of_it), unit(unit_of_it), meaning(meaning_of_it) {}

  const char* name;
  const char* unit = "";
  const char* meaning = "";
};

/// A contiguous dataset with a place in the file, whose offset comes back, and nothing written there: a hole, read as
/// zeros. An empty shape is a single value.
std::uint64_t allocate(const Handle& parent, const DatasetName& name, hid_t type, const std::vector<hsize_t>& shape);

/// How a dataset is made whose values the library compresses where it can; `chunk`: what it compresses at once.
Handle packed_in(const std::vector<hsize_t>& chunk);

/// A shorter list is not packed: what finds its parts would take more than is saved.
inline constexpr hsize_t least_bytes_to_pack = 1 << 14;

/// A list that is written element by element from its beginning to its end, packed where it is long.
class PackedList {
 public:
  PackedList(const Handle& parent, const DatasetName& name, hid_t type, hsize_t length);

  /// The next element, as it lies in memory.
  void add(std::string_view element);

  /// Writes what is left.
  void close();

 private:
  void write();

  Handle type_, space_, dataset_;
  hsize_t num_written_ = 0;
  std::string pending_;
  std::size_t element_size_;
};

/// Unit and meaning as attributes of the dataset.
void describe(const Handle& dataset, const DatasetName& name);

/// A list of texts of this size, zero-padded.
void write_texts(const Handle& parent, const DatasetName& name, const std::vector<std::string>& texts,
                 std::size_t size);

/// A text of variable length.
void write_text(const Handle& parent, const char* name, const std::string& text);

Handle make_space(const std::vector<hsize_t>& shape);

template <typename Value>
void write_list(const Handle& parent, const DatasetName& name, hid_t type, const std::vector<Value>& values) {
  const Handle space = make_space({values.size()});
  const Handle properties = without_times();
  Handle dataset(H5Dcreate2(parent.id(), name.name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                 H5Dclose);
  if (!values.empty()) check(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  describe(dataset, name);
  dataset.close();
}

}  // namespace leadline::result::hdf5
