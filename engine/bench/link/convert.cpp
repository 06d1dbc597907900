// SPDX-License-Identifier: Apache-2.0
// Writes the rows and the header of one result into a file of the other format.
#include "bench/link/convert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>

#include "bench/link/hdf5_store.hpp"
#include "bench/link/sion_offsets.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "result/output_file.hpp"
#include "result/shared_file.hpp"
#include "result/sion/container/encoding.hpp"

namespace leadline::bench::link {
namespace {

template <typename Value>
bool is_zero(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [](Value value) { return value == Value{}; });
}

class ToHdf5 {
 public:
  ToHdf5(ResultReader& input, const result::OutputFile& output)
      : input_(input), header_(input.header()), output_(output) {}

  void known(const FixedOffsets& offsets);
  void repeat(std::size_t index, const RepeatOffsets& offsets);
  void status(const FixedOffsets& offsets);
  LeftOut losses() const;

  RankPlacement placement(std::int64_t rank) {
    RankPlacement found = input_.placement(rank);
    has_cut_ |= found.host.size() > result::host_size || found.device.size() > result::device_size ||
                found.cpus.size() > result::cpus_size;
    return found;
  }

 private:
  void rank(const FixedOffsets& offsets, std::int64_t rank);
  void slice(const RepeatOffsets& offsets, std::size_t repeat_index, std::size_t size_index, std::int64_t rank);
  /// A row of a table whose rows are all as long; holes stay holes.
  template <typename Value>
  void put(std::uint64_t table, std::int64_t row, const std::vector<Value>& values) {
    if (!is_zero(values)) put_text(table, row, result::bytes_of(values));
  }
  void put_text(std::uint64_t table, std::int64_t row, std::string_view text) {
    const auto write = [this](std::uint64_t offset, std::string_view bytes) { output_.write_at(offset, bytes); };
    tables_.try_emplace(table, write).first->second.add(table + static_cast<std::uint64_t>(row) * text.size(), text);
  }
  void flush() {
    for (auto& [_, writes] : tables_) writes.flush();
    tables_.clear();
  }

  ResultReader& input_;
  const Header& header_;
  const result::OutputFile& output_;
  std::map<std::uint64_t, result::GatheredWrites> tables_;  ///< those that are being written, by their places
  bool has_cut_ = false;
};

void ToHdf5::known(const FixedOffsets& offsets) {
  output_.write_at(offsets.message_size, result::bytes_of(header_.message_sizes_bytes));
  for (std::int64_t each = 0; !header_.stored_rounds && each < header_.num_ranks; ++each) rank(offsets, each);
  flush();
}

void ToHdf5::rank(const FixedOffsets& offsets, std::int64_t rank) {
  if (header_.linktest) {
    const auto location = input_.location(rank);
    put(offsets.location, rank, std::vector(location.begin(), location.end()));
  }
  std::int64_t at = rank;
  for (const std::int32_t seated : input_.ranks_on_seat(rank)) {
    put(offsets.permutations, at, std::vector{seated});
    at += header_.num_ranks;
  }
}

void ToHdf5::repeat(std::size_t index, const RepeatOffsets& offsets) {
  for (std::int64_t rank = 0; rank < header_.num_ranks; ++rank) {
    if (header_.has_rounds && !header_.is_compact) put(offsets.round, rank, input_.rounds(index, rank));
  }
  for (std::size_t size = 0; size < header_.message_sizes_bytes.size(); ++size) {
    for (std::int64_t rank = 0; rank < header_.num_ranks; ++rank) slice(offsets, index, size, rank);
    flush();
  }
}

void ToHdf5::slice(const RepeatOffsets& offsets, std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const std::int64_t row_index = static_cast<std::int64_t>(size_index) * header_.num_ranks + rank;
  if (header_.stored_rounds) {
    put(offsets.cells, row_index, input_.cells_of_rounds(repeat_index, size_index, rank));
  } else if (const PairRow row = input_.row(repeat_index, size_index, rank); header_.is_compact) {
    put(offsets.cells, row_index, cells_of(row, in_schedule(input_.rounds(repeat_index, rank))));
  } else {
    auto offset = offsets.pairs.begin();
    row.for_each([&](const auto&, const auto& values) {
      const std::uint64_t table = *offset++;
      if (table != 0) put(table, row_index, values);
    });
  }
  if (header_.num_all_to_all_slots == 0) return;
  put(offsets.all_to_all_time_ns, row_index, input_.all_to_all_ns(repeat_index, size_index, rank));
}

void ToHdf5::status(const FixedOffsets& offsets) {
  const std::uint8_t complete = header_.complete ? 1 : 0;
  output_.write_at(offsets.complete, std::as_bytes(std::span(&complete, 1)));
  output_.write_at(offsets.reason, result::padded(header_.incomplete_reason, result::reason_size));
}

LeftOut ToHdf5::losses() const {
  if (!has_cut_) return {};
  return {fmt::format("ends of names (hosts and devices beyond {} characters, cores beyond {})", result::host_size,
                      result::cpus_size)};
}

constexpr std::uint64_t max_number = std::numeric_limits<std::int32_t>::max();

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

[[noreturn]] void throw_too_large(const std::string& path, const std::string& what) {
  throw Error(ExitStatus::bad_command_line, fmt::format("SION cannot hold '{}'", path), what,
              "LinkTest's record has 32 bits for it: keep the result in HDF5");
}

class ToSion {
 public:
  ToSion(ResultReader& input, const result::OutputFile& output, SionRecord record)
      : input_(input),
        header_(input.header()),
        record_time_(header_.is_compact ? &PairRecord::time_ns_median : &PairRecord::time_ns_mean),
        output_(output),
        plan_(shape_of(header_, record), record == SionRecord::plain ? 0 : encode_run_part(header_).size()),
        offsets_(plan_.offsets()) {}

  void write(const std::string& name);

 private:
  bool is_extended() const { return offsets_.shape().record == SionRecord::extended; }
  bool is_in_record(const Retest& retest) const {
    return !header_.repeats.empty() && retest.repeat == header_.repeats.front().repeat && retest.size_index == 0;
  }
  result::sion::LinkTestRun run();
  void add_times(result::sion::LinkTestRun& run);
  result::sion::LinkTestRecord record(std::int64_t rank);
  void extension(std::int64_t rank);
  void slice(std::uint64_t payload, std::size_t repeat_index, std::size_t size_index, std::int64_t rank);

  template <typename Value>
  void put(std::uint64_t offset, const std::vector<Value>& values) {
    const bool is_hole = std::all_of(values.begin(), values.end(), [](Value value) { return value == Value{}; });
    if (!is_hole) output_.write_at(offset, result::bytes_of(values));
  }

  ResultReader& input_;
  const Header& header_;
  PairTime record_time_;  ///< what LinkTest's record has of a pair
  const result::OutputFile& output_;
  SionFilePlan plan_;
  const SionOffsets& offsets_;
};

/// Least, greatest and mean of the record's times, and of those of its all-to-alls.
void ToSion::add_times(result::sion::LinkTestRun& run) {
  if (header_.repeats.empty()) return;
  struct Sum {
    double min_s = 0, max_s = 0, sum_s = 0, num = 0;
    void add(double time_s) {
      min_s = num == 0 ? time_s : std::min(min_s, time_s);
      max_s = std::max(max_s, time_s);
      sum_s += time_s;
      ++num;
    }
    result::sion::LinkTestTimes summary() const { return {min_s, max_s, num == 0 ? 0 : sum_s / num}; }
  };
  Sum times, all_to_all;
  for (std::int64_t rank = 0; rank < header_.num_ranks; ++rank) {
    const PairRow row = input_.row(0, 0, rank);
    for (std::size_t partner = 0; partner < row.size(); ++partner) {
      if (row[&PairRecord::count][partner] > 0) times.add(seconds_of_ns(row[record_time_][partner]));
    }
    for (const double time_ns : input_.all_to_all_ns(0, 0, rank)) {
      if (time_ns > 0) all_to_all.add(seconds_of_ns(time_ns));
    }
  }
  run.times = times.summary();
  run.all_to_all_times = all_to_all.summary();
}

result::sion::LinkTestRun ToSion::run() {
  result::sion::LinkTestRun run;
  run.has_all_to_all = offsets_.shape().has_all_to_all;
  if (header_.linktest) {
    const LinkTestOrigin& origin = *header_.linktest;
    run.num_iterations = origin.num_iterations;
    run.message_size_bytes = origin.message_size_bytes;
    run.is_serial = origin.is_serial;
    run.is_permuted = origin.is_permuted;
    run.times = {origin.times_s[0], origin.times_s[1], origin.times_s[2]};
    run.all_to_all_times = {origin.all_to_all_times_s[0], origin.all_to_all_times_s[1], origin.all_to_all_times_s[2]};
  } else {
    run.num_iterations = static_cast<std::int32_t>(number_of(result::option_text(header_, "messages")));
    run.message_size_bytes = static_cast<std::int32_t>(header_.message_sizes_bytes.front());
    run.is_serial = result::option_text(header_, "serial") == "true";
    run.is_permuted = header_.num_permutations > 0;
    add_times(run);
  }
  for (const Retest& retest : header_.retests.value_or(std::vector<Retest>{})) {
    if (!is_in_record(retest) || std::ssize(run.retests) == header_.num_ranks) continue;
    run.retests.push_back(
        {retest.from, retest.to, seconds_of_ns(retest.retest_time_ns), seconds_of_ns(retest.time_ns)});
  }
  return run;
}

result::sion::LinkTestRecord ToSion::record(std::int64_t rank) {
  const auto num_ranks = static_cast<std::size_t>(header_.num_ranks);
  result::sion::LinkTestRecord record;
  record.host_name = input_.placement(rank).host;
  record.location = input_.location(rank);
  if (rank == 0) record.run = run();
  record.time_s.resize(num_ranks);
  record.step.resize(num_ranks);
  if (offsets_.shape().has_all_to_all) record.all_to_all_time_s.resize(num_ranks);
  if (header_.repeats.empty()) return record;

  const PairRow row = input_.row(0, 0, rank);
  for (std::size_t partner = 0; partner < num_ranks; ++partner) {
    record.time_s[partner] = seconds_of_ns(row[record_time_][partner]);
  }
  if (header_.has_rounds) record.step = input_.rounds(0, rank);
  const std::vector<double> all_to_all_ns = input_.all_to_all_ns(0, 0, rank);
  for (std::size_t step = 1; step < std::min(num_ranks, all_to_all_ns.size() + 1); ++step) {
    record.all_to_all_time_s[step] = seconds_of_ns(all_to_all_ns[step - 1]);
  }
  return record;
}

void ToSion::extension(std::int64_t rank) {
  const auto index = static_cast<std::uint64_t>(rank);
  const std::uint64_t payload = plan_.payload(index);
  output_.write_at(plan_.extension(index), plan_.envelope(index));
  output_.write_at(payload, encode_rank_head(offsets_.shape(), index, input_.placement(rank)));
  put(payload + offsets_.permutations(), input_.ranks_on_seat(rank));
  for (std::size_t repeat = 0; repeat < header_.repeats.size(); ++repeat) {
    const KeptRepeat& kept = header_.repeats[repeat];
    put(payload + offsets_.repeat(repeat), std::vector{kept.repeat, kept.permutation});
    if (header_.has_rounds) put(payload + offsets_.rounds(repeat), input_.rounds(repeat, rank));
    for (std::size_t size = 0; size < header_.message_sizes_bytes.size(); ++size) slice(payload, repeat, size, rank);
  }
  if (rank + 1 == header_.num_ranks) output_.write_at(plan_.run_part(), encode_run_part(header_));
}

void ToSion::slice(std::uint64_t payload, std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const PairRow row = input_.row(repeat_index, size_index, rank);
  put(payload + offsets_.count(repeat_index, size_index), row[&PairRecord::count]);
  for (std::size_t i = 0; i < sion_times.size(); ++i) {
    put(payload + offsets_.times(repeat_index, size_index, i), row[sion_times.at(i)]);
  }
  put(payload + offsets_.all_to_all(repeat_index, size_index), input_.all_to_all_ns(repeat_index, size_index, rank));
}

void ToSion::write(const std::string& name) {
  const result::sion::Layout layout = plan_.layout(result::sion::prefix_for(name));
  output_.write_at(0, result::sion::encode_meta1(layout));
  const bool has_all_to_all = offsets_.shape().has_all_to_all;
  for (std::int64_t rank = 0; rank < header_.num_ranks; ++rank) {
    const result::sion::RecordShape shape{header_.num_ranks, rank, has_all_to_all};
    output_.write_at(plan_.chunk(static_cast<std::uint64_t>(rank)),
                     result::sion::encode_linktest_record(record(rank), shape));
    if (is_extended()) extension(rank);
  }
  output_.write_at(static_cast<std::uint64_t>(layout.meta2_offset), result::sion::encode_meta2(layout));
  output_.sync();
  output_.write_at(static_cast<std::uint64_t>(result::sion::end_mark_offset(header_.num_ranks)),
                   result::sion::encode_end_mark(layout));
}

/// A plain record has one time a pair and next to nothing about the run.
LeftOut losses_of_plain(const Header& header) {
  LeftOut losses;
  if (header.is_compact) {
    losses.emplace_back("all statistics but the median, options, provenance and places of ranks");
  } else if (!header.linktest) {
    losses.push_back("all statistics but the mean, options, provenance and places of ranks");
  }
  if (header.message_sizes_bytes.size() > 1) losses.push_back("all message sizes but the first");
  if (header.repeats.size() > 1) losses.push_back("all repeats but the first");
  if (header.num_permutations > 0) losses.push_back("the permutations");
  if (!header.complete) losses.push_back("that the result is not complete");
  return losses;
}

}  // namespace

LeftOut write_hdf5(ResultReader& input, const std::string& path) {
  result::OutputFile output = result::OutputFile::create(path, result::ExistingFile::refuse);
  const Header& header = input.header();
  const FixedOffsets fixed = create_structure(path, header);
  const std::vector<RepeatOffsets> repeats = add_repeats(path, header, header.repeats);
  add_end(path, header);
  ToHdf5 conversion(input, output);
  result::hdf5::add_places(path, header.num_ranks, [&](std::int64_t rank) { return conversion.placement(rank); });
  conversion.known(fixed);
  for (std::size_t index = 0; index < repeats.size(); ++index) conversion.repeat(index, repeats[index]);
  output.sync();
  conversion.status(fixed);
  output.sync();
  output.close();
  return conversion.losses();
}

LeftOut write_sion(ResultReader& input, const std::string& path, SionRecord record, const std::string& name) {
  const Header& header = input.header();
  const std::uint64_t message_size = header.message_sizes_bytes.front();
  if (message_size > max_number) throw_too_large(input.path(), "a message size of " + format_bytes(message_size));
  if (number_of(result::option_text(header, "messages")) > max_number) {
    throw_too_large(input.path(), result::option_text(header, "messages") + " messages");
  }
  result::OutputFile output = result::OutputFile::create(path, result::ExistingFile::refuse);
  ToSion(input, output, record).write(name);
  output.sync();
  output.close();
  if (record == SionRecord::plain) return losses_of_plain(header);
  if (header.is_compact) return {"the means, which LinkTest's record wants: it has the medians instead"};
  if (!header.has_later_statistics) return {};
  return {fmt::format("{} of each pair", fmt::join(result::hdf5::later_fields<PairRecord>(), ", "))};
}

}  // namespace leadline::bench::link
