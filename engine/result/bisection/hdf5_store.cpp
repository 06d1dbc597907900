// SPDX-License-Identifier: Apache-2.0
// Which rank writes what and when into the HDF5 result of a bisection test.
#include "result/bisection/hdf5_store.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "result/bisection/json.hpp"
#include "result/collective.hpp"

namespace leadline::result::bisection {

namespace {

using bench::bisection::RankRow;
using bench::bisection::RankTimes;

Header header_with_room(const BisectionResult& so_far, const BisectionFileSetup& setup) {
  Header header = header_of(so_far);
  header.max_patterns = setup.max_patterns;
  header.max_baseline = setup.max_baseline;
  return header;
}

/// In the file 0 is what was not measured.
double or_0(double value) { return std::isfinite(value) ? value : 0; }

/// HDF5 finds out only when it closes the file, and then keeps it open.
void expect_possible_size(const std::string& path, const Header& header) {
  constexpr double most_bytes = 0x1p62, bytes_a_cell = 24;  // two ranks and two times
  const double cells = static_cast<double>(header.message_sizes_bytes.size()) * static_cast<double>(header.num_ranks) *
                       static_cast<double>(header.max_patterns);
  if (cells * bytes_a_cell <= most_bytes) return;
  throw Error(ExitStatus::bad_command_line, fmt::format("{} would be larger than any file can be", path),
              fmt::format("{} patterns of {} ranks", header.max_patterns, header.num_ranks), "Ask for fewer --rounds");
}

/// Of each element one number, as a column of a table.
template <typename Element, typename NumberOf>
auto column_of(std::span<const Element> elements, NumberOf number_of) {
  std::vector<decltype(number_of(elements.front()))> column;
  column.reserve(elements.size());
  for (const Element& element : elements) column.push_back(number_of(element));
  return column;
}

}  // namespace

Hdf5Store::Hdf5Store(cluster::Cluster& cluster, const BisectionResult& so_far, const BisectionFileSetup& setup)
    : cluster_(cluster),
      header_(header_with_room(so_far, setup)),
      file_(cluster, header_, {setup.path, setup.existing, setup.row_path, setup.place},
            [this](const OutputFile& file) {
              offsets_ = create(file);
              return offsets_.run;
            }),
      num_baseline_(header_.message_sizes_bytes.size()) {
  const std::string rows = cluster_.broadcast(as_bytes(std::span<const RowOffsets>(&offsets_.rows, 1)));
  offsets_.rows = from_bytes<RowOffsets>(rows).at(0);
}

Offsets Hdf5Store::create(const OutputFile& file) const {
  expect_possible_size(file.path(), header_);
  const Offsets offsets = create_structure(file.path(), header_);
  std::string names;
  for (const std::string& name : header_.pattern_names) names += padded(name, pattern_name_size);
  if (!names.empty()) file.write_at(offsets.pattern_names, names);
  return offsets;
}

void Hdf5Store::expect_room_for(const RankRow& row) const {
  const bool is_of_a_size = row.size_index >= 0 && std::cmp_less(row.size_index, header_.message_sizes_bytes.size());
  const bool has_room =
      row.times.size() <= header_.max_patterns && row.first_number <= header_.max_patterns - row.times.size();
  const bool has_shape = cluster_.rank() != 0 || row.patterns.size() == row.times.size();
  if (is_of_a_size && has_room && has_shape) return;
  throw write_error(path(), fmt::format("rank {} has patterns for which there is no place", cluster_.rank()));
}

/// The table says that a pattern is there, so it comes when all ranks' rows are.
void Hdf5Store::write(const RankRow& row) {
  write_rows(row);
  if (cluster_.rank() != 0) return;
  write_baseline(row.baseline);
  write_patterns(row);
}

void Hdf5Store::write_rows(const RankRow& row) {
  std::optional<Error> error;
  try {
    expect_room_for(row);
  } catch (const Error& failure) {
    error = failure;
  }
  const auto send_to = column_of(row.times, [](const RankTimes& its) { return its.to; });
  const auto receive_from = column_of(row.times, [](const RankTimes& its) { return its.from; });
  const auto time_ns = column_of(row.times, [](const RankTimes& its) { return or_0(its.time_ns); });
  const auto full_load_ns = column_of(row.times, [](const RankTimes& its) { return or_0(its.full_load_time_ns); });

  std::vector<PlacedBytes> pieces;
  const auto add = [&](std::uint64_t matrix, const auto& values) {
    const auto size_index = static_cast<std::uint64_t>(row.size_index);
    const auto plane = size_index * static_cast<std::uint64_t>(header_.num_ranks);
    const std::uint64_t first =
        (plane + static_cast<std::uint64_t>(cluster_.rank())) * header_.max_patterns + row.first_number;
    pieces.push_back({matrix + first * sizeof values.front(), bytes_of(values)});
  };
  if (!error && !row.times.empty()) {
    add(offsets_.rows.send_to, send_to);
    add(offsets_.rows.receive_from, receive_from);
    add(offsets_.rows.time_ns, time_ns);
    add(offsets_.rows.full_load_time_ns, full_load_ns);
  }
  file_.rows().put(pieces, error);
  cluster_.agree(error ? &*error : nullptr);
}

void Hdf5Store::write_patterns(const RankRow& row) {
  if (row.patterns.empty()) return;
  const PatternOffsets& offsets = offsets_.patterns;
  const std::uint64_t first = static_cast<std::uint64_t>(row.size_index) * header_.max_patterns + row.first_number;
  const auto put = [&](std::uint64_t table, auto number_of) {
    const auto column = column_of(row.patterns, number_of);
    file_.rows().file()->write_at(table + first * sizeof column.front(), bytes_of(column));
  };
  using Pattern = PatternSummary;
  put(offsets.kind, [](const Pattern& its) { return static_cast<std::int32_t>(its.place.kind); });
  put(offsets.index, [](const Pattern& its) { return its.place.index; });
  put(offsets.repeat, [](const Pattern& its) { return std::int32_t{its.place.repeat}; });
  put(offsets.accepted, [](const Pattern& its) { return static_cast<std::uint8_t>(its.accepted ? 1 : 0); });
  put(offsets.num_connections, [](const Pattern& its) { return its.num_connections; });
  put(offsets.bytes_per_s[0], [](const Pattern& its) { return or_0(its.bytes_per_s_mean); });
  put(offsets.bytes_per_s[1], [](const Pattern& its) { return or_0(its.bytes_per_s_harmonic); });
  put(offsets.bytes_per_s[2], [](const Pattern& its) { return or_0(its.bytes_per_s_min); });
  put(offsets.bytes_per_s[3], [](const Pattern& its) { return or_0(its.bytes_per_s_max); });
  put(offsets.bytes_per_s[4], [](const Pattern& its) { return or_0(its.bytes_per_s_full_load); });
  put(offsets.slowest_from, [](const Pattern& its) { return its.slowest_from; });
  put(offsets.slowest_to, [](const Pattern& its) { return its.slowest_to; });
  put(offsets.begin_s, [](const Pattern& its) { return its.begin_s; });
  put(offsets.measuring_s, [](const Pattern& its) { return its.measuring_s; });
}

void Hdf5Store::write_baseline(std::span<const BaselineSample> samples) {
  for (const BaselineSample& sample : samples) {
    std::uint64_t& num = num_baseline_.at(static_cast<std::size_t>(sample.size_index));
    if (num == header_.max_baseline) {
      throw write_error(path(), fmt::format("it has no room for more than {} pairs alone", header_.max_baseline));
    }
    const std::uint64_t at = static_cast<std::uint64_t>(sample.size_index) * header_.max_baseline + num;
    const auto put = [&](std::uint64_t table, const auto& value) {
      file_.rows().file()->write_at(table + at * sizeof value, bytes_of_one(value));
    };
    put(offsets_.baseline.number, sample.number);
    put(offsets_.baseline.from, sample.from);
    put(offsets_.baseline.to, sample.to);
    put(offsets_.baseline.time_ns, or_0(sample.time_ns));
    ++num;
  }
}

void Hdf5Store::finish(const BisectionResult& result) {
  file_.finish(
      result, header_, [&] { return json_text(result); }, [&] { add_end(path(), header_); });
}

}  // namespace leadline::result::bisection
