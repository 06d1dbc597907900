// SPDX-License-Identifier: Apache-2.0
// What the structure of an HDF5 result is made of: groups, datasets with a place in the file, lists, texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "result/hdf5/library.hpp"
#include "result/output_file.hpp"

namespace leadline::result::hdf5 {

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

Handle make_group(const Handle& parent, const char* name);

/// How datasets are made: nothing in them says when, so that the same result is the same file, byte for byte.
Handle without_times();

/// A contiguous dataset with a place in the file, whose offset comes back, and nothing written there: a hole, read as
/// zeros. An empty shape is a single value.
std::uint64_t allocate(const Handle& parent, const char* name, hid_t type, const std::vector<hsize_t>& shape);

/// A text of variable length.
void write_text(const Handle& parent, const char* name, const std::string& text);

Handle make_space(const std::vector<hsize_t>& shape);

template <typename Value>
void write_list(const Handle& parent, const char* name, hid_t type, const std::vector<Value>& values) {
  const Handle space = make_space({values.size()});
  const Handle properties = without_times();
  Handle dataset(H5Dcreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Dclose);
  if (!values.empty()) check(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  dataset.close();
}

}  // namespace leadline::result::hdf5
