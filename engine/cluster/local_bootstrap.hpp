// SPDX-License-Identifier: Apache-2.0
// What a rank of the built-in launcher inherits from it: its listening socket, all ports, the secret.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/bootstrap.hpp"

namespace leadline::cluster {

/// A mark in memory that the launcher and all ranks share: which rank says why the run failed.
class ReporterMark {
 public:
  ReporterMark();
  ~ReporterMark() { ::munmap(rank_, sizeof *rank_); }
  ReporterMark(const ReporterMark&) = delete;
  ReporterMark& operator=(const ReporterMark&) = delete;

  void set(int rank) { rank_->store(rank); }
  std::optional<int> rank() const {
    const int rank = rank_->load();
    return rank >= 0 ? std::optional(rank) : std::nullopt;
  }

 private:
  std::atomic<int>* rank_;
};

class LocalBootstrap final : public Bootstrap, private Membership {
 public:
  /// The mark outlives the bootstrap.
  LocalBootstrap(int rank, std::vector<std::uint16_t> ports, Socket listener, std::string secret, ReporterMark& mark)
      : rank_(rank),
        ports_(std::move(ports)),
        listener_(std::move(listener)),
        secret_(std::move(secret)),
        mark_(mark) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ports_.size()); }
  std::string launcher() const override { return "local"; }
  Membership* membership() override { return this; }
  void reporting() override { mark_.set(rank_); }

 private:
  Socket take_listener() override { return std::move(listener_); }
  Endpoint endpoint_of(int rank) const override { return {"127.0.0.1", ports_[static_cast<std::size_t>(rank)]}; }
  std::string_view secret() const override { return secret_; }

  int rank_;
  std::vector<std::uint16_t> ports_;
  Socket listener_;
  std::string secret_;
  ReporterMark& mark_;
};

}  // namespace leadline::cluster
