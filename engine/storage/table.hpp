// SPDX-License-Identifier: Apache-2.0
// The storage backends there are, and how one is picked, opened and tried out.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "cluster/bootstrap.hpp"
#include "mpi/library_search.hpp"
#include "storage/storage.hpp"

namespace leadline::storage {

/// One line of the table.
struct Entry {
  const char* name;     ///< as in --backend
  const char* purpose;  ///< one line for the help
  bool needs_mpi;       ///< messages must go by MPI, too, which starts the library
};

std::span<const Entry> backends();

/// MPI-IO of libraries of this ABI; null where the program is built without it. The configuration writes it.
const Module* mpi_io_module(mpi::Abi abi);

/// A backend ready to be made, in this process.
class LoadedBackend {
 public:
  LoadedBackend(const Entry& entry, std::string argument, const Module& module)
      : entry_(&entry), argument_(std::move(argument)), module_(&module) {}

  const Module* operator->() const { return module_; }
  const Entry& entry() const { return *entry_; }
  const std::string& argument() const { return argument_; }

 private:
  const Entry* entry_;
  std::string argument_;
  const Module* module_;
};

/// Local, before any MPI library is started: `choice` is "name" or "name:argument". Throws Error(bad_command_line) for
/// unknown names and arguments, Error(something_missing) with the loader's reason, and where the backend needs a
/// launcher of MPI and this is none.
LoadedBackend load_backend(const std::string& choice, cluster::Launcher launcher);

}  // namespace leadline::storage
