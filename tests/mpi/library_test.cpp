// SPDX-License-Identifier: Apache-2.0
// The MPI library of one rank alone: its name, its errors, and messages of more than INT_MAX bytes.
#include "transport/mpi/library.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <climits>

#include "core/error.hpp"
#include "mpi/library_search.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {
namespace {

class MpiLibrary : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    take_functions(leadline::mpi::find_library_of(leadline::mpi::Abi::LEADLINE_MPI_ABI).opened);
  }

  Library& library_ = Library::instance();
};

TEST_F(MpiLibrary, IsStartedOnceAndAlone) {
  EXPECT_EQ(&Library::instance(), &library_);
  EXPECT_EQ(library_.size(), 1);
  EXPECT_EQ(library_.rank(), 0);
}

TEST_F(MpiLibrary, HasANameOfOneLine) {
  EXPECT_THAT(library_name(), testing::MatchesRegex("[A-Z][^\n\t,]*[0-9.]+[^\n\t,]*"));
}

TEST_F(MpiLibrary, MessagesOfAnySizeHaveAShapeOfThatSize) {
  constexpr std::size_t gib = std::size_t{1} << 30;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{INT_MAX}, std::size_t{INT_MAX} + 1,
                                 2 * gib, 2 * gib + 1, 5 * gib - 1, 64 * gib}) {
    const MessageShape shape(size);
    MPI_Count type_size = 0;
    MPI_Type_size_x(shape.type(), &type_size);
    EXPECT_EQ(static_cast<std::size_t>(type_size) * static_cast<std::size_t>(shape.count()), size);
  }
}

TEST_F(MpiLibrary, ErrorsOnTheCommunicatorAreThrown) {
  try {
    MPI_Send(nullptr, 0, MPI_BYTE, 7, 0, library_.comm());
    FAIL() << "rank 7 of 1 took a message";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed);
    EXPECT_FALSE(error.why().empty());
  }
}

TEST_F(MpiLibrary, AWaitForWhatNeverComesEndsWithTheDeadline) {
  MPI_Request request = MPI_REQUEST_NULL;
  char byte = 0;
  MPI_Irecv(&byte, 1, MPI_BYTE, 0, 0, library_.comm(), &request);
  EXPECT_THROW(wait_yielding(request, Deadline::after(std::chrono::milliseconds(5)), "nothing came"), Error);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace
}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
