// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a congestion test in an HDF5 file, checking shapes and types before anything is read.
#include "bench/congestion/hdf5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "command/compared_run.hpp"
#include "core/json.hpp"
#include "result/file_kind.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/json_parts.hpp"
#include "stats/interval.hpp"

namespace leadline::bench::congestion {

Hdf5Reader::Hdf5Reader(std::string path) : RunReader(std::move(path)) {
  open(
      "congestion", header_, [this] { read_header(); }, [this] { (void)num_rounds_measured(); });
}

void Hdf5Reader::read_header() {
  result::hdf5::read_facts(file(), "congestion", header_);
  const std::size_t num = header_.cell_loads.size();
  const auto is_known = [&](std::int32_t load) { return load >= -1 && std::cmp_less(load, header_.loads.size()); };
  if (num == 0 || header_.cell_intensities.size() != num || !std::ranges::all_of(header_.cell_loads, is_known)) {
    file().fail("/congestion has cells without their loads");
  }
}

std::string Hdf5Reader::name_of_cell(std::size_t cell) const {
  const std::int32_t load = header_.cell_loads[cell];
  if (load < 0) return "no load";
  return fmt::format("{} {} %", header_.loads[static_cast<std::size_t>(load)], header_.cell_intensities[cell]);
}

std::vector<double> Hdf5Reader::by_round(const std::string& table, std::size_t cell, Test test) const {
  return result::hdf5::reading(path(), [&] {
    const auto num = static_cast<hsize_t>(header_.num_rounds);
    return file().numbers<double>("congestion/rounds/" + table, {num_cells(), num_tests, num},
                                  {{cell, static_cast<hsize_t>(test), 0}, {1, 1, num}});
  });
}

std::int32_t Hdf5Reader::num_rounds_measured() const {
  const std::vector<double> means = by_round("loaded_time_ns_mean", 0, Test::allreduce);
  return static_cast<std::int32_t>(std::ranges::count_if(means, [](double mean) { return mean > 0; }));
}

std::vector<KeptImpact> kept_impacts(const Header& header, const std::string& path) {
  std::vector<KeptImpact> impacts;
  const auto times_of = [](const Json& json) {
    Times times;
    result::read_json(json, times);
    return times;
  };
  const auto factor_of = [](const Json& json) {
    Factor factor;
    result::read_json(json, factor);
    return factor;
  };
  result::read_summary(header.summary, path, "a congestion test", [&](const Json& summary) {
    for (const Json& json : summary.at("impacts").elements()) {
      KeptImpact& impact = impacts.emplace_back();
      if (!json.at("load").is_null()) impact.named.load = json.at("load").get<std::string>();
      impact.named.intensity_percent = json.at("intensity_percent").get<std::int32_t>();
      impact.cell.load = impact.named.load.empty() ? -1 : 0;
      const auto word = [&](const char* key, auto& member) {
        const auto name = json.at(key).get<std::string>();
        for (const auto& one : names_of(member)) {
          if (one.name == name) member = one.value;
        }
      };
      word("test", impact.test);
      word("shared", impact.shared);
      impact.num_rounds = json.at("num_rounds").get<std::uint32_t>();
      impact.alone = times_of(json.at("alone"));
      impact.loaded = times_of(json.at("loaded"));
      impact.mean = factor_of(json.at("mean"));
      impact.median = factor_of(json.at("median"));
      impact.p99 = factor_of(json.at("p99"));
      impact.p999 = factor_of(json.at("p999"));
    }
  });
  return impacts;
}

namespace {

/// Rounds tell how much a time differs within a run.
void add_number(const Hdf5Reader& reader, const std::string& name, const std::string& table, std::size_t cell,
                Test test, diagnosis::RunNumbers& run) {
  stats::RunningMean logarithms;
  for (const double time_ns : reader.by_round(table, cell, test)) {
    if (time_ns > 0) logarithms.add(std::log(time_ns));
  }
  if (logarithms.num() == 0) return;
  const std::uint64_t size =
      test == Test::bandwidth ? reader.header().message_sizes_bytes.front() : small_message_bytes;
  run.numbers.push_back({.name = name,
                         .message_size_bytes = size,
                         .part = {},
                         .unit = NumberUnit::ns,
                         .value = std::exp(logarithms.mean()),
                         .error = std::sqrt(logarithms.variance() / static_cast<double>(logarithms.num()))});
}

}  // namespace

diagnosis::RunNumbers numbers_of(const std::string& path) {
  const Hdf5Reader reader(path);
  diagnosis::RunNumbers run = command::compared_run(
      reader, {"victims", "share_hosts", "load", "intensity", "load_size"}, {"interval", "test_time", "wait"});
  for (std::size_t cell = 0; cell < reader.num_cells(); ++cell) {
    for (const Test test : all_tests) {
      for (const char* const quantile : {"median", "p99"}) {
        add_number(reader, fmt::format("{} {}, {}", name_of(test), quantile, reader.name_of_cell(cell)),
                   fmt::format("loaded_time_ns_{}", quantile), cell, test, run);
      }
    }
  }
  return run;
}

}  // namespace leadline::bench::congestion
