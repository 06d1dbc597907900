// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a bisection test in an HDF5 file, checking shapes and types before anything is read.
#include "bench/bisection/hdf5_reader.hpp"

#include <algorithm>
#include <utility>

#include "bench/bisection/fields.hpp"
#include "result/file_kind.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/json_parts.hpp"

namespace leadline::bench::bisection {
namespace {

using result::hdf5::Shape;

constexpr const char* patterns_table = "bisection/patterns/measuring_s";
constexpr const char* baseline_table = "bisection/baseline/time_ns";
constexpr const char* kinds_table = "bisection/patterns/kind";
constexpr const char* partners_table = "bisection/receive_from";
constexpr const char* times_table = "bisection/time_ns";
constexpr std::uint64_t read_at_once = 1 << 16;

}  // namespace

Hdf5Reader::Hdf5Reader(std::string path) : RunReader(std::move(path)) {
  open(
      "bisection", header_, [this] { read_header(); },
      [this] {
        (void)num_patterns(0);
        if (header_.max_patterns > 0) (void)received_of(0, 0, 1);
        (void)num_random(0);
        (void)num_baseline(0);
      });
}

void Hdf5Reader::read_header() {
  result::hdf5::read_facts(file(), "bisection", header_);
  const auto row_length = [&](const char* table) {
    const Shape shape = file().shape_of(table);
    const bool is_of_all_sizes = shape.size() == 2 && shape[0] == header_.message_sizes_bytes.size();
    if (!is_of_all_sizes) file().fail("/" + std::string(table) + " has another shape than the rest");
    return std::uint64_t{shape[1]};
  };
  header_.max_patterns = row_length(patterns_table);
  if (file().has(baseline_table)) header_.max_baseline = row_length(baseline_table);
}

std::uint64_t Hdf5Reader::num_patterns(std::size_t size_index) const {
  return num_measured(patterns_table, header_.max_patterns, size_index);
}

/// They come first.
std::uint64_t Hdf5Reader::num_random(std::size_t size_index) const {
  const std::uint64_t num = num_patterns(size_index);
  return result::hdf5::reading(path(), [&] {
    const auto kinds = file().numbers<std::int32_t>(
        kinds_table, {header_.message_sizes_bytes.size(), header_.max_patterns}, {{size_index, 0}, {1, num}});
    const auto other = std::ranges::find_if(
        kinds, [](std::int32_t kind) { return kind != static_cast<std::int32_t>(PatternKind::random); });
    return static_cast<std::uint64_t>(other - kinds.begin());
  });
}

std::vector<Received> Hdf5Reader::received_of(std::size_t size_index, std::int64_t rank, std::uint64_t num) const {
  return result::hdf5::reading(path(), [&] {
    const Shape shape{header_.message_sizes_bytes.size(), static_cast<hsize_t>(header_.num_ranks),
                      header_.max_patterns};
    const result::hdf5::Box box{{size_index, static_cast<hsize_t>(rank), 0}, {1, 1, num}};
    const auto partners = file().numbers<std::int32_t>(partners_table, shape, box);
    const auto times_ns = file().numbers<double>(times_table, shape, box);
    std::vector<Received> received;
    for (std::size_t index = 0; index < partners.size(); ++index) {
      if (partners[index] >= header_.num_ranks) file().fail("/bisection/receive_from has a rank that does not exist");
      if (partners[index] >= 0) received.push_back({partners[index], times_ns[index]});
    }
    return received;
  });
}

std::vector<BaselineSample> Hdf5Reader::baseline_of(std::size_t size_index) const {
  const std::uint64_t num = num_baseline(size_index);
  if (num == 0) return {};
  return result::hdf5::reading(path(), [&] {
    const Shape shape{header_.message_sizes_bytes.size(), header_.max_baseline};
    const result::hdf5::Box box{{size_index, 0}, {1, num}};
    const auto from = file().numbers<std::int32_t>("bisection/baseline/from", shape, box);
    const auto to = file().numbers<std::int32_t>("bisection/baseline/to", shape, box);
    const auto times_ns = file().numbers<double>(baseline_table, shape, box);
    std::vector<BaselineSample> samples;
    for (std::size_t index = 0; index < num; ++index) {
      if (std::min(from[index], to[index]) < 0 || std::max(from[index], to[index]) >= header_.num_ranks) {
        file().fail("/bisection/baseline has a rank that does not exist");
      }
      samples.push_back({static_cast<int>(size_index), 0, from[index], to[index], times_ns[index]});
    }
    return samples;
  });
}

std::uint64_t Hdf5Reader::num_baseline(std::size_t size_index) const {
  if (header_.max_baseline == 0) return 0;
  return num_measured(baseline_table, header_.max_baseline, size_index);
}

/// What was measured lies without gaps from the beginning of a row on; behind it the row may be a hole of terabytes.
std::uint64_t Hdf5Reader::num_measured(const std::string& table, std::uint64_t row_length,
                                       std::size_t size_index) const {
  return result::hdf5::reading(path(), [&] {
    const Shape shape{header_.message_sizes_bytes.size(), row_length};
    std::uint64_t num = 0;
    while (num < row_length) {
      const std::uint64_t length = std::min(read_at_once, row_length - num);
      const auto values = file().numbers<double>(table, shape, {{size_index, num}, {1, length}});
      const auto measured = std::ranges::find_if(values, [](double value) { return !(value > 0); }) - values.begin();
      num += static_cast<std::uint64_t>(measured);
      if (std::cmp_less(measured, length)) break;
    }
    return num;
  });
}

std::vector<std::optional<KeptSize>> kept_sizes(const Header& header, const std::string& path) {
  std::vector<std::optional<KeptSize>> sizes(header.message_sizes_bytes.size());
  result::read_summary(
      header.summary, path, "a bisection test",
      [&](const Json& summary) {
        for (const Json& size : summary.at("sizes").elements()) {
          result::read_json(size, sizes.at(size.at("size_index").get<std::size_t>()).emplace());
        }
      },
      "a message size");
  return sizes;
}

}  // namespace leadline::bench::bisection
