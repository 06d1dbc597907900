// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a bisection test in an HDF5 file, checking shapes and types before anything is read.
#include "result/bisection/hdf5_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <utility>

#include "result/hdf5/run_file.hpp"
#include "result/json_parts.hpp"
#include "result/link_result_reader.hpp"

namespace leadline::result::bisection {
namespace {

using hdf5::Shape;

constexpr const char* patterns_table = "bisection/patterns/measuring_s";
constexpr const char* baseline_table = "bisection/baseline/time_ns";
constexpr std::uint64_t read_at_once = 1 << 16;

Interval interval_of(const Json& json, const char* mean, const char* half_width) {
  return {json.at("num").get<std::uint64_t>(), number_or_nan(json.at(mean)), number_or_nan(json.at(half_width))};
}

}  // namespace

Hdf5Reader::Hdf5Reader(std::string path) : path_(std::move(path)) {
  hdf5::expect_readable(path_, [&] {
    open_and_read_header();
    (void)placement(0);
    (void)num_patterns(0);
    (void)num_baseline(0);
    file_.reset();
  });
  open_and_read_header();
}

void Hdf5Reader::open_and_read_header() {
  hdf5::reading(path_, [&] {
    file_.emplace(path_);
    read_header();
  });
}

void Hdf5Reader::read_header() {
  header_ = {};
  hdf5::read_run_part_of("bisection", *file_, path_, header_);
  header_.num_participants = file_->whole_attribute("/bisection", "num_participants");
  header_.num_exchanges = file_->whole_attribute("/bisection", "num_exchanges");
  header_.seed = file_->unsigned_attribute("/bisection", "seed");
  header_.within_hosts = file_->whole_attribute("/bisection", "within_hosts") != 0;
  read_pattern_names();
  const auto row_length = [&](const char* table) {
    const Shape shape = file_->shape_of(table);
    const bool is_of_all_sizes = shape.size() == 2 && shape[0] == header_.message_sizes_bytes.size();
    if (!is_of_all_sizes) throw_damaged(path_, "/" + std::string(table) + " has another shape than the rest");
    return std::uint64_t{shape[1]};
  };
  header_.max_patterns = row_length(patterns_table);
  if (file_->has(baseline_table)) header_.max_baseline = row_length(baseline_table);
}

void Hdf5Reader::read_pattern_names() {
  if (!file_->has("bisection/pattern_names")) return;
  const Shape shape = file_->shape_of("bisection/pattern_names");
  std::error_code ignored;
  if (shape.size() != 1 || shape[0] > std::filesystem::file_size(path_, ignored)) {
    throw_damaged(path_, "/bisection/pattern_names is no list");
  }
  for (hsize_t index = 0; index < shape[0]; ++index) {
    header_.pattern_names.push_back(file_->text("bisection/pattern_names", shape, {index}));
  }
}

RankPlacement Hdf5Reader::placement(std::int64_t rank) const {
  return hdf5::reading(path_, [&] { return hdf5::read_place(*file_, header_.num_ranks, rank); });
}

std::uint64_t Hdf5Reader::num_patterns(std::size_t size_index) const {
  return num_measured(patterns_table, header_.max_patterns, size_index);
}

std::uint64_t Hdf5Reader::num_baseline(std::size_t size_index) const {
  if (header_.max_baseline == 0) return 0;
  return num_measured(baseline_table, header_.max_baseline, size_index);
}

/// What was measured lies without gaps from the beginning of a row on; behind it the row may be a hole of terabytes.
std::uint64_t Hdf5Reader::num_measured(const std::string& table, std::uint64_t row_length,
                                       std::size_t size_index) const {
  return hdf5::reading(path_, [&] {
    const Shape shape{header_.message_sizes_bytes.size(), row_length};
    std::uint64_t num = 0;
    while (num < row_length) {
      const std::uint64_t length = std::min(read_at_once, row_length - num);
      const auto values = file_->numbers<double>(table, shape, {{size_index, num}, {1, length}});
      const auto measured = std::ranges::find_if(values, [](double value) { return !(value > 0); }) - values.begin();
      num += static_cast<std::uint64_t>(measured);
      if (std::cmp_less(measured, length)) break;
    }
    return num;
  });
}

std::vector<std::optional<KeptSize>> kept_sizes(const Header& header, const std::string& path) {
  std::vector<std::optional<KeptSize>> sizes(header.message_sizes_bytes.size());
  if (!header.summary) return sizes;
  try {
    const Json summary = Json::parse(*header.summary);
    for (const Json& size : summary.at("sizes").elements()) {
      sizes.at(size.at("size_index").get<std::size_t>()) = KeptSize{
          size.at("stopped_by").get<std::string>(),
          interval_of(size.at("ebb"), "bytes_per_s_mean", "bytes_per_s_half_width"),
          interval_of(size.at("relative"), "mean", "half_width"), number_or_nan(size.at("bytes_per_s_harmonic"))};
    }
  } catch (const JsonError&) {
    throw_damaged(path, "/summary is not one of a bisection test");
  } catch (const std::out_of_range&) {
    throw_damaged(path, "/summary has a message size that the file does not have");
  }
  return sizes;
}

}  // namespace leadline::result::bisection
