// SPDX-License-Identifier: Apache-2.0
// A file on the system's own calls.
#pragma once

#include <optional>
#include <string>

#include "storage/posix/background.hpp"
#include "storage/posix/opened.hpp"
#include "storage/storage.hpp"

namespace leadline::storage::posix {

class PosixFile final : public File {
 public:
  explicit PosixFile(const OpenFile& file);

  std::uint64_t write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) override;
  std::uint64_t read_at(std::uint64_t offset_bytes, std::span<std::byte> data) override;
  std::uint64_t write_at_all(std::uint64_t offset_bytes, std::span<const std::byte> data) override;
  std::uint64_t read_at_all(std::uint64_t offset_bytes, std::span<std::byte> data) override;
  void start_write(Ticket ticket, std::uint64_t offset_bytes, std::span<const std::byte> data,
                   bool collective) override;
  void start_read(Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data, bool collective) override;
  std::uint64_t wait(Ticket ticket, Deadline deadline) override;
  void sync() override;
  void preallocate(std::uint64_t bytes) override;
  std::uint64_t size_bytes() override;
  Hints hints() override { return {}; }
  void close() override;

 private:
  bool is_past_end(const Transfer& transfer);
  void check_alignment(const Transfer& transfer, const std::byte* data) const;
  void start(Ticket ticket, const Transfer& transfer, std::byte* data, bool collective);
  std::uint64_t result_of(const Transfer& transfer, std::int64_t moved) const;
  [[noreturn]] void fail(const std::string& doing, int error_number) const;

  std::string path_;
  CachePath cache_path_;
  std::size_t max_started_;
  Opened opened_;
  std::optional<Background> background_;  ///< from the first non-blocking call on
};

}  // namespace leadline::storage::posix
