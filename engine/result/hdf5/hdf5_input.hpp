// SPDX-License-Identifier: Apache-2.0
// An HDF5 file open for reading, whose tables and attributes are checked before they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "result/hdf5/library.hpp"
#include "result/run_header.hpp"

namespace leadline::result::hdf5 {

using Shape = std::vector<hsize_t>;

/// A box of elements of a table: where it begins, how far it goes. Empty lists for a single value.
struct Box {
  Shape start, count;
};

/// Names of objects are paths without the first slash, those of groups with attributes have it. Throws Failure for what
/// the library refuses, Error(run_failed) naming the file for what is missing or of another shape or kind.
class Input {
 public:
  explicit Input(const std::string& path);

  /// Of the whole file; no list in it is longer.
  std::uint64_t size_bytes() const;

  /// Throws Error(run_failed): the file is damaged.
  [[noreturn]] void fail(const std::string& what) const;

  bool has(const std::string& name) const;
  bool has_attribute(const std::string& object, const std::string& name) const;
  Shape shape_of(const std::string& dataset) const;

  /// Numbers of a table that must have this shape. Instances: double, int32, uint32, uint64.
  template <typename Number>
  std::vector<Number> numbers(const std::string& name, const Shape& shape, const Box& box) const;

  /// Texts of a list that must have this shape, without their padding.
  std::vector<std::string> texts(const std::string& name, const Shape& shape, const Box& box) const;

  /// One text of a table that must have this shape, without its padding.
  std::string text(const std::string& name, const Shape& shape, const Shape& start) const;

  HeaderValue attribute(const std::string& object, const std::string& name) const;
  std::string text_attribute(const std::string& object, const std::string& name) const;
  std::int64_t whole_attribute(const std::string& object, const std::string& name) const;

  /// Of 64 bits, all of them for digits.
  std::uint64_t unsigned_attribute(const std::string& object, const std::string& name) const;
  double real_attribute(const std::string& object, const std::string& name) const;

  /// Of 31 bits, not negative.
  std::int32_t count_attribute(const std::string& object, const std::string& name) const;

  // Whole lists, which are empty where they are missing.
  std::vector<std::int32_t> list(const std::string& name) const;
  std::vector<std::string> list_of_texts(const std::string& name) const;

  std::vector<std::string> attribute_names(const std::string& object) const;
  std::vector<std::string> member_names(const std::string& group) const;

 private:
  std::optional<Shape> shape_of_list(const std::string& name) const;
  Handle open_dataset(const std::string& name) const;
  Handle open_table(const std::string& name, const Shape& shape, H5T_class_t kind) const;

  std::string path_;
  Handle file_;
};

/// Throws an Error in place of what the library or the numbers in the file brought about: one line that names the file.
[[noreturn]] void rethrow_as_error(const std::string& path);

/// Runs work that reads; what it throws is an Error.
template <typename Work>
auto reading(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const std::exception&) {
    rethrow_as_error(path);
  }
}

/// Local, without other threads: lets another process look at the file first, since the library reads past its buffers
/// where lengths in its heaps and headers are damaged (1.10.8), and takes as much memory as they say. That process has
/// limits of computing and of memory. Throws Error(run_failed) if it dies of the file, and what `look` throws within
/// the limit of memory. `look` reads something of every object that is read later.
void expect_readable(const std::string& path, const std::function<void()>& look);

}  // namespace leadline::result::hdf5
