// SPDX-License-Identifier: Apache-2.0
// What the JSON document of a topology test says.
#include "bench/topology/json.hpp"

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "bench/topology/fields.hpp"
#include "bench/topology/request.hpp"
#include "result/diagnosis_json.hpp"
#include "result/json_parts.hpp"

namespace leadline::bench::topology {

/// What turns the time of an exchange into rates.
struct Exchange {
  const TopologyFacts* topology;
  ServedChannels served;
  std::uint64_t message_size_bytes = 0;

  Rates rates(double time_ns) const { return rates_of(*topology, served, message_size_bytes, time_ns); }
};

struct TimesOfCell : ExchangeTimes {
  Exchange exchange;
};

/// A channel's time with the size of its messages.
struct TimedChannel : ChannelTime {
  std::uint64_t message_size_bytes = 0;
};

struct CellOfResult : CellSummary {
  const TopologyFacts* topology;

  Exchange exchange_of() const { return {topology, served, cell.message_size_bytes}; }
};

struct LoadOfResult : LoadPoint {
  const TopologyFacts* topology;
};

/// The ranks of a cell by their rates.
struct RanksOfCell {
  std::optional<RankRate> slowest, fastest;
  double median_bytes_per_s;
};

namespace {

/// What the numbers of a cell stand for.
template <typename Part>
constexpr auto names_of_cell = std::tuple{
    field("topology", result::through(&Part::topology, &TopologyFacts::name), "", "its name"),
    field("message_size_bytes", result::through(&Part::cell, &Cell::message_size_bytes), "bytes", "size of a message"),
};

TimesOfCell with_barrier(const CellOfResult& cell) { return {cell.with_barrier, cell.exchange_of()}; }
TimesOfCell without_barrier(const CellOfResult& cell) { return {cell.exchange, cell.exchange_of()}; }

double total_by_elapsed_time(const LoadOfResult& point) {
  const Exchange exchange{point.topology, point.served, point.cell.message_size_bytes};
  return exchange.rates(point.time_ns_mean()).total;
}

std::optional<RankRate> if_measured(const RankRate& rate) { return rate.rank < 0 ? std::nullopt : std::optional(rate); }

RanksOfCell ranks_of(const CellOfResult& cell) {
  return {if_measured(cell.slowest_rank), if_measured(cell.fastest_rank), cell.median_rank_bytes_per_s};
}

std::optional<TimedChannel> slowest_channel(const CellOfResult& cell) {
  if (cell.slowest_channel.from < 0) return std::nullopt;
  return TimedChannel{cell.slowest_channel, cell.cell.message_size_bytes};
}

/// With the topology of each.
template <typename Whole, typename Part>
std::vector<Whole> parts_of(const TopologyResult& result, const std::vector<Part>& parts) {
  std::vector<Whole> all;
  for (const Part& part : parts) {
    all.push_back({part, &result.topologies.at(static_cast<std::size_t>(part.cell.topology_index))});
  }
  return all;
}

}  // namespace

constexpr const char* about_of(Type<Rates> /*any*/) { return "Rates that follow from the time of an exchange."; }

constexpr const char* about_of(Type<TimesOfCell> /*any*/) {
  return "Distribution over the timed exchanges of a cell, and rates at its median and mean.";
}

constexpr const char* about_of(Type<RankRate> /*any*/) { return "A rank and its own rate; null = not measured."; }

constexpr const char* about_of(Type<PairAlone> /*any*/) {
  return "Two ranks that sent each other a message, one behind the other, while all others rested.";
}

constexpr const char* about_of(Type<TopologyResult> /*any*/) {
  return "What leadline topology writes as JSON, and into /summary of its HDF5 file. Base units only: bytes, "
         "nanoseconds, "
         "seconds, bytes per second. null = not measured.";
}

constexpr auto fields_of(Type<Rates> /*any*/) {
  return std::tuple{
      field("local_bytes_per_s", &Rates::local, "bytes/s", "what the rank with the most channels sends and receives"),
      field("total_bytes_per_s", &Rates::total, "bytes/s", "all channels"),
      field("average_bytes_per_s", &Rates::average, "bytes/s", "one channel"),
  };
}

constexpr auto fields_of(Type<TimesOfCell> /*any*/) {
  return std::tuple{
      field("num", &ExchangeTimes::num, "1", "timed exchanges: the sample size of all that follows"),
      field("time_ns_min", &ExchangeTimes::min, "ns", "fastest exchange"),
      field("time_ns_median", &ExchangeTimes::median, "ns", "median"),
      field("time_ns_mean", &ExchangeTimes::mean, "ns", "arithmetic mean"),
      field("time_ns_p99", &ExchangeTimes::p99, "ns", "99 % quantile"),
      field("time_ns_max", &ExchangeTimes::max, "ns", "slowest exchange"),
      field(
          "median_interval_ns",
          [](const TimesOfCell& times) {
            return std::array{times.median_low, times.median_high};
          },
          "ns", "95 % interval of the median: low, high"),
      field(
          "at_median", [](const TimesOfCell& times) { return times.exchange.rates(times.median); }, "",
          "at the median time"),
      field(
          "at_mean", [](const TimesOfCell& times) { return times.exchange.rates(times.mean); }, "", "at the mean time"),
  };
}

constexpr auto fields_of(Type<RankRate> /*any*/) {
  return std::tuple{
      field("rank", &RankRate::rank, "", "which rank"),
      field("bytes_per_s", &RankRate::bytes_per_s, "bytes/s", "its own rate"),
  };
}

constexpr auto fields_of(Type<RanksOfCell> /*any*/) {
  return std::tuple{
      field("slowest", &RanksOfCell::slowest, "", "the slowest rank"),
      field("fastest", &RanksOfCell::fastest, "", "the fastest rank"),
      field("median_bytes_per_s", &RanksOfCell::median_bytes_per_s, "bytes/s",
            "median over the ranks that have channels"),
  };
}

constexpr auto fields_of(Type<TimedChannel> /*any*/) {
  return std::tuple{
      field("from", &ChannelTime::from, "", "rank that sends"),
      field("to", &ChannelTime::to, "", "rank that receives"),
      field("time_ns", &ChannelTime::time_ns, "ns", "from the beginning of an exchange to the arrival"),
      field(
          "bytes_per_s",
          [](const TimedChannel& channel) {
            return 1e9 * static_cast<double>(channel.message_size_bytes) / channel.time_ns;
          },
          "bytes/s", "message size divided by that time"),
  };
}

constexpr auto fields_of(Type<CellOfResult> /*any*/) {
  return std::tuple_cat(
      cell_fields<CellSummary>("repeat, from 0"), names_of_cell<CellOfResult>,
      std::tuple{
          field("with_barrier", with_barrier, "", "by rank 0's clock, closing barrier included: as NETTEST measures"),
          field("exchange", without_barrier, "", "of each exchange its slowest rank, without the closing barrier"),
          field(
              "ranks", ranks_of, "",
              "ranks by their own rates: bytes that a rank sends and receives in an exchange, by the median of its own "
              "time for it"),
          field("slowest_channel", slowest_channel, "",
                "the direction of a channel whose message arrives last, by the median over the traced exchanges; "
                "null = not measured"),
          field("fairness", &CellSummary::fairness, "",
                "Jain's index over the rates of the directions of channels; 1 = all alike"),
          field("measuring_s", &CellSummary::measuring_s, "s",
                "time for the cell, all exchanges and the file included"),
      });
}

constexpr auto fields_of(Type<LoadOfResult> /*any*/) {
  return std::tuple_cat(
      fields<LoadPoint>, names_of_cell<LoadOfResult>,
      std::tuple{
          field("total_bytes_per_s", total_by_elapsed_time, "bytes/s", "all channels, by elapsed time"),
      });
}

constexpr auto fields_of(Type<TopologyFacts> /*any*/) {
  return std::tuple{
      field("name", &TopologyFacts::name, "", "as asked for: star2, torus:4x4"),
      field("shape", &TopologyFacts::shape, "", "which ranks share a channel"),
      field("mode", &TopologyFacts::mode, "", "how the messages of a channel go"),
      field("num_channels", &TopologyFacts::num_channels, "1", "channels, each counted once"),
      field("max_channels_rank", &TopologyFacts::max_channels_rank, "1", "channels of the rank that has the most"),
      field("num_ways", result::through(&TopologyFacts::mode, schedule::num_ways), "1",
            "messages of a channel in an exchange: 1 or 2"),
      field(
          "extents",
          [](const TopologyFacts& topology) {
            using Extents = result::OptionalKey<std::vector<std::int32_t>>;
            return topology.extents.empty() ? Extents() : Extents{topology.extents};
          },
          "", "torus only: ranks along each dimension; the first varies fastest"),
  };
}

constexpr auto fields_of(Type<TopologyResult> /*any*/) {
  return std::tuple_cat(
      result::beginning_of_document<"topology", TopologyResult>(), result::run_fields,
      std::tuple{
          field("topologies", &TopologyResult::topologies, "", "in the order asked for"),
          field(
              "cells", [](const TopologyResult& result) { return parts_of<CellOfResult>(result, result.cells); }, "",
              "one entry for each topology with each message size in each repeat, in the order measured; empty with "
              "--duration"),
          field(
              "load", [](const TopologyResult& result) { return parts_of<LoadOfResult>(result, result.load); }, "",
              "with --duration: some seconds of one topology with one message size, in the order measured; otherwise "
              "empty"),
          field("pairs_alone", &TopologyResult::pairs_alone, "",
                "pairs that were measured again alone, those that seemed slow and some by chance; empty with "
                "--duration, and where nobody is judged",
                Since::later_version),
          field("diagnoses", &TopologyResult::diagnoses, "",
                "one entry for each topology with each message size that was measured: who is slow in it; empty with "
                "--duration",
                Since::later_version),
          field(
              "faults", [](const TopologyResult& result) { return result::joined_faults(result.diagnoses); }, "",
              result::about_joined_faults, Since::later_version),
      });
}

std::string json_text(const TopologyResult& result) { return result::text_of(result::json_of(result)); }

Json schema() { return result::document_schema<TopologyResult>("topology-result", "Summary of a topology test"); }

JsonStore::JsonStore(cluster::Cluster& cluster, TopologyResult so_far, const TopologyFileSetup& setup)
    : RunDocument(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(std::size_t, const CellRow&, const CellSummary& summary) {
  add([&](TopologyResult& so_far) { so_far.cells.push_back(summary); });
}

void JsonStore::write(std::size_t, const LoadPoint& point) {
  add([&](TopologyResult& so_far) { so_far.load.push_back(point); });
}

}  // namespace leadline::bench::topology
