// SPDX-License-Identifier: Apache-2.0
// The list: each is read by an MPI library, and holds names, numbers and paths.
#include "compat/mpi_io_test/environment.hpp"

#include <fmt/format.h>

#include <array>

namespace leadline::compat::mpi_io_test {
namespace {

constexpr std::array variables{
    // Open MPI: which components, and how OMPIO works
    "OMPI_MCA_io", "OMPI_MCA_fs", "OMPI_MCA_fbtl", "OMPI_MCA_fcoll", "OMPI_MCA_sharedfp", "OMPI_MCA_btl",
    "OMPI_MCA_mtl", "OMPI_MCA_pml", "OMPI_MCA_fbtl_posix_read_datasieving", "OMPI_MCA_fbtl_posix_write_datasieving",
    "OMPI_MCA_io_ompio_bytes_per_agg", "OMPI_MCA_io_ompio_cycle_buffer_size", "OMPI_MCA_io_ompio_grouping_option",
    "OMPI_MCA_io_ompio_num_aggregators", "OMPI_MCA_fs_lustre_stripe_size", "OMPI_MCA_fs_lustre_stripe_width",
    // ROMIO
    "ROMIO_HINTS", "ROMIO_FSTYPE_FORCE", "ROMIO_PRINT_HINTS",
    // MPICH and its kin
    "MPICH_MPIIO_HINTS", "MPICH_MPIIO_CB_ALIGN", "MPICH_MPIIO_DVS_MAXNODES", "MPIR_CVAR_ROMIO_FSTYPE_FORCE",
    "I_MPI_EXTRA_FILESYSTEM", "I_MPI_EXTRA_FILESYSTEM_FORCE", "I_MPI_EXTRA_FILESYSTEM_LIST"};

/// As one line of text.
std::string printable(const char* value) {
  std::string text = value;
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') letter = '?';
  }
  return text;
}

}  // namespace

std::string tuning_lines(const Environment& environment) {
  std::string text;
  for (const char* name : variables) {
    const char* const value = environment(name);
    if (value != nullptr) text += fmt::format("{}={}\n", name, printable(value));
  }
  return text;
}

}  // namespace leadline::compat::mpi_io_test
