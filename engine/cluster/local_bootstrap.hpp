// SPDX-License-Identifier: Apache-2.0
// What a rank of the built-in launcher inherits from it: its listening socket, all ports, the secret.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// A mark in memory that the launcher and all ranks share: some rank has said why the run failed.
class ReportedMark {
 public:
  ReportedMark();
  ~ReportedMark() { ::munmap(mark_, sizeof *mark_); }
  ReportedMark(const ReportedMark&) = delete;
  ReportedMark& operator=(const ReportedMark&) = delete;

  void set() { mark_->store(true); }
  bool is_set() const { return mark_->load(); }

 private:
  std::atomic<bool>* mark_;
};

class LocalBootstrap final : public Bootstrap, private Membership {
 public:
  /// The mark outlives the bootstrap.
  LocalBootstrap(int rank, std::vector<std::uint16_t> ports, Socket listener, std::string secret, ReportedMark& mark)
      : rank_(rank),
        ports_(std::move(ports)),
        listener_(std::move(listener)),
        secret_(std::move(secret)),
        mark_(mark) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ports_.size()); }
  std::string launcher() const override { return "local"; }
  Membership* membership() override { return this; }
  void reporting() override { mark_.set(); }

 private:
  Socket take_listener() override { return std::move(listener_); }
  Endpoint endpoint_of(int rank) const override { return {"127.0.0.1", ports_[static_cast<std::size_t>(rank)]}; }
  std::string_view secret() const override { return secret_; }

  int rank_;
  std::vector<std::uint16_t> ports_;
  Socket listener_;
  std::string secret_;
  ReportedMark& mark_;
};

}  // namespace leadline::cluster
