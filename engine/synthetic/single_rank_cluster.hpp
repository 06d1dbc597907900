// SPDX-License-Identifier: Apache-2.0
// A run of one rank that is all alone, for collective functions of which only the numbers are wanted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cluster/cluster.hpp"

namespace leadline::synthetic {

/// Nobody to wait for, to lose or to meet.
class SingleRankCluster final : public cluster::Cluster {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  const std::string& host() const override { return host_; }
  std::span<const std::uint32_t> host_of() const override { return host_of_; }
  int num_hosts() const override { return 1; }
  std::string launcher() const override { return "none"; }
  bool on_loopback() const override { return true; }
  void set_wait(WaitMode, std::function<void()>) override {}
  std::string all_reduce(std::string own,
                         const std::function<std::string(std::string left, std::string_view right)>&) override {
    return own;
  }
  void gather(std::string_view own, const std::function<void(int rank, std::string_view text)>& at_root) override {
    at_root(0, own);
  }
  std::string broadcast(std::string_view from_root) override { return std::string(from_root); }
  void barrier() override {}
  void agree(const Error* own) override {
    if (own != nullptr) throw AgreedError(*own);
  }
  ProgressCounter& progress_counter() override { return progress_counter_; }
  void set_current_step(std::function<std::string(int rank)>) override {}
  void set_on_failure(std::function<void(const std::string& message)>) override {}
  [[noreturn]] void abort(const Error& error) override { throw error; }
  void leave() override {}
  Descriptor meet(int, Deadline, const Meanwhile&) override {
    throw cluster::ConnectionLost("there is nobody to meet");
  }

 private:
  std::string host_ = "simulated";
  std::array<std::uint32_t, 1> host_of_{0};
  ProgressCounter progress_counter_;
};

}  // namespace leadline::synthetic
