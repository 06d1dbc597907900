// SPDX-License-Identifier: Apache-2.0
// Places of objects in files for all small runs, who does I/O for whom, and the order in which I/O ranks take objects.
#include "schedule/file_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace leadline::schedule {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Movement all_movements[] = {Movement::n_n, Movement::n_1, Movement::n_m_m, Movement::n_m_1, Movement::n_m};

std::string refusal_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

std::string words_of(const LayoutShape& shape, int num_ranks) {
  return std::string(name_of(shape.movement)) + (shape.order == Order::strided ? " strided, " : " segmented, ") +
         (shape.self_send == SelfSend::no ? "no self-send, " : "") + std::to_string(num_ranks) + " ranks, " +
         std::to_string(shape.num_objects) + " objects, " + std::to_string(shape.num_files) + " files";
}

/// Every object of every rank that has some lies at one place; together they are the files, without hole or overlap.
void expect_partition(const FileLayout& layout) {
  const LayoutShape& shape = layout.shape();
  std::map<int, std::set<std::uint64_t>> offsets;
  std::uint64_t num_places = 0;
  for (int rank = 0; rank < layout.num_ranks(); ++rank) {
    if (!layout.contributes(rank)) continue;
    for (std::uint64_t object = 0; object < shape.num_objects; ++object) {
      const ObjectLocation place = layout.location(rank, object);
      ASSERT_EQ(place.file, layout.file_of(rank));
      ASSERT_EQ(place.offset_bytes % shape.object_size_bytes, 0U);
      ASSERT_TRUE(offsets[place.file].insert(place.offset_bytes).second) << "rank " << rank << ", object " << object;
      ++num_places;
    }
  }
  ASSERT_EQ(num_places, layout.total_objects());
  for (int file = 0; file < layout.num_files(); ++file) {
    const auto& of_file = offsets[file];
    ASSERT_EQ(layout.file_size_bytes(file), of_file.size() * shape.object_size_bytes) << "file " << file;
    if (!of_file.empty()) {
      ASSERT_EQ(*of_file.begin(), 0U);
      ASSERT_EQ(*of_file.rbegin() + shape.object_size_bytes, layout.file_size_bytes(file)) << "file " << file;
    }
  }
}

/// Openers, files and senders tell the same.
void expect_consistent(const FileLayout& layout) {
  std::set<int> written;
  for (int file = 0; file < layout.num_files(); ++file) {
    const auto openers = layout.openers(file);
    ASSERT_THAT(openers, testing::Not(IsEmpty()));
    ASSERT_TRUE(std::ranges::is_sorted(openers));
    for (const std::int32_t opener : openers) {
      ASSERT_TRUE(layout.is_opener(opener));
      ASSERT_EQ(layout.file_of(opener), file);
      const auto senders = layout.senders(opener);
      ASSERT_TRUE(std::ranges::is_sorted(senders));
      for (const std::int32_t sender : senders) {
        ASSERT_EQ(layout.opener_of(sender), opener);
        ASSERT_EQ(layout.file_of(sender), file);
        ASSERT_TRUE(written.insert(sender).second) << "rank " << sender << " has two openers";
      }
    }
  }
  for (int rank = 0; rank < layout.num_ranks(); ++rank) {
    ASSERT_EQ(written.contains(rank), layout.contributes(rank)) << "rank " << rank;
    ASSERT_TRUE(layout.is_opener(layout.opener_of(rank)));
  }
}

void expect_sound(const LayoutShape& shape, const IoRanks& io_ranks) {
  SCOPED_TRACE(words_of(shape, static_cast<int>(io_ranks.index_of.size())));
  const FileLayout layout(shape, io_ranks);
  ASSERT_NO_FATAL_FAILURE(expect_partition(layout));
  ASSERT_NO_FATAL_FAILURE(expect_consistent(layout));
}

TEST(FileLayout, HasEveryObjectOnceWithoutHoleOrOverlapForAllSmallRuns) {
  for (const Movement movement : all_movements) {
    for (const Order order : {Order::segmented, Order::strided}) {
      for (const SelfSend self_send : {SelfSend::yes, SelfSend::no}) {
        for (int num_ranks = 1; num_ranks <= 12; ++num_ranks) {
          for (int num = 1; num <= num_ranks; ++num) {
            if (is_funnel(movement) && self_send == SelfSend::no && num == num_ranks) continue;
            for (const std::uint64_t num_objects : {1U, 2U, 5U}) {
              const LayoutShape shape{movement, order, self_send, num_objects, 24, num};
              const IoRanks io_ranks = is_funnel(movement) ? io_ranks_in_blocks(num_ranks, num) : all_do_io(num_ranks);
              ASSERT_NO_FATAL_FAILURE(expect_sound(shape, io_ranks));
            }
          }
        }
      }
    }
  }
}

TEST(FileLayout, HasEveryObjectOnceInBlocks) {
  for (const Movement movement : all_movements) {
    for (int num_ranks = 1; num_ranks <= 7; ++num_ranks) {
      for (const std::uint64_t in_block : {1U, 2U, 3U, 6U}) {
        LayoutShape shape{movement, Order::strided, SelfSend::yes, 6, 24, (num_ranks + 1) / 2};
        shape.objects_per_block = in_block;
        const IoRanks io_ranks =
            is_funnel(movement) ? io_ranks_in_blocks(num_ranks, (num_ranks + 1) / 2) : all_do_io(num_ranks);
        ASSERT_NO_FATAL_FAILURE(expect_sound(shape, io_ranks));
      }
    }
  }
}

TEST(FileLayout, OfBlocksIsByTurn) {
  LayoutShape shape{Movement::n_1, Order::strided, SelfSend::yes, 4, 100};
  shape.objects_per_block = 2;
  const FileLayout layout(shape, all_do_io(3));
  EXPECT_EQ(layout.location(1, 0).offset_bytes, 200U);
  EXPECT_EQ(layout.location(1, 1).offset_bytes, 300U);
  EXPECT_EQ(layout.location(0, 2).offset_bytes, 600U);
  EXPECT_EQ(layout.location(2, 3).offset_bytes, 1100U);
  // A block of all objects is the segmented order.
  shape.objects_per_block = 4;
  const FileLayout whole(shape, all_do_io(3)),
      segmented({Movement::n_1, Order::segmented, SelfSend::yes, 4, 100}, all_do_io(3));
  for (int rank = 0; rank < 3; ++rank) {
    for (std::uint64_t object = 0; object < 4; ++object) {
      EXPECT_EQ(whole.location(rank, object).offset_bytes, segmented.location(rank, object).offset_bytes);
    }
  }
}

TEST(FileLayout, HasEveryObjectOnceWhereIoRanksLieOnHosts) {
  for (int num_ranks = 2; num_ranks <= 12; ++num_ranks) {
    for (std::uint32_t num_hosts = 1; num_hosts <= std::min(3U, static_cast<std::uint32_t>(num_ranks)); ++num_hosts) {
      std::vector<std::uint32_t> host_of;
      for (int rank = 0; rank < num_ranks; ++rank) host_of.push_back(static_cast<std::uint32_t>(rank) % num_hosts);
      const IoHost hosts[] = {{num_hosts - 1, 1}};
      for (const Movement movement : {Movement::n_m_m, Movement::n_m_1}) {
        for (const Order order : {Order::segmented, Order::strided}) {
          ASSERT_NO_FATAL_FAILURE(
              expect_sound({movement, order, SelfSend::no, 3, 8, 1}, io_ranks_on_hosts(host_of, hosts)));
        }
      }
    }
  }
}

TEST(FileLayout, OfManyToOneIsByRankOrByObject) {
  const FileLayout segmented({Movement::n_1, Order::segmented, SelfSend::yes, 4, 100}, all_do_io(3));
  EXPECT_EQ(segmented.location(2, 3).offset_bytes, (2U * 4 + 3) * 100);
  const FileLayout strided({Movement::n_1, Order::strided, SelfSend::yes, 4, 100}, all_do_io(3));
  EXPECT_EQ(strided.location(2, 3).offset_bytes, (3U * 3 + 2) * 100);
  EXPECT_EQ(strided.num_files(), 1);
  EXPECT_EQ(strided.file_size_bytes(0), 1200U);
  EXPECT_THAT(strided.openers(0), ElementsAre(0, 1, 2));
}

TEST(FileLayout, OfManyFilesStartsEachAtNothingInBothOrders) {
  for (const Order order : {Order::segmented, Order::strided}) {
    const FileLayout layout({Movement::n_n, order, SelfSend::yes, 4, 100}, all_do_io(3));
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(layout.location(rank, 3).file, rank);
      EXPECT_EQ(layout.location(rank, 3).offset_bytes, 300U);
      EXPECT_EQ(layout.file_size_bytes(rank), 400U);
    }
  }
}

TEST(FileLayout, OfOneSharedFunnelFileEqualsManyToOneWhereRanksAreCutIntoBlocks) {
  for (int num_ranks = 1; num_ranks <= 9; ++num_ranks) {
    for (int num_io_ranks = 1; num_io_ranks <= num_ranks; ++num_io_ranks) {
      for (const Order order : {Order::segmented, Order::strided}) {
        const FileLayout funnel({Movement::n_m_1, order, SelfSend::yes, 3, 16},
                                io_ranks_in_blocks(num_ranks, num_io_ranks));
        const FileLayout direct({Movement::n_1, order, SelfSend::yes, 3, 16}, all_do_io(num_ranks));
        for (int rank = 0; rank < num_ranks; ++rank) {
          for (std::uint64_t object = 0; object < 3; ++object) {
            ASSERT_EQ(funnel.location(rank, object).offset_bytes, direct.location(rank, object).offset_bytes);
          }
        }
      }
    }
  }
}

TEST(FileLayout, GivesEveryIoRankOneStretchOfASharedFileWhereverItsSendersAre) {
  const std::vector<std::uint32_t> host_of{0, 1, 0, 1, 0, 1};
  const IoHost hosts[] = {{0, 1}, {1, 1}};
  const FileLayout layout({Movement::n_m_1, Order::segmented, SelfSend::yes, 2, 10}, io_ranks_on_hosts(host_of, hosts));
  EXPECT_THAT(layout.senders(0), ElementsAre(0, 2, 4));
  EXPECT_THAT(layout.senders(1), ElementsAre(1, 3, 5));
  EXPECT_EQ(layout.location(4, 0).offset_bytes, 40U);
  EXPECT_EQ(layout.location(1, 0).offset_bytes, 60U);
  EXPECT_EQ(layout.location(5, 1).offset_bytes, 110U);
}

TEST(FileLayout, OfGroupsGoesRoundRobin) {
  const FileLayout even({Movement::n_m, Order::segmented, SelfSend::yes, 2, 10, 2}, all_do_io(8));
  EXPECT_THAT(even.openers(1), ElementsAre(1, 3, 5, 7));
  EXPECT_EQ(even.location(6, 1).file, 0);
  EXPECT_EQ(even.location(6, 1).offset_bytes, (3U * 2 + 1) * 10);
  EXPECT_EQ(even.file_size_bytes(1), 80U);
  const FileLayout uneven({Movement::n_m, Order::strided, SelfSend::yes, 2, 10, 3}, all_do_io(7));
  EXPECT_THAT(uneven.openers(0), ElementsAre(0, 3, 6));
  EXPECT_THAT(uneven.openers(2), ElementsAre(2, 5));
  EXPECT_EQ(uneven.location(6, 1).offset_bytes, (1U * 3 + 2) * 10);
  EXPECT_EQ(uneven.location(5, 1).offset_bytes, (1U * 2 + 1) * 10);
  EXPECT_EQ(uneven.file_size_bytes(0), 60U);
  EXPECT_EQ(uneven.file_size_bytes(2), 40U);
}

TEST(FileLayout, LeavesOutIoRanksThatBringNothing) {
  const FileLayout layout({Movement::n_m_m, Order::segmented, SelfSend::no, 2, 10}, io_ranks_in_blocks(7, 3));
  EXPECT_FALSE(layout.contributes(0));
  EXPECT_TRUE(layout.contributes(1));
  EXPECT_THAT(layout.senders(0), ElementsAre(1, 2));
  EXPECT_THAT(layout.senders(5), ElementsAre(6));
  EXPECT_EQ(layout.file_size_bytes(0), 40U);
  EXPECT_EQ(layout.file_size_bytes(2), 20U);
  EXPECT_EQ(layout.location(1, 0).offset_bytes, 0U);
  EXPECT_EQ(layout.total_objects(), 8U);
  // Without a funnel nobody brings anything for others: the word has no meaning.
  EXPECT_TRUE(FileLayout({Movement::n_1, Order::segmented, SelfSend::no, 2, 10}, all_do_io(2)).contributes(0));
}

TEST(FileLayout, KnowsOffsetsAbove4GiB) {
  const std::uint64_t size = 64 << 20;
  const FileLayout layout({Movement::n_1, Order::strided, SelfSend::yes, 1000, size}, all_do_io(1000));
  EXPECT_EQ(layout.location(999, 999).offset_bytes, 999999 * size);
  EXPECT_GT(layout.location(0, 1).offset_bytes, std::uint64_t{1} << 32);
  EXPECT_EQ(layout.file_size_bytes(0), 1000000 * size);
}

TEST(FileLayout, RefusesFilesThatNoOffsetReaches) {
  const std::uint64_t half = std::uint64_t{1} << 62;
  EXPECT_NO_THROW(FileLayout({Movement::n_n, Order::segmented, SelfSend::yes, 1, half}, all_do_io(4)));
  EXPECT_THAT(refusal_of([&] {
                FileLayout({Movement::n_1, Order::segmented, SelfSend::yes, 1, half}, all_do_io(2));
              }),
              HasSubstr("longer than 2^63 - 1 bytes"));
  EXPECT_THAT(refusal_of([&] {
                FileLayout({Movement::n_n, Order::segmented, SelfSend::yes, half, half}, all_do_io(2));
              }),
              HasSubstr("longer than 2^63 - 1 bytes"));
}

TEST(FileLayout, RefusesRunsWithNothingToWriteAndFilesWithoutRanks) {
  EXPECT_THAT(refusal_of([] {
                FileLayout({Movement::n_m_m, Order::segmented, SelfSend::no, 1, 8}, io_ranks_in_blocks(3, 3));
              }),
              HasSubstr("no rank has anything to write"));
  EXPECT_THAT(refusal_of([] {
                FileLayout({Movement::n_1, Order::segmented, SelfSend::yes, 0, 8}, all_do_io(3));
              }),
              HasSubstr("no rank has anything to write"));
  for (const int num_files : {0, 4}) {
    EXPECT_THAT(refusal_of([=] {
                  FileLayout({Movement::n_m, Order::segmented, SelfSend::yes, 1, 8, num_files}, all_do_io(3));
                }),
                HasSubstr("Choose 1 to 3"));
  }
}

TEST(Movements, HaveNamesAndTheGuidesNumbers) {
  for (const Movement movement : all_movements) {
    EXPECT_EQ(parse_movement("--movement", name_of(movement)), movement);
    EXPECT_EQ(parse_movement("--movement", std::to_string(static_cast<int>(movement))), movement);
  }
  EXPECT_EQ(parse_movement("--movement", "n-m-1"), Movement::n_m_1);
  for (const char* wrong : {"", "0", "6", "N-N-N", "N1", "11", " 1"}) {
    EXPECT_THAT(refusal_of([=] { parse_movement("--movement", wrong); }),
                testing::AllOf(HasSubstr("--movement cannot be '" + std::string(wrong) + "'"), HasSubstr("N-M-1")));
  }
}

TEST(IoRanksInBlocks, AreTheLowestOfBlocksAsEqualAsCanBe) {
  EXPECT_THAT(io_ranks_in_blocks(6, 1).ranks, ElementsAre(0));
  EXPECT_THAT(io_ranks_in_blocks(6, 2).ranks, ElementsAre(0, 3));
  EXPECT_THAT(io_ranks_in_blocks(6, 3).ranks, ElementsAre(0, 2, 4));
  EXPECT_THAT(io_ranks_in_blocks(7, 3).ranks, ElementsAre(0, 3, 5));
  EXPECT_THAT(io_ranks_in_blocks(8, 3).ranks, ElementsAre(0, 3, 6));
  EXPECT_THAT(io_ranks_in_blocks(4, 4).ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(io_ranks_in_blocks(7, 3).index_of, ElementsAre(0, 0, 0, 1, 1, 2, 2));
}

TEST(IoRanksInBlocks, ServeTheRanksBehindThemForAllSmallRuns) {
  for (int num_ranks = 1; num_ranks <= 64; ++num_ranks) {
    for (int num = 1; num <= num_ranks; ++num) {
      const IoRanks io = io_ranks_in_blocks(num_ranks, num);
      ASSERT_EQ(io.ranks.size(), static_cast<std::size_t>(num));
      ASSERT_EQ(io.index_of.size(), static_cast<std::size_t>(num_ranks));
      for (int rank = 0; rank < num_ranks; ++rank) {
        const auto above = std::ranges::upper_bound(io.ranks, rank);
        ASSERT_EQ(io.index_of[static_cast<std::size_t>(rank)], above - io.ranks.begin() - 1);
      }
      for (int index = 0; index < num; ++index) {
        const auto size = std::ranges::count(io.index_of, index);
        ASSERT_EQ(size, num_ranks / num + (index < num_ranks % num ? 1 : 0));
      }
    }
  }
}

TEST(IoRanksInBlocks, AreAtLeastOneAndNoMoreThanRanks) {
  EXPECT_THAT(refusal_of([] { io_ranks_in_blocks(3, 0); }), HasSubstr("--io-ranks cannot be 0"));
  EXPECT_THAT(
      refusal_of([] { io_ranks_in_blocks(3, 4); }),
      testing::AllOf(HasSubstr("--io-ranks cannot be 4"), HasSubstr("there are 3 ranks"), HasSubstr("Choose 1 to 3")));
}

TEST(IoRanksOnHosts, ServeTheirOwnHostFirstAndThenWhoeverHasFewest) {
  //                                        0  1  2  3  4  5  6  7  8  9
  const std::vector<std::uint32_t> host_of{0, 0, 0, 0, 1, 1, 2, 2, 2, 2};
  const IoHost hosts[] = {{1, 1}, {0, 2}};
  const IoRanks io = io_ranks_on_hosts(host_of, hosts);
  EXPECT_THAT(io.ranks, ElementsAre(0, 1, 4));
  // 2 and 3 go to 0 and 1, 5 to 4; then each serves one, and the others take turns from the lowest.
  EXPECT_THAT(io.index_of, ElementsAre(0, 1, 0, 1, 2, 2, 0, 1, 2, 0));
}

TEST(IoRanksOnHosts, FillUpThoseThatServeFewer) {
  const std::vector<std::uint32_t> host_of{0, 0, 0, 0, 1, 2, 2, 2};
  const IoHost hosts[] = {{0, 1}, {1, 1}};
  const IoRanks io = io_ranks_on_hosts(host_of, hosts);
  EXPECT_THAT(io.ranks, ElementsAre(0, 4));
  EXPECT_THAT(io.index_of, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(IoRanksOnHosts, RefuseHostsTwiceAndHostsWithTooFewRanks) {
  const std::vector<std::uint32_t> host_of{0, 0, 1};
  const auto refusal = [&](std::vector<IoHost> hosts) {
    return refusal_of([&] { io_ranks_on_hosts(host_of, hosts); });
  };
  EXPECT_THAT(refusal({{0, 1}, {0, 1}}), HasSubstr("twice"));
  EXPECT_THAT(refusal({{0, 1}, {1, 2}}), testing::AllOf(HasSubstr("--io-ranks cannot be 2"), HasSubstr("1 ranks")));
  EXPECT_THAT(refusal({{5, 1}}), HasSubstr("host number 5 has 0 ranks"));
  EXPECT_THAT(refusal({{0, 0}}), HasSubstr("--io-ranks cannot be 0"));
  EXPECT_THAT(refusal({}), HasSubstr("--io-hosts is empty"));
}

TEST(FunnelOrder, TakesEverySlotOnceAscendingBySenderForAllSmallRuns) {
  for (std::uint32_t senders = 1; senders <= 7; ++senders) {
    for (std::uint64_t num = 1; num <= 9; ++num) {
      for (std::uint64_t slots = 1; slots <= 20; ++slots) {
        for (const Order order : {Order::segmented, Order::strided}) {
          const FunnelOrder funnel(senders, 11, num, slots, order);
          std::vector<std::uint64_t> next(senders, 11);
          for (std::uint64_t index = 0; index < funnel.num_slots(); ++index) {
            const FunnelSlot slot = funnel.slot(index);
            ASSERT_LT(slot.sender, senders);
            ASSERT_EQ(slot.object, next[slot.sender]++);
          }
          for (const std::uint64_t end : next) ASSERT_EQ(end, 11 + num);
          ASSERT_EQ(funnel.num_buffers(), (senders * num + slots - 1) / slots);
        }
      }
    }
  }
}

TEST(FunnelOrder, LetsAllSendersFlowAtOnce) {
  const FunnelOrder order(3, 0, 5, 7, Order::segmented);
  EXPECT_EQ(order.run_length(), 2U);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> slots;
  for (std::uint64_t index = 0; index < order.num_slots(); ++index) {
    slots.emplace_back(order.slot(index).sender, order.slot(index).object);
  }
  using S = std::pair<std::uint32_t, std::uint64_t>;
  EXPECT_THAT(slots, ElementsAre(S{0, 0}, S{0, 1}, S{1, 0}, S{1, 1}, S{2, 0}, S{2, 1}, S{0, 2}, S{0, 3}, S{1, 2},
                                 S{1, 3}, S{2, 2}, S{2, 3}, S{0, 4}, S{1, 4}, S{2, 4}));
}

TEST(FunnelOrder, HasRunsOfOneWhereStridedOrWhereABufferHoldsFewerThanSenders) {
  EXPECT_EQ(FunnelOrder(3, 0, 5, 64, Order::strided).run_length(), 1U);
  EXPECT_EQ(FunnelOrder(5, 0, 5, 3, Order::segmented).run_length(), 1U);
  EXPECT_EQ(FunnelOrder(1, 0, 5, 64, Order::segmented).run_length(), 64U);
  EXPECT_EQ(FunnelOrder(4, 0, 5, 64, Order::segmented).run_length(), 16U);
}

TEST(FunnelOrder, OfNobodyIsEmpty) {
  const FunnelOrder order(0, 0, 5, 4, Order::segmented);
  EXPECT_EQ(order.num_slots(), 0U);
  EXPECT_EQ(order.num_buffers(), 0U);
}

TEST(FunnelOrder, NumbersObjectsBeyond32Bits) {
  const std::uint64_t many = std::uint64_t{1} << 40;
  const FunnelOrder order(3, many, many, 8, Order::segmented);
  EXPECT_EQ(order.num_slots(), 3 * many);
  const FunnelSlot last = order.slot(order.num_slots() - 1);
  EXPECT_EQ(last.sender, 2U);
  EXPECT_EQ(last.object, 2 * many - 1);
}

}  // namespace
}  // namespace leadline::schedule
