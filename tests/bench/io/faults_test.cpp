// SPDX-License-Identifier: Apache-2.0
// The parallel file test where storage fails, moves less than it was asked to, or gives back other bytes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <tuple>

#include "bench/io/faulty_files.hpp"
#include "bench/io/measured_ranks.hpp"

namespace leadline::bench::io::io_faults_test {
namespace {

using memory::MismatchKind;
using schedule::Movement;
using schedule::Order;
using testing::AllOf;
using testing::Combine;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::Values;

constexpr int num_ranks = 7;

Setting setting_with(const IoRequest& request, Faults& faults) {
  Setting setting;
  setting.request = request;
  setting.num_ranks = num_ranks;
  setting.ranks_per_host = 4;
  setting.backend = [&faults](int rank) {
    return std::make_unique<FaultyBackend>(posix_backend(rank, num_ranks), rank, faults);
  };
  return setting;
}

IoRequest small_request(const test::Folder& folder, Movement movement) {
  IoRequest request = request_in(folder, movement);
  if (schedule::is_funnel(movement)) request.buffer_size_bytes = 3 * request.object_size_bytes;
  return request;
}

/// Movement, calls, collective or not, order.
class EveryCall : public ::testing::TestWithParam<std::tuple<Movement, storage::FileCalls, bool, Order>> {
 protected:
  IoRequest request() const {
    const auto [movement, calls, collective, order] = GetParam();
    IoRequest request = small_request(folder_, movement);
    request.calls = calls;
    request.collective = collective;
    request.order = movement == Movement::n_n ? Order::segmented : order;
    request.num_ahead = 2;
    return request;
  }
  bool is_read_by(int rank) const {
    return !schedule::is_funnel(std::get<Movement>(GetParam())) || rank == 0 || rank == 4;
  }

  test::Folder folder_;
  Faults faults_;
};

TEST_P(EveryCall, CollectiveCallsAreEquallyMany) {
  const std::vector<MeasuredRank> ranks = measured(setting_with(request(), faults_));
  expect_no_errors(ranks);
  EXPECT_THAT(ranks[0].measured.phases, SizeIs(2));
}

TEST_P(EveryCall, TheBarrierDoesNotChangeThat) {
  Setting setting = setting_with(request(), faults_);
  setting.request.barrier = true;
  expect_no_errors(measured(setting));
}

TEST_P(EveryCall, ShortCountsAreContinuedAndCounted) {
  faults_.of_transfer = [](const Transfer& transfer) {
    return transfer.size_bytes > 8000 && transfer.number % 2 == 0 ? Fault::half : Fault::none;
  };
  const std::vector<MeasuredRank> ranks = measured(setting_with(request(), faults_));
  expect_no_errors(ranks);
  for (const PhaseSummary& phase : ranks[0].measured.phases) {
    EXPECT_GT(phase.num_continued, 0u);
    EXPECT_EQ(phase.bytes, num_ranks * 5 * request().object_size_bytes);
    EXPECT_EQ(phase.num_mismatches, 0u);
  }
}

TEST_P(EveryCall, AnErrorEndsThePhaseForAllAndNamesItsRank) {
  for (const bool writes : {true, false}) {
    faults_.of_transfer = [writes](const Transfer& transfer) {
      return transfer.rank == 4 && transfer.writes == writes && transfer.number == 1 ? Fault::error : Fault::none;
    };
    const std::vector<MeasuredRank> ranks = measured(setting_with(request(), faults_));
    EXPECT_THAT(error_of(ranks), StartsWith(std::string("rank 4 on node1: ") + (writes ? "writing " : "reading ")));
    const std::size_t failed = writes ? 0 : 1;
    for (const MeasuredRank& rank : ranks) {
      ASSERT_THAT(rank.store.summaries, SizeIs(failed + 1));
      EXPECT_EQ(rank.store.rows[failed].num_mismatches, 0u);
    }
    EXPECT_FALSE(ranks[0].store.summaries[failed].is_complete);
    EXPECT_THAT(ranks[0].store.summaries[failed].error, HasSubstr("No space left on device"));
    EXPECT_EQ(ranks[0].progress.events.back(), "fails");
  }
}

TEST_P(EveryCall, ACallThatWritesNothingIsAnError) {
  faults_.of_transfer = [](const Transfer& transfer) {
    return transfer.rank == 0 && transfer.writes && transfer.number == 1 ? Fault::nothing : Fault::none;
  };
  const std::vector<MeasuredRank> ranks = measured(setting_with(request(), faults_));
  EXPECT_THAT(error_of(ranks), StartsWith("rank 0 on node0: writing "));
  EXPECT_THAT(ranks[0].store.summaries[0].error, HasSubstr("no byte was written"));
}

TEST_P(EveryCall, AFileThatEndsEarlyIsTruncated) {
  Setting setting = setting_with(request(), faults_);
  std::uint64_t size_bytes = 0;
  setting.behind_phase = [&](const PhasePosition& position) {
    if (position.operation != IoOperation::write) return;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      size_bytes = std::filesystem::file_size(file);
      std::filesystem::resize_file(file, size_bytes - setting.request.object_size_bytes - 100);
    }
  };
  const std::vector<MeasuredRank> ranks = measured(setting);
  EXPECT_THAT(error_of(ranks), AllOf(HasSubstr("rank "), HasSubstr(folder_.path().string()), HasSubstr("truncated")));
  std::uint64_t num_files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_.path())) ++num_files;
  EXPECT_EQ(ranks[0].store.summaries[1].num_mismatches, 2 * num_files);  // the last object, and the end of another
  for (const WrongObject& wrong : ranks[0].store.summaries[1].wrong) {
    EXPECT_EQ(wrong.mismatch.kind, MismatchKind::truncated);
  }
}

INSTANTIATE_TEST_SUITE_P(IoFaults, EveryCall,
                         Combine(Values(Movement::n_n, Movement::n_1, Movement::n_m_m, Movement::n_m_1, Movement::n_m),
                                 Values(storage::FileCalls::blocking, storage::FileCalls::non_blocking),
                                 ::testing::Bool(), Values(Order::segmented, Order::strided)));

class EveryMovement : public ::testing::TestWithParam<Movement> {
 protected:
  /// With this done to the files between writing and reading.
  std::vector<MeasuredRank> measured_with(const std::function<void(int file)>& damage) {
    Setting setting;
    setting.request = small_request(folder_, GetParam());
    setting.request.object_size_bytes = 8192;
    setting.request.buffer_size_bytes = schedule::is_funnel(GetParam()) ? 3 * 8192 : 0;
    setting.num_ranks = num_ranks;
    setting.behind_phase = [&](const PhasePosition& position) {
      if (position.operation != IoOperation::write) return;
      const auto first = *std::filesystem::directory_iterator(folder_.path());
      const int file = ::open(first.path().c_str(), O_RDWR | O_CLOEXEC);
      damage(file);
      ::close(file);
    };
    return measured(setting);
  }

  test::Folder folder_;
};

std::string block_at(int file, off_t offset) {
  std::string block(4096, '\0');
  EXPECT_EQ(::pread(file, block.data(), block.size(), offset), 4096);
  return block;
}

void put(int file, off_t offset, const std::string& bytes) {
  EXPECT_EQ(::pwrite(file, bytes.data(), bytes.size(), offset), static_cast<ssize_t>(bytes.size()));
}

TEST_P(EveryMovement, AFlippedBitIsFoundAndNamed) {
  const std::vector<MeasuredRank> ranks = measured_with([](int file) {
    std::string block = block_at(file, 3 * 8192);
    block[2000] = static_cast<char>(block[2000] ^ 4);
    put(file, 3 * 8192, block);
  });
  EXPECT_THAT(error_of(ranks), AllOf(HasSubstr("object "), HasSubstr("at byte 24576, wrong from byte 26576"),
                                     HasSubstr(folder_.path().string())));
  const PhaseSummary& phase = ranks[0].store.summaries[1];
  EXPECT_FALSE(phase.is_complete);
  EXPECT_EQ(phase.num_mismatches, 1u);
  ASSERT_THAT(phase.wrong, SizeIs(1));
  EXPECT_EQ(phase.wrong[0].mismatch.kind, MismatchKind::bit_flips);
  EXPECT_EQ(phase.wrong[0].mismatch.expected.offset_bytes, 24576u);
  EXPECT_GE(phase.wrong[0].read_by, 0);
}

TEST_P(EveryMovement, ObjectsThatChangedPlacesAreFound) {
  const std::vector<MeasuredRank> ranks = measured_with([](int file) {
    const std::string one = block_at(file, 8192) + block_at(file, 8192 + 4096);
    const std::string other = block_at(file, 2 * 8192) + block_at(file, 2 * 8192 + 4096);
    put(file, 8192, other);
    put(file, 2 * 8192, one);
  });
  EXPECT_NE(error_of(ranks), "");
  EXPECT_EQ(ranks[0].store.summaries[1].num_mismatches, 2u);
}

TEST_P(EveryMovement, AHoleIsFound) {
  const std::vector<MeasuredRank> ranks = measured_with([](int file) { put(file, 4 * 8192, std::string(8192, '\0')); });
  EXPECT_THAT(error_of(ranks), HasSubstr("zero"));
  EXPECT_EQ(ranks[0].store.summaries[1].num_mismatches, 1u);
}

TEST_P(EveryMovement, AFileThatCannotBeOpenedEndsTheRun) {
  Faults faults;
  faults.of_call = [](int rank, const char* call) { return rank == 4 && std::string(call) == "open"; };
  const std::vector<MeasuredRank> ranks = measured(setting_with(small_request(folder_, GetParam()), faults));
  EXPECT_EQ(error_of(ranks), "rank 4 on node1: open failed");
  EXPECT_EQ(ranks[0].store.summaries[0].num_calls, 0u);
}

TEST_P(EveryMovement, ErrorsOfSyncAndCloseAreErrorsOfThePhase) {
  for (const char* call : {"sync", "close"}) {
    Faults faults;
    faults.of_call = [call](int rank, const char* called) { return rank == 4 && std::string(call) == called; };
    const std::vector<MeasuredRank> ranks = measured(setting_with(small_request(folder_, GetParam()), faults));
    EXPECT_EQ(error_of(ranks), std::string("rank 4 on node1: ") + call + " failed");
    EXPECT_FALSE(ranks[0].store.summaries[0].is_complete);
  }
}

TEST_P(EveryMovement, AnErrorUnderATimeLimitEndsTheRunForAll) {
  Faults faults;
  faults.of_transfer = [](const Transfer& transfer) {
    return transfer.rank == 0 && transfer.number == 2 ? Fault::error : Fault::none;
  };
  Setting setting = setting_with(small_request(folder_, GetParam()), faults);
  setting.request.num_objects = 100;
  setting.request.time_limit_s = 100;
  EXPECT_THAT(error_of(measured(setting)), StartsWith("rank 0 on node0: writing "));
}

TEST_P(EveryMovement, FilesStayAfterAFailure) {
  Faults faults;
  faults.of_transfer = [](const Transfer& transfer) {
    return transfer.rank == 0 && !transfer.writes ? Fault::error : Fault::none;
  };
  Setting setting = setting_with(small_request(folder_, GetParam()), faults);
  setting.request.delete_files = true;
  EXPECT_NE(error_of(measured(setting)), "");
  EXPECT_FALSE(std::filesystem::is_empty(folder_.path()));
}

INSTANTIATE_TEST_SUITE_P(IoFaults, EveryMovement,
                         Values(Movement::n_n, Movement::n_1, Movement::n_m_m, Movement::n_m_1, Movement::n_m));

TEST(IoFaults, CountsAreLookedAtWhereContentsAreNot) {
  for (const Movement movement : {Movement::n_1, Movement::n_m_1}) {
    const test::Folder folder;
    Setting setting;
    setting.request = small_request(folder, movement);
    setting.request.check = memory::Check::none;
    setting.num_ranks = num_ranks;
    setting.behind_phase = [&](const PhasePosition& position) {
      if (position.operation == IoOperation::write) std::filesystem::resize_file(folder / "file", 1000);
    };
    const std::vector<MeasuredRank> ranks = measured(setting);
    EXPECT_THAT(error_of(ranks), HasSubstr("truncated"));
    EXPECT_EQ(ranks[0].store.summaries[1].num_mismatches, static_cast<std::uint64_t>(num_ranks) * 5);
  }
}

TEST(IoFaults, HintsAreThoseOfTheOpenedFile) {
  const test::Folder folder;
  Faults faults;
  Setting setting = setting_with(small_request(folder, Movement::n_m_1), faults);
  setting.request.hints = {{"cb_nodes", "4"}, {"bogus", "7"}};
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  const std::vector<HintInForce>& hints = ranks[0].measured.hints;
  ASSERT_THAT(hints, SizeIs(3));
  EXPECT_EQ(hints[0].key + hints[0].asked + hints[0].granted, "cb_nodes42");
  EXPECT_EQ(hints[1].key + hints[1].asked + hints[1].granted, "bogus7");
  EXPECT_FALSE(hints[1].is_confirmed);
  EXPECT_EQ(hints[2].key + hints[2].asked + hints[2].granted, "romio_no_indep_rwfalse");
}

}  // namespace
}  // namespace leadline::bench::io::io_faults_test
