// SPDX-License-Identifier: Apache-2.0
// A cluster whose ranks are threads of the test: collectives without processes; sockets between two for transports.
#pragma once

#include <sys/socket.h>

#include <barrier>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/cluster.hpp"

namespace leadline::test {

/// What the threads share; one for each run.
class Board {
 public:
  explicit Board(int size) : size_(size), texts_(static_cast<std::size_t>(size)), gate_(size) {}

  int size() const { return size_; }

  /// All ranks' texts, on all ranks.
  std::vector<std::string> exchange(int rank, std::string own) {
    texts_[static_cast<std::size_t>(rank)] = std::move(own);
    gate_.arrive_and_wait();
    std::vector<std::string> all = texts_;
    gate_.arrive_and_wait();
    return all;
  }

  /// As cluster::Rendezvous says: the lower rank makes both ends and leaves one for the other.
  Descriptor meet(int rank, int partner, Deadline deadline) {
    std::unique_lock lock(meetings_mutex_);
    auto& left_here = meetings_[std::minmax(rank, partner)];
    if (rank < partner) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        throw Error(ExitStatus::run_failed, "no socket for two threads");
      }
      left_here.emplace_back(ends[1]);
      someone_came_.notify_all();
      return Descriptor(ends[0]);
    }
    const bool is_there =
        someone_came_.wait_for(lock, std::chrono::milliseconds(deadline.left_ms()), [&] { return !left_here.empty(); });
    if (!is_there) throw cluster::ConnectionLost(partner, "a thread did not come to the meeting");
    Descriptor socket = std::move(left_here.front());
    left_here.pop_front();
    return socket;
  }

 private:
  int size_;
  std::vector<std::string> texts_;
  std::barrier<> gate_;
  std::mutex meetings_mutex_;
  std::condition_variable someone_came_;
  std::map<std::pair<int, int>, std::deque<Descriptor>> meetings_;
};

class ThreadCluster : public cluster::Cluster {
 public:
  ThreadCluster(Board& board, int rank, std::vector<std::uint32_t> host_of)
      : board_(board),
        rank_(rank),
        host_of_(std::move(host_of)),
        host_("node" + std::to_string(host_of_.at(static_cast<std::size_t>(rank)))) {
    for (int host = 0; host < ThreadCluster::num_hosts(); ++host) host_names_.push_back("node" + std::to_string(host));
  }

  /// As if this rank had been lost in the collective before.
  void lose(int rank, const std::string& why) { lost_ranks_.push_back({rank, why}); }

  int rank() const override { return rank_; }
  int size() const override { return board_.size(); }
  const std::string& host() const override { return host_; }
  std::span<const std::uint32_t> host_of() const override { return host_of_; }
  int num_hosts() const override {
    std::uint32_t last = 0;
    for (const std::uint32_t host : host_of_) last = std::max(last, host);
    return static_cast<int>(last) + 1;
  }
  const std::string& host_name(int rank) const override {
    return host_names_.at(host_of_.at(static_cast<std::size_t>(rank)));
  }
  std::string launcher() const override { return "threads"; }
  bool on_loopback() const override { return true; }
  void set_wait(WaitMode, std::function<void()>) override {}

  std::string all_reduce(std::string own,
                         const std::function<std::string(std::string, std::string_view)>& combine) override {
    const std::vector<std::string> all = board_.exchange(rank_, std::move(own));
    std::string sum = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) sum = combine(std::move(sum), all[i]);
    return sum;
  }
  void gather(std::string_view own, const std::function<void(int, std::string_view)>& at_root) override {
    const std::vector<std::string> all = board_.exchange(rank_, std::string(own));
    if (rank_ != 0) return;
    for (std::size_t i = 0; i < all.size(); ++i) at_root(static_cast<int>(i), all[i]);
  }
  std::string broadcast(std::string_view from_root) override {
    return board_.exchange(rank_, std::string(from_root)).front();
  }
  void barrier() override { board_.exchange(rank_, {}); }
  void agree(const Error* own) override {
    const std::string nothing(1, '\0');
    const std::vector<std::string> all =
        board_.exchange(rank_, own != nullptr ? own->problem() + nothing + own->why() + nothing + own->hint() : "");
    for (const std::string& text : all) {
      if (text.empty()) continue;
      const std::size_t why = text.find('\0') + 1, hint = text.find('\0', why) + 1;
      throw Error(ExitStatus::run_failed, text.substr(0, why - 1), text.substr(why, hint - 1 - why), text.substr(hint));
    }
  }
  void go_on_without_lost_ranks() override {}
  std::span<const cluster::LostRank> lost_ranks() const override { return lost_ranks_; }
  ProgressCounter& progress_counter() override { return progress_counter_; }
  void tell_current_step() override {}
  void set_current_step(std::function<std::string(int)> current_step) override {
    current_step_ = std::move(current_step);
  }
  void set_partial_result(std::function<std::string()>) override {}
  void set_on_failure(std::function<void(const std::string&, const cluster::PartialResults&)>) override {}
  [[noreturn]] void abort(const Error& error) override { throw error; }
  void leave() override { barrier(); }
  using cluster::Rendezvous::meet;
  Descriptor meet(int partner, Deadline deadline, const ProgressFunction&) override {
    return board_.meet(rank_, partner, deadline);
  }

  std::string current_step(int rank) const { return current_step_(rank); }

 private:
  Board& board_;
  int rank_;
  std::vector<std::uint32_t> host_of_;
  std::string host_;
  std::vector<std::string> host_names_;
  std::vector<cluster::LostRank> lost_ranks_;
  ProgressCounter progress_counter_;
  std::function<std::string(int)> current_step_;
};

/// Runs `rank_main` on as many threads as host_of has entries; rethrows nothing: assertions go to GoogleTest.
inline void run_on_threads(const std::vector<std::uint32_t>& host_of,
                           const std::function<void(ThreadCluster&)>& rank_main) {
  Board board(static_cast<int>(host_of.size()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < board.size(); ++rank) {
    threads.emplace_back([&, rank] {
      ThreadCluster cluster(board, rank, host_of);
      rank_main(cluster);
    });
  }
}

}  // namespace leadline::test
