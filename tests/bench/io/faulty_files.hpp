// SPDX-License-Identifier: Apache-2.0
// Files whose calls go wrong when they are told to, and whose collective calls hold back whoever is first, as libraries
// of MPI do.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "storage/storage.hpp"

namespace leadline::bench::io {

/// What happens to a transfer instead of all of it being done.
enum class Fault : std::uint8_t { none, error, half, nothing };

/// One transfer of a rank, numbered from 0 over the whole run, writes and reads apart.
struct Transfer {
  int rank = 0;
  bool writes = false;
  std::uint64_t number = 0;
  std::uint64_t size_bytes = 0;
};

/// Of all ranks; outlives their files.
class Faults {
 public:
  std::function<Fault(const Transfer&)> of_transfer;
  std::function<bool(int rank, const char* call)> of_call;  ///< "open", "sync", "close": whether it fails

  Fault fault(const Transfer& transfer) const { return of_transfer ? of_transfer(transfer) : Fault::none; }
  void check_call(int rank, const char* call) const {
    if (of_call && of_call(rank, call)) throw Error(ExitStatus::run_failed, std::string(call) + " failed", "as told");
  }

  /// The most that one file had under way at once.
  std::size_t most_started() const { return most_started_; }
  void note_started(std::size_t num) {
    const std::lock_guard lock(mutex_);
    most_started_ = std::max(most_started_, num);
  }

  /// A name for one opening of a file, the same on all of its openers.
  std::string opening_of(const storage::OpenFile& file, int rank) {
    const std::lock_guard lock(mutex_);
    const std::string name = file.path + (file.access == storage::Access::write ? " written " : " read ");
    return name + std::to_string(num_opened_[{name, rank}]++);
  }

  /// This rank begins a collective call: which one of its opening.
  std::uint64_t arrive(const std::string& opening, int rank) {
    const std::lock_guard lock(mutex_);
    someone_came_.notify_all();
    return ++calls_[opening][rank];
  }

  /// Waits until all who share an opening have begun as many.
  void await_all(const std::string& opening, std::uint64_t number, std::size_t num_openers) {
    std::unique_lock lock(mutex_);
    const auto all_came = [&] {
      std::size_t num = 0;
      for (const auto& [other, num_calls] : calls_[opening]) num += num_calls >= number ? 1 : 0;
      return num == num_openers;
    };
    if (!someone_came_.wait_for(lock, std::chrono::seconds(20), all_came)) {
      throw Error(ExitStatus::run_failed, "collective calls are unequal in number");
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable someone_came_;
  std::map<std::string, std::map<int, std::uint64_t>> calls_;  ///< by opening and rank
  std::map<std::pair<std::string, int>, std::uint64_t> num_opened_;
  std::size_t most_started_ = 0;
};

class FaultyFile final : public storage::File {
 public:
  FaultyFile(std::unique_ptr<storage::File> real, const storage::OpenFile& file, int rank, Faults& faults,
             std::map<bool, std::uint64_t>& num_transfers)
      : real_(std::move(real)),
        path_(file.path),
        opening_(faults.opening_of(file, rank)),
        num_openers_(file.openers.size()),
        rank_(rank),
        faults_(faults),
        num_transfers_(num_transfers),
        started_(file.max_started) {}

  std::uint64_t write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) override {
    const std::size_t size = size_of_next(true, data.size());
    return size == 0 ? 0 : real_->write_at(offset_bytes, data.first(size));
  }
  std::uint64_t read_at(std::uint64_t offset_bytes, std::span<std::byte> data) override {
    const std::size_t size = size_of_next(false, data.size());
    return size == 0 ? 0 : real_->read_at(offset_bytes, data.first(size));
  }
  std::uint64_t write_at_all(std::uint64_t offset_bytes, std::span<const std::byte> data) override {
    meet(faults_.arrive(opening_, rank_));
    return data.empty() ? 0 : write_at(offset_bytes, data);
  }
  std::uint64_t read_at_all(std::uint64_t offset_bytes, std::span<std::byte> data) override {
    meet(faults_.arrive(opening_, rank_));
    return data.empty() ? 0 : read_at(offset_bytes, data);
  }
  void start_write(storage::Ticket ticket, std::uint64_t offset_bytes, std::span<const std::byte> data,
                   bool collective) override {
    const std::uint64_t number = collective ? faults_.arrive(opening_, rank_) : 0;
    start(ticket, [=, this] {
      meet(number);
      return data.empty() ? 0 : write_at(offset_bytes, data);
    });
  }
  void start_read(storage::Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data,
                  bool collective) override {
    const std::uint64_t number = collective ? faults_.arrive(opening_, rank_) : 0;
    start(ticket, [=, this] {
      meet(number);
      return data.empty() ? 0 : read_at(offset_bytes, data);
    });
  }
  std::uint64_t wait(storage::Ticket ticket, Deadline) override {
    if (!started_.at(ticket)) throw std::logic_error("nothing was started with this ticket");
    return std::exchange(started_.at(ticket), nullptr)();
  }
  /// Nothing is done before somebody waits; then the one with the highest ticket, which was hardly ever started first.
  std::optional<storage::Ticket> wait_any(Deadline deadline) override {
    if (deadline.has_passed()) return std::nullopt;
    for (storage::Ticket ticket = started_.size(); ticket-- > 0;) {
      if (started_[ticket]) return ticket;
    }
    return std::nullopt;
  }

  void sync() override {
    faults_.check_call(rank_, "sync");
    real_->sync();
  }
  void preallocate(std::uint64_t bytes) override { real_->preallocate(bytes); }
  std::uint64_t size_bytes() override { return real_->size_bytes(); }
  storage::Hints hints() override { return {{"cb_nodes", "2"}, {"romio_no_indep_rw", "false"}}; }
  void close() override {
    real_->close();
    faults_.check_call(rank_, "close");
  }

 private:
  /// 0 = not collective.
  void meet(std::uint64_t number) {
    if (number > 0) faults_.await_all(opening_, number, num_openers_);
  }

  void start(storage::Ticket ticket, std::function<std::uint64_t()> call) {
    if (started_.at(ticket)) throw std::logic_error("this ticket is under way");
    started_.at(ticket) = std::move(call);
    const auto num = static_cast<std::size_t>(std::ranges::count_if(started_, [](const auto& one) { return !!one; }));
    faults_.note_started(num);
  }

  std::size_t size_of_next(bool writes, std::size_t size) {
    switch (faults_.fault({rank_, writes, num_transfers_[writes]++, size})) {
      case Fault::none:
        break;
      case Fault::error:
        throw Error(ExitStatus::run_failed, (writes ? "writing " : "reading ") + path_ + " failed",
                    "No space left on device");
      case Fault::half:
        return size / 2;
      case Fault::nothing:
        return 0;
    }
    return size;
  }

  std::unique_ptr<storage::File> real_;
  std::string path_, opening_;
  std::size_t num_openers_;
  int rank_;
  Faults& faults_;
  std::map<bool, std::uint64_t>& num_transfers_;
  std::vector<std::function<std::uint64_t()>> started_;
};

/// Around a backend that does what it is asked.
class FaultyBackend final : public storage::Backend {
 public:
  FaultyBackend(std::unique_ptr<storage::Backend> real, int rank, Faults& faults)
      : real_(std::move(real)), rank_(rank), faults_(faults) {}

  std::string library() const override { return "faulty"; }
  std::string refuses(const storage::CallKind&) const override { return {}; }
  bool confirms_hints() const override { return true; }
  void meet(std::span<const std::int32_t> openers) override { real_->meet(openers); }
  std::unique_ptr<storage::File> open(const storage::OpenFile& file) override {
    faults_.check_call(rank_, "open");
    storage::OpenFile plain = file;
    plain.completion = storage::Completion::by_ticket;
    return std::make_unique<FaultyFile>(real_->open(plain), file, rank_, faults_, num_transfers_);
  }

 private:
  std::unique_ptr<storage::Backend> real_;
  int rank_;
  Faults& faults_;
  std::map<bool, std::uint64_t> num_transfers_;
};

}  // namespace leadline::bench::io
