// SPDX-License-Identifier: Apache-2.0
// Which ranks do I/O, where every object of a parallel file test lies, and in which order an I/O rank takes them.
#include "schedule/file_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"

namespace leadline::schedule {
namespace {

constexpr std::array movements{Movement::n_n, Movement::n_1, Movement::n_m_m, Movement::n_m_1, Movement::n_m};

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// I/O ranks that wait to be given one more rank: the one that serves the fewest comes first, then the lowest.
class Turns {
 public:
  void add(std::int32_t index) { queue_.push({0, index}); }

  /// Indices ascend with ranks, so the lowest index is the lowest rank.
  std::int32_t next() {
    auto [num_served, index] = queue_.top();
    queue_.pop();
    queue_.push({num_served + 1, index});
    return index;
  }

  /// The same, after `index` was given some ranks elsewhere.
  void add_served(std::int32_t index, std::int64_t num_served) { queue_.push({num_served, index}); }

 private:
  using Turn = std::pair<std::int64_t, std::int32_t>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> queue_;
};

constexpr std::int32_t unserved = -1;

/// The lowest ranks of every listed host become I/O ranks, each its own.
void appoint(IoRanks& result, std::span<const std::uint32_t> host_of, std::span<const IoHost> hosts) {
  std::unordered_map<std::uint32_t, int> wanted;
  for (const IoHost& host : hosts) {
    if (host.num_io_ranks < 1) {
      throw Error(ExitStatus::bad_command_line, fmt::format("--io-ranks cannot be {}", host.num_io_ranks),
                  "each host of --io-hosts has at least one", "Give 1 or more for each host");
    }
    if (!wanted.emplace(host.host, host.num_io_ranks).second) {
      throw Error(ExitStatus::bad_command_line, "--io-hosts names a host twice",
                  fmt::format("host number {} is there twice", host.host), "Name each host once");
    }
  }
  for (std::size_t rank = 0; rank < host_of.size(); ++rank) {
    const auto place = wanted.find(host_of[rank]);
    if (place == wanted.end() || place->second == 0) continue;
    --place->second;
    result.index_of[rank] = static_cast<std::int32_t>(result.ranks.size());
    result.ranks.push_back(static_cast<std::int32_t>(rank));
  }
  for (const IoHost& host : hosts) {
    const int missing = wanted.at(host.host);
    if (missing == 0) continue;
    throw Error(ExitStatus::bad_command_line, fmt::format("--io-ranks cannot be {}", host.num_io_ranks),
                fmt::format("host number {} has {} ranks", host.host, host.num_io_ranks - missing),
                "Ask for fewer I/O ranks on it, or start more ranks there");
  }
}

/// Bytes of num objects, if 63 bits hold them.
std::optional<std::uint64_t> bytes_of(std::uint64_t contributors, std::uint64_t num_objects, std::uint64_t size) {
  std::uint64_t objects = 0, bytes = 0;
  if (__builtin_mul_overflow(contributors, num_objects, &objects)) return std::nullopt;
  if (__builtin_mul_overflow(objects, size, &bytes)) return std::nullopt;
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return bytes;
}

}  // namespace

const char* name_of(Movement movement) {
  switch (movement) {
    case Movement::n_n:
      return "N-N";
    case Movement::n_1:
      return "N-1";
    case Movement::n_m_m:
      return "N-M-M";
    case Movement::n_m_1:
      return "N-M-1";
    case Movement::n_m:
      return "N-M";
  }
  return "?";
}

Movement parse_movement(const std::string& option, const std::string& text) {
  std::string upper = text;
  std::ranges::transform(upper, upper.begin(), [](unsigned char letter) { return std::toupper(letter); });
  for (const Movement movement : movements) {
    if (upper == name_of(movement) || text == std::to_string(static_cast<int>(movement))) return movement;
  }
  throw Error(ExitStatus::bad_command_line, fmt::format("{} cannot be '{}'", option, text), "there is no such movement",
              "Known are N-N, N-1, N-M-M, N-M-1 and N-M, or their numbers 1 to 5");
}

IoRanks all_do_io(int num_ranks) { return io_ranks_in_blocks(num_ranks, num_ranks); }

IoRanks io_ranks_in_blocks(int num_ranks, int num_io_ranks) {
  if (num_io_ranks < 1 || num_io_ranks > num_ranks) {
    throw Error(ExitStatus::bad_command_line, fmt::format("--io-ranks cannot be {}", num_io_ranks),
                fmt::format("there {} {} rank{}", num_ranks == 1 ? "is" : "are", num_ranks, num_ranks == 1 ? "" : "s"),
                num_ranks > 1 ? fmt::format("Choose 1 to {}, or start more ranks", num_ranks) : "Start more ranks");
  }
  IoRanks result;
  result.ranks.reserve(at(num_io_ranks));
  result.index_of.reserve(at(num_ranks));
  const int shortest = num_ranks / num_io_ranks;
  const int num_longer = num_ranks % num_io_ranks;
  for (int block = 0; block < num_io_ranks; ++block) {
    result.ranks.push_back(block * shortest + std::min(block, num_longer));
    result.index_of.insert(result.index_of.end(), at(shortest + (block < num_longer ? 1 : 0)), block);
  }
  return result;
}

IoRanks io_ranks_on_hosts(std::span<const std::uint32_t> host_of, std::span<const IoHost> hosts) {
  if (hosts.empty()) {
    throw Error(ExitStatus::bad_command_line, "--io-hosts is empty", "no rank would do any I/O",
                "Name at least one host");
  }
  IoRanks result;
  result.index_of.assign(host_of.size(), unserved);
  appoint(result, host_of, hosts);

  std::unordered_map<std::uint32_t, Turns> on_host;
  for (std::size_t index = 0; index < result.ranks.size(); ++index) {
    on_host[host_of[at(result.ranks[index])]].add(static_cast<std::int32_t>(index));
  }
  std::vector<std::int64_t> num_served(result.ranks.size(), 0);
  for (std::size_t rank = 0; rank < host_of.size(); ++rank) {
    const auto turns = on_host.find(host_of[rank]);
    if (result.index_of[rank] != unserved || turns == on_host.end()) continue;
    result.index_of[rank] = turns->second.next();
    ++num_served[at(result.index_of[rank])];
  }
  Turns anywhere;
  for (std::size_t index = 0; index < num_served.size(); ++index) {
    anywhere.add_served(static_cast<std::int32_t>(index), num_served[index]);
  }
  for (std::int32_t& index : result.index_of) {
    if (index == unserved) index = anywhere.next();
  }
  return result;
}

FileLayout::FileLayout(const LayoutShape& shape, IoRanks io_ranks) : shape_(shape), io_ranks_(std::move(io_ranks)) {
  const int num = num_ranks();
  if (shape_.movement == Movement::n_m && (shape_.num_files < 1 || shape_.num_files > num)) {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} files cannot be shared", shape_.num_files),
                fmt::format("with {} ranks, rank r belongs to file r mod the number of files", num),
                fmt::format("Choose 1 to {}", num));
  }
  if (shape_.movement == Movement::n_n) num_files_ = num;
  if (shape_.movement == Movement::n_m) num_files_ = shape_.num_files;
  if (shape_.movement == Movement::n_m_m) num_files_ = static_cast<int>(io_ranks_.ranks.size());

  contributor_.assign(at(num), 0);
  contributors_of_.assign(at(num_files_), 0);
  const auto number = [&](int rank) {
    if (contributes(rank)) contributor_[at(rank)] = contributors_of_[at(file_of(rank))]++;
  };
  if (shape_.movement == Movement::n_m_1 && shape_.order == Order::segmented) {
    std::vector<std::vector<std::int32_t>> served(io_ranks_.ranks.size());
    for (int rank = 0; rank < num; ++rank) served[at(io_ranks_.index_of[at(rank)])].push_back(rank);
    for (const auto& ranks : served) std::ranges::for_each(ranks, number);
  } else {
    for (int rank = 0; rank < num; ++rank) number(rank);
  }

  const std::uint64_t most = *std::ranges::max_element(contributors_of_);
  if (most == 0 || shape_.num_objects == 0) {
    throw Error(ExitStatus::bad_command_line, "no rank has anything to write",
                shape_.num_objects == 0 ? "ranks have no objects" : "all ranks do I/O, and such ranks bring nothing",
                shape_.num_objects == 0 ? "Choose at least one object"
                                        : "Choose fewer --io-ranks, or leave out --no-self-send");
  }
  if (!bytes_of(most, shape_.num_objects, shape_.object_size_bytes)) {
    throw Error(
        ExitStatus::bad_command_line, "a file would be longer than 2^63 - 1 bytes",
        fmt::format("{} ranks have {} objects of {} bytes in it", most, shape_.num_objects, shape_.object_size_bytes),
        "Choose fewer --objects, or a smaller --object-size");
  }
}

bool FileLayout::contributes(int rank) const {
  return !is_funnel(shape_.movement) || shape_.self_send == SelfSend::yes || opener_of(rank) != rank;
}

std::int32_t FileLayout::file_of(int rank) const {
  switch (shape_.movement) {
    case Movement::n_n:
      return rank;
    case Movement::n_m_m:
      return io_ranks_.index_of[at(rank)];
    case Movement::n_m:
      return rank % num_files_;
    case Movement::n_1:
    case Movement::n_m_1:
      return 0;
  }
  return 0;
}

ObjectLocation FileLayout::location(int rank, std::uint64_t object) const {
  const std::int32_t file = file_of(rank);
  const std::uint64_t contributor = contributor_[at(rank)];
  const std::uint64_t in_block = shape_.objects_per_block, turn = object / in_block;
  const std::uint64_t number = shape_.order == Order::strided
                                   ? (turn * contributors(file) + contributor) * in_block + object % in_block
                                   : contributor * shape_.num_objects + object;
  return {file, number * shape_.object_size_bytes};
}

std::uint64_t FileLayout::file_size_bytes(int file) const {
  return contributors(file) * shape_.num_objects * shape_.object_size_bytes;
}

std::uint64_t FileLayout::total_objects() const {
  std::uint64_t num_contributors = 0;
  for (const std::uint64_t num : contributors_of_) num_contributors += num;
  return num_contributors * shape_.num_objects;
}

std::int32_t FileLayout::opener_of(int rank) const {
  return is_funnel(shape_.movement) ? io_ranks_.ranks[at(io_ranks_.index_of[at(rank)])] : rank;
}

std::vector<std::int32_t> FileLayout::openers(int file) const {
  std::vector<std::int32_t> result;
  for (int rank = 0; rank < num_ranks(); ++rank) {
    if (is_opener(rank) && file_of(rank) == file) result.push_back(rank);
  }
  return result;
}

std::vector<std::int32_t> FileLayout::senders(int opener) const {
  std::vector<std::int32_t> result;
  for (int rank = 0; rank < num_ranks(); ++rank) {
    if (opener_of(rank) == opener && contributes(rank)) result.push_back(rank);
  }
  return result;
}

FunnelOrder::FunnelOrder(std::uint32_t num_senders, std::uint64_t first_object, std::uint64_t num_objects,
                         std::uint64_t slots_per_buffer, Order order)
    : num_senders_(num_senders),
      first_object_(first_object),
      num_objects_(num_objects),
      slots_per_buffer_(std::max<std::uint64_t>(slots_per_buffer, 1)),
      run_length_(order == Order::strided || num_senders == 0
                      ? 1
                      : std::max<std::uint64_t>(slots_per_buffer_ / num_senders, 1)) {}

std::uint64_t FunnelOrder::num_buffers() const {
  return num_slots() / slots_per_buffer_ + (num_slots() % slots_per_buffer_ == 0 ? 0 : 1);
}

FunnelSlot FunnelOrder::slot(std::uint64_t index) const {
  // All turns have runs of the same length but the last, which has what is left.
  const std::uint64_t num_full_turns = num_objects_ / run_length_;
  const std::uint64_t slots_of_turn = num_senders_ * run_length_;
  const std::uint64_t turn = std::min(index / slots_of_turn, num_full_turns);
  const std::uint64_t run = turn < num_full_turns ? run_length_ : num_objects_ % run_length_;
  const std::uint64_t within = index - turn * slots_of_turn;
  return {static_cast<std::uint32_t>(within / run), first_object_ + turn * run_length_ + within % run};
}

}  // namespace leadline::schedule
