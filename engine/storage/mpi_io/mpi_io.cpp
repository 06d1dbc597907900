// SPDX-License-Identifier: Apache-2.0
// The backend on MPI-IO, and the communicators of the ranks that open a file together.
#include "storage/mpi_io/mpi_io.hpp"

#include "core/error.hpp"
#include "storage/mpi_io/choice.hpp"
#include "storage/mpi_io/library.hpp"
#include "storage/mpi_io/mpi_io_file.hpp"

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {

Communicators::~Communicators() {
  if (!is_running()) return;
  for (auto& [openers, comm] : made_) MPI_Comm_free(&comm);
}

MPI_Comm Communicators::of(std::span<const std::int32_t> openers) {
  if (openers.size() <= 1) return MPI_COMM_SELF;
  std::vector<std::int32_t> key(openers.begin(), openers.end());
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  const std::vector<int> ranks(openers.begin(), openers.end());
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  const int code = MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  if (code != MPI_SUCCESS) {
    throw Error(ExitStatus::run_failed, "MPI cannot make a communicator of those who open a file", words_of(code));
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  made_.emplace(std::move(key), comm);
  return comm;
}

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

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
