// SPDX-License-Identifier: Apache-2.0
// The backend itself: files through MPI-IO.
#pragma once

#include <memory>
#include <string>

#include "storage/mpi_io/choice.hpp"
#include "storage/mpi_io/communicators.hpp"
#include "storage/storage.hpp"

namespace leadline::storage::mpi_io {

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

}  // namespace leadline::storage::mpi_io
