// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a parallel file test in an HDF5 file, checking shapes and types before anything is read.
#include "result/io/hdf5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "result/hdf5/run_file.hpp"
#include "result/json_parts.hpp"
#include "result/link_result_reader.hpp"

namespace leadline::result::io {
namespace {

using hdf5::Shape;

constexpr std::uint64_t read_at_once = 1 << 16;

}  // namespace

Hdf5Reader::Hdf5Reader(std::string path) : path_(std::move(path)) {
  hdf5::expect_readable(path_, [&] {
    open_and_read_header();
    (void)placement(0);
    (void)phases_of({0, std::min<std::uint64_t>(1, header_.num_phases)});
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
  hdf5::read_run_part_of("io", *file_, path_, header_);
  header_.movement = file_->text_attribute("/io", "movement");
  header_.order = file_->text_attribute("/io", "order");
  header_.backend_library = file_->text_attribute("/io", "backend_library");
  header_.file_system = file_->text_attribute("/io", "file_system");
  header_.num_objects = file_->unsigned_attribute("/io", "num_objects");
  header_.object_size_bytes = file_->unsigned_attribute("/io", "object_size_bytes");
  header_.run = file_->unsigned_attribute("/io", "run");
  read_lists();
  const Shape shape = file_->shape_of("io/phases/state");
  if (shape.size() != 1) throw_damaged(path_, "/io/phases/state has another shape than the rest");
  header_.num_phases = shape[0];
}

void Hdf5Reader::read_lists() {
  std::error_code ignored;
  const auto file_bytes = std::filesystem::file_size(path_, ignored);
  const auto list_shape = [&](const char* name) {
    Shape shape = file_->shape_of(name);
    if (shape.size() != 1 || shape[0] > file_bytes) throw_damaged(path_, "/" + std::string(name) + " is no list");
    return shape;
  };
  if (file_->has("io/io_ranks")) {
    const Shape shape = list_shape("io/io_ranks");
    header_.io_ranks = file_->numbers<std::int32_t>("io/io_ranks", shape, {{0}, shape});
  }
  if (!file_->has("io/files")) return;
  const Shape shape = list_shape("io/files");
  for (hsize_t index = 0; index < shape[0]; ++index) header_.files.push_back(file_->text("io/files", shape, {index}));
}

RankPlacement Hdf5Reader::placement(std::int64_t rank) const {
  return hdf5::reading(path_, [&] { return hdf5::read_place(*file_, header_.num_ranks, rank); });
}

std::vector<StoredPhase> Hdf5Reader::phases() const {
  return hdf5::reading(path_, [&] {
    std::vector<StoredPhase> phases;
    while (phases.size() < header_.num_phases) {
      const std::uint64_t num = std::min(read_at_once, header_.num_phases - phases.size());
      std::vector<StoredPhase> next = phases_of({phases.size(), num});
      const bool is_end = next.size() < num;
      std::ranges::move(next, std::back_inserter(phases));
      if (is_end) break;
    }
    return phases;
  });
}

/// They lie without gaps from the beginning on; behind them the tables may be a hole of terabytes.
std::vector<StoredPhase> Hdf5Reader::phases_of(const Range& range) const {
  const Shape shape{header_.num_phases};
  const hdf5::Box box{{range.begin}, {range.num}};
  const auto numbers = [&](const char* name) { return file_->numbers<std::int32_t>(name, shape, box); };
  const auto state = numbers("io/phases/state"), operation = numbers("io/phases/operation"),
             repeat = numbers("io/phases/repeat");
  std::vector<StoredPhase> phases;
  for (std::size_t index = 0; index < state.size() && state[index] != 0; ++index) {
    const std::uint64_t number = range.begin + index;
    if (state[index] < 0 || state[index] > 2 || operation[index] < 0 || operation[index] > 1) {
      throw_damaged(path_,
                    fmt::format("phase {} has state {} and operation {}", number, state[index], operation[index]));
    }
    phases.push_back({.operation = operation[index] == 0 ? IoOperation::write : IoOperation::read,
                      .repeat = repeat[index],
                      .is_complete = state[index] == 1,
                      .summary = file_->text("io/phases/summary", shape, {number})});
  }
  return phases;
}

std::vector<KeptPhase> kept_phases(const Hdf5Reader& reader) {
  std::vector<KeptPhase> phases;
  for (const StoredPhase& stored : reader.phases()) phases.push_back(kept_phase(stored, reader.path()));
  return phases;
}

KeptPhase kept_phase(const StoredPhase& stored, const std::string& path) {
  KeptPhase phase;
  phase.operation = stored.operation;
  phase.repeat = stored.repeat;
  phase.is_complete = stored.is_complete;
  try {
    const Json summary = Json::parse(stored.summary);
    summary.at("error").get_to(phase.error);
    // Older files know of none.
    const Json* const is_interrupted = summary.find("is_interrupted");
    phase.is_interrupted = is_interrupted != nullptr && is_interrupted->get<bool>();
    summary.at("bytes").get_to(phase.bytes);
    summary.at("num_mismatches").get_to(phase.num_mismatches);
    phase.wall_ns = number_or_nan(summary.at("wall_ns"));
    phase.bytes_per_s = number_or_nan(summary.at("bytes_per_s"));
    phase.bytes_per_s_wall = number_or_nan(summary.at("bytes_per_s_wall"));
    if (const Json& source = summary.at("source"); !source.is_null()) source.get_to(phase.source);
    if (const Json& is_durable = summary.at("is_durable"); !is_durable.is_null())
      phase.is_durable = is_durable.get<bool>();
  } catch (const JsonError&) {
    throw_damaged(path, fmt::format("/io/phases/summary of the {} of repeat {} is not one of a phase",
                                    name_of(stored.operation), stored.repeat));
  }
  return phase;
}

}  // namespace leadline::result::io
