// SPDX-License-Identifier: Apache-2.0
// The dissemination barrier over a simulated network: nobody leaves before all have come, and then everybody does.
#include "kernel/barrier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kernel/neighbour_exchange.hpp"

namespace leadline::kernel {
namespace {

/// What a rank does in a barrier, noted down instead of done.
struct Script {
  struct Call {
    bool sends;
    std::size_t round;
  };
  std::vector<Call> calls;

  void send_token(std::size_t round) { calls.push_back({true, round}); }
  void await_token(std::size_t round) { calls.push_back({false, round}); }
};

/// Ranks that go through several barriers in a row, each as far as the tokens let it.
class Network {
 public:
  Network(int size, int num_barriers) {
    for (int rank = 0; rank < size; ++rank) {
      Script script;
      rounds_.push_back(barrier_rounds(rank, size));
      for (int i = 0; i < num_barriers; ++i) disseminate(script, rounds_.back().size());
      scripts_.push_back(script);
    }
    num_done_.resize(scripts_.size());
  }

  /// All but `late`, over and over until nobody gets any further.
  void run_without(int late) {
    for (bool any = true; any;) {
      any = false;
      for (int rank = size() - 1; rank >= 0; --rank) {
        while (rank != late && advance(rank)) any = true;
      }
    }
  }

  int size() const { return static_cast<int>(scripts_.size()); }

  bool advance(int rank) {
    std::size_t& num_done = num_done_[at(rank)];
    if (num_done == scripts_[at(rank)].calls.size()) return false;
    const auto [sends, round] = scripts_[at(rank)].calls[num_done];
    const BarrierRound& whom = rounds_[at(rank)][round];
    int& num_tokens = sends ? tokens_[{rank, whom.to}] : tokens_[{whom.from, rank}];
    if (!sends && num_tokens == 0) return false;
    num_tokens += sends ? 1 : -1;
    ++num_done;
    return true;
  }

  std::size_t num_left(int rank) const {
    const std::size_t calls_a_barrier = 2 * rounds_[at(rank)].size();
    return num_done_[at(rank)] / calls_a_barrier;
  }

  bool no_token_is_left() const {
    return std::all_of(tokens_.begin(), tokens_.end(), [](const auto& link) { return link.second == 0; });
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  std::vector<std::vector<BarrierRound>> rounds_;
  std::vector<Script> scripts_;
  std::vector<std::size_t> num_done_;
  std::map<std::pair<int, int>, int> tokens_;  ///< on their way
};

TEST(Barrier, IsLeftByNobodyBeforeAllHaveComeAndThenByEverybody) {
  for (int size = 2; size <= 17; ++size) {
    for (int late = 0; late < size; ++late) {
      Network network(size, 3);
      for (std::size_t barrier = 0; barrier < 3; ++barrier) {
        network.run_without(late);
        for (int rank = 0; rank < size; ++rank) {
          EXPECT_EQ(network.num_left(rank), barrier) << "rank " << rank << " of " << size << ", late " << late;
        }
        while (network.num_left(late) == barrier) {
          if (!network.advance(late)) network.run_without(late);
        }
      }
      network.run_without(late);
      for (int rank = 0; rank < size; ++rank) EXPECT_EQ(network.num_left(rank), 3u);
      EXPECT_TRUE(network.no_token_is_left());
    }
  }
}

TEST(Barrier, OfOneRankNeedsNobody) {
  EXPECT_TRUE(barrier_rounds(0, 1).empty());
  EXPECT_TRUE(barrier_partners(0, 1).empty());
}

TEST(Barrier, SendsAtMostOneTokenFromOneRankToAnother) {
  for (int size = 2; size <= 40; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      std::set<std::int32_t> to, from;
      for (const BarrierRound& round : barrier_rounds(rank, size)) {
        EXPECT_TRUE(to.insert(round.to).second) << "rank " << rank << " of " << size;
        EXPECT_TRUE(from.insert(round.from).second) << "rank " << rank << " of " << size;
      }
    }
  }
}

TEST(BarrierPartners, AreOnesDistanceApartAndEachOnce) {
  EXPECT_EQ(barrier_partners(0, 2), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(barrier_partners(1, 4), (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(barrier_partners(3, 17), (std::vector<std::int32_t>{1, 2, 4, 5, 7, 11, 12, 16}));
}

TEST(BarrierPartners, ArePartnersOfEachOther) {
  for (int size = 2; size <= 40; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      for (const std::int32_t partner : barrier_partners(rank, size)) {
        EXPECT_NE(partner, rank);
        const auto back = barrier_partners(partner, size);
        EXPECT_TRUE(std::binary_search(back.begin(), back.end(), rank)) << rank << " and " << partner << " of " << size;
      }
    }
  }
}

}  // namespace
}  // namespace leadline::kernel
