// SPDX-License-Identifier: Apache-2.0
// Groups, allocated datasets and texts of an HDF5 result.
#include "result/hdf5/structure.hpp"

#include <fmt/format.h>

namespace leadline::result::hdf5 {

Handle create_file(const std::string& path) {
  return Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, file_access().id()), H5Fclose);
}

Handle open_file(const std::string& path) {
  return Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, file_access().id()), H5Fclose);
}

Handle make_group(const Handle& parent, const char* name) {
  return Handle(H5Gcreate2(parent.id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
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

std::uint64_t allocate(const Handle& parent, const char* name, hid_t type, const std::vector<hsize_t>& shape) {
  const Handle properties = without_times();
  check(H5Pset_layout(properties.id(), H5D_CONTIGUOUS));
  check(H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY));
  check(H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER));
  const Handle space = make_space(shape);
  Handle dataset(H5Dcreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Dclose);
  const haddr_t offset = H5Dget_offset(dataset.id());
  if (offset == HADDR_UNDEF) throw Failure(fmt::format("the HDF5 library gives {} no place in the file", name));
  dataset.close();
  return offset;
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
