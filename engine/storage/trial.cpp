// SPDX-License-Identifier: Apache-2.0
// Makes calls that should succeed, that should find the end of the file, and that should fail, and looks at all of
// them.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/error.hpp"
#include "storage/try_out.hpp"

namespace leadline::storage {
namespace {

constexpr std::size_t block_bytes = 65536;

/// At addresses that direct calls can take.
class Block {
 public:
  explicit Block(std::byte value) : data_(static_cast<std::byte*>(std::aligned_alloc(4096, block_bytes))) {
    if (!data_) throw std::bad_alloc();
    std::fill_n(data_.get(), block_bytes, value);
  }
  std::span<std::byte> all() const { return {data_.get(), block_bytes}; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

/// A few blocks are nothing to wait for; whoever tries calls out waits longer than this.
constexpr int patience_s = 5;

/// A call that was started and is never done.
struct Endless {};

/// One file, and calls of one kind.
class Calls {
 public:
  Calls(Backend& backend, const CallKind& kind, const std::string& path, Access access)
      : kind_(kind),
        file_(backend.open({.path = path,
                            .access = access,
                            .cache_path = kind.cache_path,
                            .openers = openers,
                            .hints = {},
                            .max_started = 1})) {}

  std::uint64_t write(std::uint64_t offset_bytes, std::span<const std::byte> data) {
    if (kind_.calls == FileCalls::blocking) {
      return kind_.collective ? file_->write_at_all(offset_bytes, data) : file_->write_at(offset_bytes, data);
    }
    file_->start_write(0, offset_bytes, data, kind_.collective);
    return wait();
  }

  std::uint64_t read(std::uint64_t offset_bytes, std::span<std::byte> data) {
    if (kind_.calls == FileCalls::blocking) {
      return kind_.collective ? file_->read_at_all(offset_bytes, data) : file_->read_at(offset_bytes, data);
    }
    file_->start_read(0, offset_bytes, data, kind_.collective);
    return wait();
  }

  void close() { file_->close(); }

 private:
  std::uint64_t wait() {
    const Deadline deadline = Deadline::after(std::chrono::seconds(patience_s));
    try {
      return file_->wait(0, deadline);
    } catch (const Error&) {
      if (deadline.has_passed()) throw Endless();
      throw;
    }
  }

  static constexpr std::array<std::int32_t, 1> openers{0};
  CallKind kind_;
  std::unique_ptr<File> file_;
};

std::string moved(const char* what, std::uint64_t bytes) {
  return fmt::format("{} of {} bytes moved {}", what, block_bytes, bytes);
}

std::string try_writing(Calls calls) {
  const Block block(std::byte{0x5a});
  for (const std::uint64_t i : {0u, 1u}) {
    const std::uint64_t bytes = calls.write(i * block_bytes, block.all());
    if (bytes != block_bytes) return moved("a write", bytes);
  }
  calls.close();
  return {};
}

std::string try_reading(Calls calls) {
  const Block block(std::byte{0xa5});
  const std::uint64_t bytes = calls.read(0, block.all());
  if (bytes != block_bytes) return moved("a read", bytes);
  const auto all = block.all();
  if (std::any_of(all.begin(), all.end(), [](std::byte value) { return value != std::byte{0x5a}; })) {
    return "a read brought other bytes than were written";
  }
  const std::uint64_t behind = calls.read(2 * block_bytes, block.all());
  if (behind != 0) return moved("a read at the end of the file", behind);
  const std::uint64_t beyond = calls.read(8 * block_bytes, block.all());
  if (beyond != 0) return moved("a read beyond the end of the file", beyond);
  calls.close();
  return {};
}

/// The file system says no (EFBIG): an Error is the right answer, a count below what was asked a tolerable one.
std::string try_failing(Calls calls) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{2 * block_bytes, 2 * block_bytes};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return {};
  const Block block(std::byte{0x33});
  std::uint64_t bytes = 0;
  try {
    bytes = calls.write(2 * block_bytes, block.all());
  } catch (const Error&) {
    return {};
  } catch (const Endless&) {
    return "a write that the file system refused was never done";
  }
  if (bytes >= block_bytes) return "a write that the file system refused was called a success";
  return {};
}

}  // namespace

std::string try_calls_of(Backend& backend, const CallKind& kind, const std::string& scratch_path) {
  if (std::string why = backend.refuses(kind); !why.empty()) return why;
  try {
    if (std::string why = try_writing({backend, kind, scratch_path, Access::write}); !why.empty()) return why;
    if (std::string why = try_reading({backend, kind, scratch_path, Access::read}); !why.empty()) return why;
    return try_failing({backend, kind, scratch_path, Access::write});
  } catch (const Endless&) {
    return fmt::format("a call was not done within {} s", patience_s);
  }
}

}  // namespace leadline::storage
