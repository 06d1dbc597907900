// SPDX-License-Identifier: Apache-2.0
// The backend on MPI-IO, and the communicators of the ranks that open a file together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/abi/functions.hpp"
#include "storage/mpi_io/choice.hpp"
#include "storage/storage.hpp"

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {

/// Owns them, and frees them where MPI still runs. Ranks are those of MPI_COMM_WORLD.
class Communicators {
 public:
  Communicators() = default;
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  ~Communicators();

  /// All of `openers`, ascending, this rank included; the first time they make it together. One rank alone has
  /// MPI_COMM_SELF.
  MPI_Comm of(std::span<const std::int32_t> openers);

 private:
  std::map<std::vector<std::int32_t>, MPI_Comm> made_;
};

/// Ranks are those of MPI_COMM_WORLD.
class MpiIo final : public Backend {
 public:
  /// Local, once MPI has started. Throws Error(something_missing).
  MpiIo();

  std::string library() const override;
  std::string refuses(const CallKind& kind) const override;
  bool confirms_hints() const override;
  void meet(std::span<const std::int32_t> openers) override;
  std::unique_ptr<File> open(const OpenFile& file) override;

 private:
  Chosen chosen_;
  Communicators communicators_;
};

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
