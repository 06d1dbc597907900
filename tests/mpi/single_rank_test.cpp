// SPDX-License-Identifier: Apache-2.0
// A rank that is alone although its launcher started several, as MPICH is under Slurm with --mpi=pmix.
#include <gmock/gmock.h>

#include <cstdlib>

#include "core/error.hpp"
#include "mpi/library_search.hpp"
#include "transport/mpi/library.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {
namespace {

TEST(SingleRank, IsRefusedWithWhatBothSidesSay) {
  take_functions(leadline::mpi::find_library_of(leadline::mpi::Abi::LEADLINE_MPI_ABI).opened);
  setenv("SLURM_STEP_NUM_TASKS", "4", 1);
  try {
    Library::instance();
    FAIL() << "one rank took itself for four";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.why(), testing::AllOf(testing::HasSubstr("1 rank"), testing::HasSubstr("TASKS is 4")));
    EXPECT_THAT(error.hint(), testing::HasSubstr("--mpi="));
  }
}

}  // namespace
}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
