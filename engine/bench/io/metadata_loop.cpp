// SPDX-License-Identifier: Apache-2.0
// A call, or the few that one operation is made of; each is timed as what it is, all together as one operation.
#include "bench/io/metadata_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "bench/io/buffers.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "storage/posix/metadata.hpp"

namespace leadline::bench::io {

namespace posix = storage::posix;
using StateTimer = Recorder::StateTimer;

namespace {

constexpr std::size_t most_digits = std::numeric_limits<std::uint64_t>::digits10 + 1;

/// Contents are words; what a file has beyond its last whole one is not looked at.
std::span<std::byte> whole_words(std::span<std::byte> item) {
  return item.first(item.size() / memory::word_size_bytes * memory::word_size_bytes);
}

}  // namespace

ItemPath::ItemPath(const std::string& directory, IoOperation operation, std::int32_t owner)
    : path_(fmt::format("{}/{}.{}.", directory, concerns_directories(operation) ? "directory" : "file", owner)),
      prefix_size_(path_.size()) {
  path_.reserve(prefix_size_ + most_digits);
}

const std::string& ItemPath::of(std::uint64_t number) {
  path_.resize(prefix_size_ + most_digits);
  const std::to_chars_result end = std::to_chars(path_.data() + prefix_size_, path_.data() + path_.size(), number);
  path_.resize(static_cast<std::size_t>(end.ptr - path_.data()));
  return path_;
}

MetadataLoop::MetadataLoop(PhaseWork& work, const std::string& directory, std::int32_t owner)
    : work_(work),
      owner_(owner),
      path_(directory, work.position.operation, owner),
      item_(work.stage.buffers.object(0)) {
  work_.stage.cluster.progress_counter().file_call.set_file(directory);
}

void MetadataLoop::create(std::uint64_t number, const std::string& path) {
  Descriptor file;
  {
    const StateTimer timer(work_.recorder, IoTime::open);
    file = posix::create_file(path);
  }
  if (!item_.empty()) {
    {
      const StateTimer timer(work_.recorder, IoTime::fill);
      work_.contents.fill(whole_words(item_), owner_, number,
                          is_filled_ ? Before::object_of_same_rank : Before::anything);
    }
    is_filled_ = true;
    const StateTimer timer(work_.recorder, IoTime::call);
    posix::write_file(file, item_, path);
  }
  if (work_.request().sync == SyncTiming::inside) {
    const StateTimer timer(work_.recorder, IoTime::sync);
    posix::sync_file(file, path);
  }
  const StateTimer timer(work_.recorder, IoTime::close);
  posix::close_file(file, path);
}

void MetadataLoop::open(const std::string& path) {
  Descriptor file;
  {
    const StateTimer timer(work_.recorder, IoTime::open);
    file = posix::open_file(path);
  }
  const StateTimer timer(work_.recorder, IoTime::close);
  posix::close_file(file, path);
}

void MetadataLoop::read(std::uint64_t number, const std::string& path) {
  Descriptor file;
  {
    const StateTimer timer(work_.recorder, IoTime::open);
    file = posix::open_file(path);
  }
  std::size_t num_read = 0;
  if (!item_.empty()) {
    {
      const StateTimer timer(work_.recorder, IoTime::verify);
      work_.contents.poison(item_);
    }
    const StateTimer timer(work_.recorder, IoTime::call);
    num_read = posix::read_file(file, item_, path);
  }
  {
    const StateTimer timer(work_.recorder, IoTime::close);
    posix::close_file(file, path);
  }
  if (num_read < item_.size()) {
    throw Error(ExitStatus::run_failed, fmt::format("{} is shorter than it was written", path),
                fmt::format("it has {} of {}", format_bytes(num_read), format_bytes(item_.size())),
                "Do not trust this storage before it is known where its data went");
  }
  const std::span<std::byte> words = whole_words(item_);
  const StateTimer timer(work_.recorder, IoTime::verify);
  if (!words.empty()) work_.contents.verify(words, words.size(), owner_, number);
}

void MetadataLoop::call(const std::string& path) {
  const StateTimer timer(work_.recorder, IoTime::call);
  switch (work_.position.operation) {
    case IoOperation::mkdir:
      return posix::make_directory(path);
    case IoOperation::rmdir:
      return posix::remove_directory(path);
    case IoOperation::stat:
      static_cast<void>(posix::stat_file(path));
      return;
    case IoOperation::unlink:
      return posix::unlink_file(path);
    default:
      return;
  }
}

void MetadataLoop::one(std::uint64_t number) {
  const std::string& path = path_.of(number);
  const IoOperation operation = work_.position.operation;
  const double aside_ns = work_.recorder.contents_ns();
  DoneCall done;
  done.offset_bytes = number;
  done.begin_ns = work_.recorder.elapsed_ns();
  {
    const InFileCall in_call(work_.stage.cluster.progress_counter().file_call, doing_with_items(operation));
    switch (operation) {
      case IoOperation::create:
        create(number, path);
        break;
      case IoOperation::open:
        open(path);
        break;
      case IoOperation::read_file:
        read(number, path);
        break;
      default:
        call(path);
        break;
    }
  }
  const bool has_contents = operation == IoOperation::create || operation == IoOperation::read_file;
  if (has_contents) done.size_bytes = done.moved_bytes = item_.size();
  // Making and looking at contents is no part of the operation.
  const double end_ns = static_cast<double>(work_.recorder.elapsed_ns()) - (work_.recorder.contents_ns() - aside_ns);
  done.end_ns = std::max(done.begin_ns, static_cast<std::uint64_t>(end_ns));
  work_.recorder.add_call(done);
}

std::uint64_t MetadataLoop::move(ObjectRange range, std::optional<std::uint64_t> stop_ns) {
  std::uint64_t number = range.first;
  for (; number < range.end; ++number) {
    const bool is_over = stop_ns && number > 0 && work_.recorder.elapsed_ns() >= *stop_ns;
    if (is_over || !work_.failure.guard([&] { one(number); })) break;
    work_.recorder.add_own_object();
    work_.pace.object_done();
  }
  return number;
}

const char* doing_with_items(IoOperation operation) {
  switch (operation) {
    case IoOperation::mkdir:
      return "making a directory in";
    case IoOperation::rmdir:
      return "removing a directory in";
    case IoOperation::create:
      return "creating a file in";
    case IoOperation::stat:
      return "looking at a file in";
    case IoOperation::open:
      return "opening a file in";
    case IoOperation::read_file:
      return "reading a file in";
    case IoOperation::unlink:
      return "removing a file in";
    case IoOperation::write:
    case IoOperation::read:
    case IoOperation::mix:
      break;
  }
  return "";
}

}  // namespace leadline::bench::io
