// SPDX-License-Identifier: Apache-2.0
// Finds a result's parts in a rank's bytes, checking each before it is used.
#include "bench/link/sion_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/link/request.hpp"
#include "core/error.hpp"

namespace leadline::bench::link {

namespace {

using result::sion::damaged;

constexpr std::uint64_t max_permutations = 1 << 20;
constexpr std::uint64_t text_piece_bytes = 1 << 16;

std::string word_for(bool value) { return value ? "true" : "false"; }

}  // namespace

SionReader::SionReader(const std::string& path)
    : path_(path),
      file_(result::sion::Reader::open(path, {.unfinished = result::sion::Unfinished::salvage})),
      order_(file_.payload_order()) {
  file_.expect_distinct_ranks();
  header_.num_ranks = file_.num_tasks();
  header_.has_later_statistics = false;
  const result::sion::LinkTestRun run = read_record_of_rank_0();
  if (is_extended()) {
    take_extended();
  } else {
    take_plain(run);
  }
  header_.complete = header_.complete && !file_.is_unfinished();
  if (!header_.complete && header_.incomplete_reason.empty()) header_.incomplete_reason = result::reason_from_the_start;
  check_header(path_, header_);
}

std::string SionReader::bytes(std::int64_t rank, std::uint64_t offset, std::uint64_t size) {
  const auto available = static_cast<std::uint64_t>(file_.size_bytes(rank));
  if (offset > available || size > available - offset) {
    throw damaged(path_, {"EXTENSION",
                          fmt::format("rank {} has {} bytes, but {} are needed at {}", rank, available, size, offset)});
  }
  std::string text(size, '\0');
  text.resize(file_.read(rank, static_cast<std::int64_t>(offset), text));
  if (text.size() != size)
    throw damaged(path_, {"TRUNCATED", fmt::format("rank {} has fewer bytes than it says", rank)});
  return text;
}

template <typename Number>
std::vector<Number> SionReader::numbers(std::int64_t rank, std::uint64_t offset, std::uint64_t count) {
  const std::string text = bytes(rank, offset, count * sizeof(Number));
  std::vector<Number> list(count);
  result::sion::ByteCursor(text, order_).take(std::span(list));
  return list;
}

result::sion::LinkTestRun SionReader::read_record_of_rank_0() {
  std::string start(8, '\0');
  start.resize(file_.read(0, 0, start));
  const bool is_linktest = start.starts_with("LKTST") || start.starts_with("LinkTest");
  if (!is_linktest && file_.is_unfinished()) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path_ + "'",
                "unfinished SION file, UNCLOSED: no result of LinkTest is in it so far");
  }
  if (!is_linktest) {
    throw Error(ExitStatus::bad_command_line, "cannot read '" + path_ + "'", "SION, but not a result of LinkTest",
                "A result of leadline link or LinkTest is wanted");
  }
  SionShape shape{.num_ranks = static_cast<std::uint64_t>(header_.num_ranks), .record = SionRecord::plain};
  const auto size = static_cast<std::uint64_t>(file_.size_bytes(0));
  const std::uint64_t without_all_to_all = SionOffsets(shape).record_bytes(0);
  std::string record = bytes(0, 0, std::min(size, without_all_to_all));
  shape.has_all_to_all = result::sion::linktest_has_all_to_all(record, header_.num_ranks, order_, path_);
  offsets_ = SionOffsets(shape);
  record = bytes(0, 0, std::min(size, offsets_.record_bytes(0)));
  const result::sion::DecodedRecord decoded = result::sion::decode_linktest_record(
      record, {header_.num_ranks, 0, shape.has_all_to_all}, order_, result::sion::Trailing::anything, path_);

  const std::uint64_t behind = size - offsets_.record_bytes(0);
  const std::string magic = bytes(0, offsets_.record_bytes(0), std::min<std::uint64_t>(behind, 8));
  if (magic == result::sion::linktest_extension_magic) {
    shape.record = SionRecord::extended;
    offsets_ = SionOffsets(shape);
  } else if (behind > 0 && !file_.is_unfinished()) {
    throw damaged(path_, {"RECORDSIZE", fmt::format("{} unknown bytes behind the record of rank 0", behind)});
  }
  std::vector<Retest> retests;
  for (const result::sion::LinkTestRetest& retest : decoded.record.run->retests) {
    retests.push_back(
        {0, 0, retest.from_rank, retest.to_rank, ns_of_seconds(retest.first_time_s), ns_of_seconds(retest.time_s)});
  }
  header_.retests = std::move(retests);
  return *decoded.record.run;
}

/// The bytes that all records begin with; whether they are a record is checked.
std::string SionReader::first_common_bytes(std::int64_t rank) {
  const auto size = static_cast<std::uint64_t>(file_.size_bytes(rank));
  const std::uint64_t expected = offsets_.record_bytes(static_cast<std::uint64_t>(rank));
  const bool may_be_longer = is_extended() || file_.is_unfinished();
  if (size < expected || (size > expected && !may_be_longer)) {
    throw damaged(path_, {"RECORDSIZE", fmt::format("rank {} has {} bytes, not {}", rank, size, expected)});
  }
  std::string head = bytes(rank, 0, offsets_.record_head_bytes(1));
  if (!head.starts_with("LKTST")) throw damaged(path_, {"RECORDID", fmt::format("rank {} has no record", rank)});
  return head;
}

/// What a record without extension says, and what is known of all of them.
void SionReader::take_plain(const result::sion::LinkTestRun& run) {
  LinkTestOrigin origin;
  origin.num_iterations = run.num_iterations;
  origin.message_size_bytes = run.message_size_bytes;
  origin.has_all_to_all = run.has_all_to_all;
  origin.is_serial = run.is_serial;
  origin.is_permuted = run.is_permuted;
  origin.times_s = {run.times.min_s, run.times.max_s, run.times.mean_s};
  origin.all_to_all_times_s = {run.all_to_all_times.min_s, run.all_to_all_times.max_s, run.all_to_all_times.mean_s};
  header_.linktest = origin;
  if (run.message_size_bytes < 0)
    result::throw_damaged(path_, fmt::format("the message size is {}", run.message_size_bytes));

  header_.message_sizes_bytes = {static_cast<std::uint64_t>(run.message_size_bytes)};
  header_.repeats = {{0, -1}};
  header_.has_rounds = true;
  header_.num_all_to_all_slots = run.has_all_to_all ? std::max<std::int64_t>(1, header_.num_ranks - 1) : 0;
  header_.complete = true;

  std::set<std::string> hosts;
  for (std::int64_t rank = 0; rank < header_.num_ranks; ++rank) hosts.insert(placement(rank).host);
  const std::vector<std::int32_t> steps = rounds(0, 0);
  const std::int64_t num_rounds = *std::max_element(steps.begin(), steps.end());
  set_provenance(header_, {.transport = "mpi", .num_hosts = hosts.size(), .num_rounds = num_rounds});
  header_.options = {{"transport", "mpi"},
                     {"message_size", std::to_string(run.message_size_bytes)},
                     {"messages", std::to_string(run.num_iterations)},
                     {"direction", name_of(Direction::semidirectional)},
                     {"all_to_all", name_of(run.has_all_to_all ? AllToAll::before_each_round : AllToAll::none)},
                     {"serial", word_for(run.is_serial)},
                     {"repeat", "1"}};
}

std::uint64_t SionReader::payload(std::int64_t rank) const {
  return offsets_.record_bytes(static_cast<std::uint64_t>(rank)) + result::sion::linktest_extension_header_bytes;
}

/// The length of a rank's extension, by its envelope.
std::uint64_t SionReader::expect_extension(std::int64_t rank) {
  const std::string envelope = bytes(rank, offsets_.record_bytes(static_cast<std::uint64_t>(rank)),
                                     result::sion::linktest_extension_header_bytes);
  if (!envelope.starts_with(result::sion::linktest_extension_magic)) {
    throw damaged(path_, {"EXTENSION", fmt::format("rank {} has none", rank)});
  }
  result::sion::ByteCursor cursor(std::string_view(envelope).substr(result::sion::linktest_extension_magic.size()),
                                  order_);
  const auto version = cursor.take<std::uint32_t>();
  if (version != result::sion::linktest_extension_version) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path_ + "'",
                fmt::format("its extension has version {}; this program knows version {}", version,
                            result::sion::linktest_extension_version),
                "Use a newer leadline");
  }
  cursor.take<std::uint32_t>();
  const auto length = cursor.take<std::uint64_t>();
  const auto room = static_cast<std::uint64_t>(file_.size_bytes(rank)) - payload(rank);
  if (length > room || (length < room && !file_.is_unfinished())) {
    throw damaged(path_,
                  {"EXTENSION", fmt::format("rank {} has {} bytes of it in the space of {}", rank, length, room)});
  }
  return length;
}

void SionReader::check_extension(std::int64_t rank, std::uint64_t payload_bytes) {
  const std::uint64_t wanted = offsets_.rank_part_bytes();
  const bool has_run_part = rank == last_rank();
  if (has_run_part ? payload_bytes < wanted + run_texts_offset : payload_bytes != wanted) {
    throw damaged(path_, {"EXTENSION", fmt::format("rank {} has {} bytes of it, not {}", rank, payload_bytes, wanted)});
  }
  const RankHead head = decode_rank_head(bytes(rank, payload(rank), rank_head_bytes), order_);
  SionShape shape = head.shape;
  shape.has_all_to_all = offsets_.shape().has_all_to_all;
  shape.record = SionRecord::extended;
  if (shape != offsets_.shape() || std::cmp_not_equal(head.rank, rank)) {
    throw damaged(path_,
                  {"EXTENSION", fmt::format("rank {} says that it is rank {}, or of another run", rank, head.rank)});
  }
}

void SionReader::take_extended() {
  const std::uint64_t payload_bytes = expect_extension(0);
  if (payload_bytes < rank_head_bytes) throw damaged(path_, {"EXTENSION", "that of rank 0 is cut off"});
  SionShape shape = decode_rank_head(bytes(0, payload(0), rank_head_bytes), order_).shape;
  shape.has_all_to_all = offsets_.shape().has_all_to_all;
  shape.record = SionRecord::extended;
  const bool is_sane = shape.num_ranks == offsets_.shape().num_ranks && shape.num_permutations <= max_permutations &&
                       shape.num_all_to_all_slots <= 2 * shape.num_ranks &&
                       shape.has_all_to_all == (shape.num_all_to_all_slots > 0) && SionOffsets(shape).is_sound();
  if (!is_sane) throw damaged(path_, {"EXTENSION", "the numbers of ranks, permutations or rounds cannot be"});
  offsets_ = SionOffsets(shape);
  check_extension(0, payload_bytes);

  header_.num_permutations = static_cast<std::int32_t>(shape.num_permutations);
  header_.num_all_to_all_slots = static_cast<std::int64_t>(shape.num_all_to_all_slots);
  header_.has_rounds = shape.has_rounds;
  for (std::uint64_t index = 0; index < shape.num_repeats; ++index) {
    const auto both = numbers<std::int32_t>(0, payload(0) + offsets_.repeat(index), 2);
    // At once: the number of repeats may be a lie about a hole in the file.
    if (!header_.repeats.empty() && both[0] <= header_.repeats.back().repeat) {
      throw damaged(path_,
                    {"EXTENSION", fmt::format("repeat {} follows repeat {}", both[0], header_.repeats.back().repeat)});
    }
    header_.repeats.push_back({both[0], both[1]});
  }
  header_.retests.reset();
  header_.second_measurements.reset();
  take_run_part(expect_extension(last_rank()));
  if (header_.message_sizes_bytes.size() != shape.num_sizes) {
    throw damaged(path_, {"EXTENSION", fmt::format("{} message sizes, but room for {}",
                                                   header_.message_sizes_bytes.size(), shape.num_sizes)});
  }
}

void SionReader::take_run_part(std::uint64_t payload_bytes) {
  check_extension(last_rank(), payload_bytes);
  const std::uint64_t begin = payload(last_rank()) + offsets_.rank_part_bytes();
  const std::uint64_t end = payload(last_rank()) + payload_bytes;
  header_.complete = numbers<std::uint64_t>(last_rank(), begin, 1)[0] != 0;
  const std::string reason = bytes(last_rank(), begin + run_reason_offset, run_reason_bytes);
  header_.incomplete_reason = reason.substr(0, reason.find('\0'));
  std::uint64_t offset = begin + run_texts_offset;
  const std::string start_text = run_text(offset, end);
  const std::string end_text = run_text(offset, end);
  const std::string summary = run_text(offset, end);
  const std::string problem = decode_run_texts(start_text, end_text, summary, header_);
  if (!problem.empty())
    throw damaged(path_, {"EXTENSION", "what is said about the run cannot be understood: " + problem});
  if (header_.format_version > result::result_format_version) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path_ + "'",
                fmt::format("format version {}; this program knows up to {}", header_.format_version,
                            result::result_format_version),
                "Use a newer leadline");
  }
}

/// A text behind its length; piece by piece, so that a length that is a lie about a hole ends at the first zero.
std::string SionReader::run_text(std::uint64_t& offset, std::uint64_t end) {
  const auto length = numbers<std::uint64_t>(last_rank(), offset, 1)[0];
  offset += sizeof length;
  if (offset > end || length > end - offset) throw damaged(path_, {"EXTENSION", "a text is cut off"});
  std::string text;
  while (text.size() < length) {
    text += bytes(last_rank(), offset + text.size(), std::min(text_piece_bytes, length - text.size()));
    if (text.find('\0', text.size() - std::min<std::size_t>(text.size(), text_piece_bytes)) != std::string::npos) {
      throw damaged(path_, {"EXTENSION", "a text has zeros in it"});
    }
  }
  offset += length;
  return text;
}

PairRow SionReader::row(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const auto num_ranks = static_cast<std::uint64_t>(header_.num_ranks);
  PairRow row(num_ranks);
  first_common_bytes(rank);
  if (is_extended()) {
    if (checked_rank_ != rank) check_extension(rank, expect_extension(rank));
    checked_rank_ = rank;
    const std::uint64_t start = payload(rank);
    row[&PairRecord::count] = numbers<std::uint32_t>(rank, start + offsets_.count(repeat_index, size_index), num_ranks);
    for (std::size_t i = 0; i < sion_times.size(); ++i) {
      row[sion_times.at(i)] = numbers<double>(rank, start + offsets_.times(repeat_index, size_index, i), num_ranks);
    }
  } else {
    const auto times_s = numbers<double>(rank, offsets_.record_times(static_cast<std::uint64_t>(rank)), num_ranks);
    for (std::size_t partner = 0; partner < num_ranks; ++partner) {
      const double time_ns = ns_of_seconds(times_s[partner]);
      // LinkTest keeps one time for all messages to a partner: that of one batch.
      if (time_ns == 0) continue;
      PairRecord record{.count = 1};
      for (const PairTime time : sion_times) record.*time = time_ns;
      row.set(partner, record);
    }
  }
  expect_times(path_, row, rank);
  return row;
}

std::vector<double> SionReader::all_to_all_ns(std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const auto num_slots = static_cast<std::uint64_t>(header_.num_all_to_all_slots);
  if (num_slots == 0) return {};
  if (is_extended()) {
    return numbers<double>(rank, payload(rank) + offsets_.all_to_all(repeat_index, size_index), num_slots);
  }
  // By step, from 1 on.
  const std::uint64_t table = offsets_.record_all_to_all(static_cast<std::uint64_t>(rank));
  std::vector<double> times = numbers<double>(rank, table, static_cast<std::uint64_t>(header_.num_ranks));
  std::rotate(times.begin(), times.begin() + 1, times.end());
  times.resize(num_slots);
  for (double& time : times) time = ns_of_seconds(time);
  return times;
}

std::vector<std::int32_t> SionReader::rounds(std::size_t repeat_index, std::int64_t rank) {
  if (!header_.has_rounds) return {};
  const std::uint64_t offset = is_extended() ? payload(rank) + offsets_.rounds(repeat_index)
                                             : offsets_.record_steps(static_cast<std::uint64_t>(rank));
  return numbers<std::int32_t>(rank, offset, static_cast<std::uint64_t>(header_.num_ranks));
}

std::vector<std::int32_t> SionReader::ranks_on_seat(std::int64_t seat) {
  if (header_.num_permutations == 0) return {};
  return numbers<std::int32_t>(seat, payload(seat) + offsets_.permutations(),
                               static_cast<std::uint64_t>(header_.num_permutations));
}

RankPlacement SionReader::placement(std::int64_t rank) {
  const std::string head = first_common_bytes(rank);
  if (is_extended()) {
    check_extension(rank, expect_extension(rank));
    return decode_rank_head(bytes(rank, payload(rank), rank_head_bytes), order_).placement;
  }
  constexpr std::size_t host_offset = 17;
  const std::string host = head.substr(host_offset, result::sion::linktest_host_name_bytes);
  RankPlacement placement;
  placement.host = host.substr(0, host.find('\0'));
  return placement;
}

std::array<std::int32_t, 4> SionReader::location(std::int64_t rank) {
  constexpr std::uint64_t location_offset = 273;
  const auto all = numbers<std::int32_t>(rank, location_offset, 4);
  return {all[0], all[1], all[2], all[3]};
}

}  // namespace leadline::bench::link
