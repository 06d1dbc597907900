// SPDX-License-Identifier: Apache-2.0
// What MPI-IO offers, and what it cannot do.
#include "storage/mpi_io/mpi_io.hpp"

#include "core/error.hpp"
#include "storage/mpi_io/choice.hpp"
#include "storage/mpi_io/library.hpp"
#include "storage/mpi_io/mpi_io_file.hpp"

namespace leadline::storage::mpi_io {

MpiIo::MpiIo() : chosen_(chosen()) {
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);  // which is that of opening
}

std::string MpiIo::library() const { return library_name() + " (" + chosen_.name + ")"; }

std::string MpiIo::refuses(const CallKind& kind) const {
  if (chosen_.name == "romio321" && kind.collective && kind.calls == FileCalls::non_blocking) {
    return library_name() +
           " has no non-blocking collective calls in its romio321, and jumps to address 0 for them; "
           "leave out --calls non-blocking, or use --backend mpi-io:ompio";
  }
  switch (kind.cache_path) {
    case CachePath::buffered:
      return {};
    case CachePath::direct:
      // The hints direct_read and direct_write: no O_DIRECT in any open(2) of Open MPI 4.1.4 (both) and MPICH 4.0.2.
      return "MPI-IO has no reliable way to O_DIRECT: the libraries take the hints for it, and open the file without; "
             "use --backend posix";
    case CachePath::uncached:
      return "MPI-IO has no uncached transfers; use --backend posix";
  }
  return {};
}

bool MpiIo::confirms_hints() const {
#ifdef OPEN_MPI
  return false;  // both of its implementations give back whatever they were given, bogus_key=7 too
#else
  return true;
#endif
}

void MpiIo::meet(std::span<const std::int32_t> openers) {
  if (openers.size() > 1) MPI_Barrier(communicators_.of(openers));
}

std::unique_ptr<File> MpiIo::open(const OpenFile& file) {
  if (const std::string why = refuses({.cache_path = file.cache_path}); !why.empty()) {
    throw Error(ExitStatus::something_missing, "opening " + file.path + " failed", why);
  }
  return std::make_unique<MpiIoFile>(file, communicators_.of(file.openers), chosen_.implementation);
}

}  // namespace leadline::storage::mpi_io
