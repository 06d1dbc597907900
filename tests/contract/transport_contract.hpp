// SPDX-License-Identifier: Apache-2.0
// The suite that defines a transport: what a transport's own file here hands to it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/progress_counter.hpp"
#include "memory/buffer.hpp"
#include "model/samples.hpp"
#include "transport/transport.hpp"

namespace leadline::contract {

/// One rank's end of a test: all ranks run the same body, each with its own end.
struct End {
  int rank = 0;
  int size = 2;
  int partner = 0;  ///< the other one of two
  transport::Transport& transport;
  ProgressCounter& progress_counter;
  std::function<std::unique_ptr<transport::Transport>()> open_again{};  ///< another one, where Ranks::may_open_again()

  bool is_first() const { return rank == 0; }
};

using Body = std::function<void(End&)>;

/// The ranks of a fresh transport; each candidate's file says how it gets them.
class Ranks {
 public:
  virtual ~Ranks() = default;

  /// Runs `body` on ranks 0 to size - 1; failures on any fail the test.
  virtual void run(int size, const std::string& transport, WaitMode wait, const Body& body) = 0;

  /// Whether a rank may vanish in the middle of a test.
  virtual bool may_lose_a_rank() const = 0;

  /// Whether the ranks of each run are processes of their own, forked from the test.
  virtual bool are_forked() const { return true; }

  /// Whether a rank may open several transports, one beside the other.
  virtual bool may_open_again() const { return true; }

  /// Whether the bytes of timed messages travel, as they must over anything real.
  virtual bool timed_messages_have_contents() const { return true; }

  /// Where messages lie.
  virtual const memory::Allocator& allocator() const { return memory::allocators().front(); }

  /// Whether contents can be made and compared where messages lie, as a verification does.
  bool can_verify() const { return allocator().location == memory::Location::host; }
};

/// Defined by the candidate's file.
Ranks& ranks();

/// Without spinning under the sanitizers, where ranks that share cores take minutes for it: the loops are the same.
std::vector<WaitMode> tried_here(std::initializer_list<WaitMode> wait_modes);

/// A transport in one way of waiting and one direction.
struct Candidate {
  std::string transport;  ///< as behind --transport
  WaitMode wait = WaitMode::yield;
  Direction direction = Direction::semidirectional;
};

/// As failures name it.
inline void PrintTo(const Candidate& candidate, std::ostream* out) {
  *out << candidate.transport << ", " << name_of(candidate.wait) << ", " << name_of(candidate.direction);
}

std::string candidate_name(const testing::TestParamInfo<Candidate>& info);

/// Every wait mode given and tried here, in each of the three directions.
std::vector<Candidate> candidates(const std::string& transport, std::initializer_list<WaitMode> wait_modes);

class TransportContract : public testing::TestWithParam<Candidate> {
 protected:
  void on_both_ranks(const Body& body) const { ranks().run(2, GetParam().transport, GetParam().wait, body); }
};

/// A transport in one way of waiting, for an exchange among so many ranks.
struct Party {
  std::string transport;
  WaitMode wait = WaitMode::yield;
  int size = 2;
};

inline void PrintTo(const Party& party, std::ostream* out) {
  *out << party.transport << ", " << name_of(party.wait) << ", " << party.size << " ranks";
}

std::string party_name(const testing::TestParamInfo<Party>& info);

/// Every wait mode given and tried here, with min_size to 4 ranks.
std::vector<Party> parties(const std::string& transport, std::initializer_list<WaitMode> wait_modes, int min_size = 1);

/// The same with 2 ranks alone.
std::vector<Party> pairs(const std::string& transport, std::initializer_list<WaitMode> wait_modes);

class PartyContract : public testing::TestWithParam<Party> {
 protected:
  void on_all_ranks(const Body& body) const {
    ranks().run(GetParam().size, GetParam().transport, GetParam().wait, body);
  }
};

class AllToAllContract : public PartyContract {};

/// With 2 ranks or more.
class NeighbourContract : public PartyContract {};

/// When calls end, and what they leave; with 2 ranks. Messages one by one have such tests, too.
class CallContract : public PartyContract {};

/// Of transports whose library has collective operations.
class CollectivesContract : public PartyContract {};

/// With 2 ranks or more.
class MessagesContract : public PartyContract {};

/// The partners of a rank, step by step, in a tournament of `size` ranks; one alone meets itself. Also for the files
/// of candidates.
std::vector<std::int32_t> tournament(int rank, int size);

}  // namespace leadline::contract
