// SPDX-License-Identifier: Apache-2.0
// Calls of one kind on a file, and blocks of memory that every kind can take.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "contract/storage_contract.hpp"

namespace leadline::contract {

/// Direct calls take nothing but multiples of it.
inline constexpr std::uint64_t unit_bytes = 4096;

inline void on_one_rank(const StorageBody& body) { storage_ranks().run(1, body); }
inline void on_all_ranks(const StorageBody& body) { storage_ranks().run(storage_ranks().max_size(), body); }

inline void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// Memory at addresses that direct calls take.
class Block {
 public:
  explicit Block(std::uint64_t size_bytes)
      : size_bytes_(size_bytes),
        data_(static_cast<std::byte*>(std::aligned_alloc(unit_bytes, (size_bytes / unit_bytes + 1) * unit_bytes))) {
    std::memset(data_.get(), 0xee, size_bytes_);
  }

  /// Bytes that tell one seed, and one place, from others.
  static Block filled(std::uint64_t size_bytes, std::uint64_t seed) {
    Block block(size_bytes);
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (std::byte& byte : block.all()) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<std::byte>(state >> 56u);
    }
    return block;
  }

  std::span<std::byte> all() const { return {data_.get(), size_bytes_}; }
  std::string text() const { return {reinterpret_cast<const char*>(data_.get()), size_bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::uint64_t size_bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

/// One rank's open file and one kind of calls.
class Calls {
 public:
  static constexpr std::size_t max_started = 4;

  Calls(StorageEnd& end, const storage::CallKind& kind, const std::string& name, storage::Access access)
      : kind_(kind), path_(end.folder + "/" + name), openers_(static_cast<std::size_t>(end.size)) {
    std::iota(openers_.begin(), openers_.end(), 0);
    file_ = end.backend.open({.path = path_,
                              .access = access,
                              .cache_path = kind.cache_path,
                              .openers = openers_,
                              .hints = {},
                              .max_started = max_started});
  }

  std::uint64_t write(std::uint64_t offset_bytes, std::span<const std::byte> data) {
    if (is_started()) {
      file_->start_write(0, offset_bytes, data, kind_.collective);
      return wait(0);
    }
    return kind_.collective ? file_->write_at_all(offset_bytes, data) : file_->write_at(offset_bytes, data);
  }

  std::uint64_t read(std::uint64_t offset_bytes, std::span<std::byte> data) {
    if (is_started()) {
      file_->start_read(0, offset_bytes, data, kind_.collective);
      return wait(0);
    }
    return kind_.collective ? file_->read_at_all(offset_bytes, data) : file_->read_at(offset_bytes, data);
  }

  std::uint64_t wait(storage::Ticket ticket) { return file_->wait(ticket, Deadline::after(std::chrono::seconds(60))); }

  bool is_started() const { return kind_.calls == storage::FileCalls::non_blocking; }
  const storage::CallKind& kind() const { return kind_; }
  const std::string& path() const { return path_; }
  storage::File* operator->() const { return file_.get(); }

 private:
  storage::CallKind kind_;
  std::string path_;
  std::vector<std::int32_t> openers_;
  std::unique_ptr<storage::File> file_;
};

}  // namespace leadline::contract
