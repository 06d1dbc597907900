// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a parallel file test in an HDF5 file, checking shapes and types before anything is read.
#include "bench/io/hdf5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "result/file_kind.hpp"
#include "result/hdf5/described_structs.hpp"

namespace leadline::bench::io {
namespace {

using result::hdf5::Shape;

constexpr std::uint64_t read_at_once = 1 << 16;

/// Older files do not have them.
std::vector<std::int32_t> storage_targets(const result::hdf5::Input& file, const Shape& shape,
                                          const result::hdf5::Box& box) {
  constexpr const char* name = "io/ranks/storage_target";
  if (file.has(name)) return file.numbers<std::int32_t>(name, shape, box);
  return std::vector<std::int32_t>(shape[1], storage::unknown_target);
}

}  // namespace

Hdf5Reader::Hdf5Reader(std::string path) : RunReader(std::move(path)) {
  open(
      "io", header_, [this] { read_header(); },
      [this] {
        (void)phases_of({0, std::min<std::uint64_t>(1, header_.num_phases)});
      });
}

void Hdf5Reader::read_header() {
  result::hdf5::read_facts(file(), "io", header_);
  const Shape shape = file().shape_of("io/phases/state");
  if (shape.size() != 1) file().fail("/io/phases/state has another shape than the rest");
  header_.num_phases = shape[0];
}

std::vector<StoredPhase> Hdf5Reader::phases() const {
  return result::hdf5::reading(path(), [&] {
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
  const result::hdf5::Box box{{range.begin}, {range.num}};
  const auto numbers = [&](const char* name) { return file().numbers<std::int32_t>(name, shape, box); };
  const auto state = numbers("io/phases/state"), operation = numbers("io/phases/operation"),
             repeat = numbers("io/phases/repeat");
  std::vector<StoredPhase> phases;
  for (std::size_t index = 0; index < state.size() && state[index] != 0; ++index) {
    const std::uint64_t number = range.begin + index;
    const bool is_operation = operation[index] >= 0 && std::cmp_less(operation[index], names_of(IoOperation{}).size());
    if (state[index] < 0 || state[index] > 2 || !is_operation) {
      file().fail(fmt::format("phase {} has state {} and operation {}", number, state[index], operation[index]));
    }
    phases.push_back({.operation = static_cast<IoOperation>(operation[index]),
                      .repeat = repeat[index],
                      .is_complete = state[index] == 1,
                      .summary = file().text("io/phases/summary", shape, {number})});
  }
  return phases;
}

std::vector<RankRate> Hdf5Reader::rates_of_ranks(std::size_t phase) const {
  return result::hdf5::reading(path(), [&] {
    const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
    const Shape shape{header_.num_phases, num_ranks};
    const result::hdf5::Box box{{phase, 0}, {1, num_ranks}};
    const auto bytes = file().numbers<std::uint64_t>("io/ranks/bytes", shape, box);
    const auto io_ns = file().numbers<double>("io/ranks/io_ns", shape, box);
    const auto files = file().numbers<std::int32_t>("io/ranks/file", shape, box);
    const auto num_objects = file().numbers<std::uint64_t>("io/ranks/num_objects", shape, box);
    const auto targets = storage_targets(file(), shape, box);
    std::vector<RankRate> rates;
    for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
      rates.push_back({bytes[rank], io_ns[rank], files[rank], num_objects[rank], targets[rank]});
    }
    return rates;
  });
}

std::vector<JudgedRow> Hdf5Reader::judged_rows(std::size_t phase) const {
  return result::hdf5::reading(path(), [&] {
    const auto num_ranks = static_cast<hsize_t>(header_.num_ranks);
    const Shape shape{header_.num_phases, num_ranks};
    const result::hdf5::Box box{{phase, 0}, {1, num_ranks}};
    const auto bytes = file().numbers<std::uint64_t>("io/ranks/bytes", shape, box);
    const auto files = file().numbers<std::int32_t>("io/ranks/file", shape, box);
    const auto times = [&](const char* name) { return file().numbers<double>(name, shape, box); };
    const auto call_ns = times("io/ranks/call_ns"), wait_ns = times("io/ranks/wait_ns"),
               sync_ns = times("io/ranks/sync_ns"), close_ns = times("io/ranks/close_ns"),
               open_ns = times("io/ranks/open_ns");
    const auto num_objects = file().numbers<std::uint64_t>("io/ranks/num_objects", shape, box);
    const auto targets = storage_targets(file(), shape, box);
    constexpr const char *joint_table = "io/ranks/joint_ns",
                         *system_table = "io/ranks/system_bytes";  // not in older files
    std::vector<double> joint_ns(bytes.size(), 0);
    std::vector<std::uint64_t> system_bytes(bytes.size(), 0);
    if (file().has(joint_table)) joint_ns = times(joint_table);
    if (file().has(system_table)) system_bytes = file().numbers<std::uint64_t>(system_table, shape, box);
    std::vector<JudgedRow> rows;
    for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
      rows.push_back({static_cast<std::int32_t>(rank), static_cast<std::int32_t>(phase), files[rank], targets[rank],
                      bytes[rank], call_ns[rank], wait_ns[rank], sync_ns[rank], close_ns[rank], open_ns[rank],
                      num_objects[rank], joint_ns[rank], system_bytes[rank]});
    }
    return rows;
  });
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
    result::read_json(summary, phase);
    phase.is_of_earlier_version = summary.find("bytes_per_s_io") == nullptr;
    if (phase.is_of_earlier_version) phase.bytes_per_s_io = phase.bytes_per_s;
    phase.bytes_per_s = phase.bytes_per_s_wall;
  } catch (const JsonError&) {
    result::throw_damaged(path, fmt::format("/io/phases/summary of the {} of repeat {} is not one of a phase",
                                            name_of(stored.operation), stored.repeat));
  }
  return phase;
}

}  // namespace leadline::bench::io
