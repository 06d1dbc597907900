// SPDX-License-Identifier: Apache-2.0
// The result of a collective test as JSON; docs/formats/json.md.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "bench/collective/output.hpp"
#include "bench/collective/result.hpp"
#include "core/json.hpp"
#include "model/fields.hpp"
#include "result/described_json.hpp"
#include "result/json_file.hpp"

namespace leadline::bench::collective {

constexpr auto fields_of(Type<CellSummary> /*any*/) {
  return std::tuple{
      field("operation", result::through(&CellSummary::cell, &Cell::operation), "", "which operation"),
      field("message_size_bytes", result::through(&CellSummary::cell, &Cell::message_size_bytes), "bytes",
            "the larger buffer of a rank, as asked for"),
      field("num", &CellSummary::num, "1", "batches, over groups and rounds: the sample size of all that follows"),
      field("time_ns_min", &CellSummary::min, "ns", "an operation of a batch, on the slowest rank: shortest"),
      field("time_ns_median", &CellSummary::median, "ns", "median"),
      field("time_ns_mean", &CellSummary::mean, "ns", "arithmetic mean"),
      field("time_ns_p99", &CellSummary::p99, "ns", "99 % quantile"),
      field("time_ns_max", &CellSummary::max, "ns", "longest"),
      field("algorithm_bytes_per_s", result::through(&CellSummary::bandwidths, &Bandwidths::algorithm_bytes_per_s),
            "bytes/s", "algbw of nccl-tests: size by time, median"),
      field("bus_bytes_per_s", result::through(&CellSummary::bandwidths, &Bandwidths::bus_bytes_per_s), "bytes/s",
            "busbw of nccl-tests: what a link of a ring carries, median"),
  };
}

/// A document with a line end. What was not measured is null.
std::string json_text(const CollectiveResult& result);

/// The JSON Schema of such documents.
Json schema();

/// Of a run that fails it has who took part; times are kept in HDF5 only.
class JsonStore : public result::RunDocument<CollectiveFile, CollectiveResult> {
 public:
  /// Collective; see open_collective_file.
  JsonStore(cluster::Cluster& cluster, CollectiveResult so_far, const result::RunFileSetup& setup)
      : RunDocument(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

  void write(const CellRow& /*row*/) override {}
};

}  // namespace leadline::bench::collective
