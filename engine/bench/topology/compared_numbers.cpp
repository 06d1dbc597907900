// SPDX-License-Identifier: Apache-2.0
// Times of exchanges, and what each host takes for its own part of them.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "bench/topology/hdf5_reader.hpp"
#include "command/compared_run.hpp"
#include "core/json.hpp"
#include "diagnosis/evidence.hpp"
#include "result/file_kind.hpp"
#include "stats/interval.hpp"

namespace leadline::bench::topology {
namespace {

class TimesReader : public Hdf5Reader {
 public:
  using Hdf5Reader::Hdf5Reader;

  /// By rank: its own median time of an exchange in a repeat; 0 = not measured.
  std::vector<double> rank_medians_ns(std::size_t topology_index, std::size_t repeat, std::size_t size_index) const {
    return result::hdf5::reading(path(), [&] {
      const auto num_ranks = static_cast<hsize_t>(header().num_ranks);
      const result::hdf5::Shape shape{static_cast<hsize_t>(header().num_repeats), header().message_sizes_bytes.size(),
                                      num_ranks};
      return file().numbers<double>(fmt::format("topologies/{:04}/rank_time_ns_median", topology_index), shape,
                                    {{repeat, size_index, 0}, {1, 1, num_ranks}});
    });
  }
};

/// Of a topology with a message size, by repeat or by point of load: ln of the median, and its standard error.
struct Times {
  std::vector<double> logarithms, errors;
};

diagnosis::RunNumber number_of(const std::string& topology, std::uint64_t size_bytes, const Times& times) {
  stats::RunningMean mean;
  for (const double one : times.logarithms) mean.add(one);
  // Repeats tell how much the time differs within a run, single exchanges less.
  const double error = mean.num() > 1         ? std::sqrt(mean.variance() / static_cast<double>(mean.num()))
                       : times.errors.empty() ? std::nan("")
                                              : times.errors.front();
  return {.name = "exchange, " + topology,
          .message_size_bytes = size_bytes,
          .part = {},
          .unit = NumberUnit::ns,
          .value = std::exp(mean.mean()),
          .error = error};
}

void add_times(const Json& summary, const Header& header, diagnosis::RunNumbers& run) {
  std::map<std::pair<std::size_t, std::uint64_t>, Times> times;
  for (const Json& cell : summary.at("cells").elements()) {
    const Json& exchange = cell.at("exchange");
    if (exchange.at("time_ns_median").is_null()) continue;
    Times& known =
        times[{cell.at("topology_index").get<std::size_t>(), cell.at("message_size_bytes").get<std::uint64_t>()}];
    known.logarithms.push_back(std::log(exchange.at("time_ns_median").get<double>()));
    const Json& interval = exchange.at("median_interval_ns");
    if (interval.elements().size() != 2 || interval.at(0).is_null() || interval.at(1).is_null()) continue;
    const double width = std::log(interval.at(1).get<double>() / interval.at(0).get<double>());
    known.errors.push_back(width / 2 / diagnosis::both_sides);
  }
  for (const Json& point : summary.at("load").elements()) {
    const auto index = point.at("topology_index").get<std::size_t>();
    times[{index, point.at("message_size_bytes").get<std::uint64_t>()}].logarithms.push_back(
        std::log(point.at("time_ns_median").get<double>()));
  }
  for (const auto& [key, of_key] : times) {
    run.numbers.push_back(number_of(header.topologies.at(key.first).name, key.second, of_key));
  }
}

/// A host's time is the median over its ranks and repeats.
void add_hosts(const TimesReader& reader, diagnosis::RunNumbers& run) {
  const Header& header = reader.header();
  std::vector<std::string> host_of;
  for (std::int64_t rank = 0; rank < header.num_ranks; ++rank) host_of.push_back(reader.placement(rank).host);
  for (std::size_t topology = 0; topology < header.topologies.size(); ++topology) {
    for (std::size_t size = 0; size < header.message_sizes_bytes.size(); ++size) {
      diagnosis::TimesOfParts times;
      for (std::int32_t repeat = 0; repeat < header.num_repeats; ++repeat) {
        const auto medians_ns = reader.rank_medians_ns(topology, static_cast<std::size_t>(repeat), size);
        for (std::size_t rank = 0; rank < medians_ns.size(); ++rank) {
          if (medians_ns[rank] > 0) times[host_of[rank]].push_back(std::log(medians_ns[rank]));
        }
      }
      add_parts(run, "exchange, " + header.topologies[topology].name, header.message_sizes_bytes[size], times);
    }
  }
}

}  // namespace

diagnosis::RunNumbers numbers_of(const std::string& path) {
  const TimesReader reader(path);
  const Header& header = reader.header();
  diagnosis::RunNumbers run = command::compared_run(reader, {"mode", "edges", "max_outstanding", "shared_buffers"},
                                                    {"iterations", "warmup", "wait", "allocator", "verify"});
  run.conditions.emplace_back("duration", header.has_load ? "a load" : "cells");
  result::read_summary(
      header.summary, path, "a topology test", [&](const Json& summary) { add_times(summary, header, run); },
      "a topology");
  if (!header.has_load) add_hosts(reader, run);
  return run;
}

}  // namespace leadline::bench::topology
