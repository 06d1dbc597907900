// SPDX-License-Identifier: Apache-2.0
// Collective operations of the MPI library.
#pragma once

#include <cstdint>
#include <span>

#include "core/progress_counter.hpp"
#include "transport/collectives.hpp"
#include "transport/mpi/library.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {

/// Blocking calls, which wait as the library does. Looks at no return value: errors come as exceptions.
class MpiCollectives final : public Collectives {
 public:
  /// Collective over the group, this rank among it. `all`: the communicator whose numbers those of the group are.
  MpiCollectives(MPI_Comm all, std::span<const std::int32_t> group, ProgressCounter& progress_counter);
  ~MpiCollectives() override;

  void run(const CollectiveCall& call, std::uint64_t num) override;

 private:
  MPI_Comm comm_;
  bool is_own_ = false;  ///< of this group alone
  ProgressCounter& progress_counter_;
};

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
