// SPDX-License-Identifier: Apache-2.0
// Rows and header of a result out of another benchmark's text.
#include "bench/link/text_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/json.hpp"
#include "options/values.hpp"

namespace leadline::bench::link {

TextReader::TextReader(const std::string& path, const std::vector<std::string>& host_names)
    : path_(path), text_(read_benchmark_text(path)) {
  if (!host_names.empty()) name_hosts(host_names);
  header_.num_ranks = text_.num_ranks;
  header_.message_sizes_bytes = text_.message_sizes_bytes;
  header_.repeats = {{0, -1}};
  header_.has_rounds = true;
  header_.complete = text_.incomplete_reason.empty();
  header_.incomplete_reason = text_.incomplete_reason;
  header_.retests.emplace();
  std::set<std::string> hosts;
  for (std::int64_t rank = 0; rank < header_.num_ranks; ++rank) hosts.insert(placement(rank).host);
  Json command_line = Json::array();
  command_line.push_back(text_.program);
  const std::int64_t num_rounds = is_matrix() ? header_.num_ranks - 1 : 1;
  set_provenance(header_, {.command_line = command_line.in_one_line(),
                           .transport = text_.transport,
                           .num_hosts = hosts.size(),
                           .num_rounds = num_rounds,
                           .direction = text_.direction});
  header_.options = {{"transport", text_.transport},
                     {"message_size", fmt::format("{}", fmt::join(text_.message_sizes_bytes, ","))},
                     {"direction", name_of(text_.direction)},
                     {"serial", "false"},
                     {"repeat", "1"}};
  if (is_matrix()) header_.options.emplace_back("shift", "true");
  if (text_.num_messages > 0) header_.options.emplace_back("messages", std::to_string(text_.num_messages));
  if (text_.window > 0) header_.options.emplace_back("window", std::to_string(text_.window));
  check_header(path_, header_);
}

void TextReader::name_hosts(const std::vector<std::string>& host_names) {
  const std::string names = fmt::format("--host-names {}", fmt::join(host_names, ","));
  if (!text_.hosts.empty()) throw_no_effect("--host-names", fmt::format("'{}' has the names of the hosts", path_));
  if (std::cmp_not_equal(host_names.size(), text_.num_ranks)) {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} does not fit '{}'", names, path_),
                fmt::format("it has {} ranks", text_.num_ranks),
                "Give a name for each rank, of one host the same twice");
  }
  text_.hosts = host_names;
}

PairRow TextReader::row(std::size_t /*repeat_index*/, std::size_t size_index, std::int64_t rank) {
  const auto num_ranks = static_cast<std::size_t>(header_.num_ranks);
  PairRow row(num_ranks);
  if (!is_matrix()) {
    if (rank == 0) row.set(1, text_.pair[size_index]);
    return row;
  }
  const std::size_t begin = static_cast<std::size_t>(rank) * num_ranks;
  for (std::size_t partner = 0; partner < num_ranks; ++partner) {
    const double time_ns = text_.matrix_ns[begin + partner];
    if (time_ns == 0) continue;
    row.set(partner,
            pair_record({.count = 1, .min = 1, .median = 1, .mean = 1, .p99 = 1, .p999 = 1, .max = 1}, time_ns));
  }
  return row;
}

/// Of a matrix that of a ring whose distance grows from 1.
std::vector<std::int32_t> TextReader::rounds(std::size_t /*repeat_index*/, std::int64_t rank) {
  std::vector<std::int32_t> rounds(static_cast<std::size_t>(header_.num_ranks));
  for (std::int64_t partner = 0; partner < header_.num_ranks; ++partner) {
    rounds[static_cast<std::size_t>(partner)] =
        static_cast<std::int32_t>((partner - rank + header_.num_ranks) % header_.num_ranks);
  }
  return rounds;
}

RankPlacement TextReader::placement(std::int64_t rank) {
  RankPlacement placement;
  placement.host = text_.hosts.empty() ? fmt::format("rank{}", rank) : text_.hosts[static_cast<std::size_t>(rank)];
  return placement;
}

std::array<std::int32_t, 4> TextReader::location(std::int64_t rank) {
  return {static_cast<std::int32_t>(rank), 0, 0, 0};
}

std::vector<std::string> TextReader::left_out() const {
  std::vector<std::string> left_out = text_.left_out;
  if (text_.hosts.empty()) left_out.emplace_back("the names of the hosts, which the text does not say");
  return left_out;
}

}  // namespace leadline::bench::link
