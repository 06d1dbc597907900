// SPDX-License-Identifier: Apache-2.0
// What the JSON document of a congestion test says.
#include "bench/congestion/json.hpp"

#include <optional>
#include <tuple>

#include "bench/congestion/json_fields.hpp"
#include "result/json_parts.hpp"

namespace leadline::bench::congestion {

constexpr const char* about_of(Type<CongestionResult> /*any*/) {
  return "What leadline congestion writes as JSON, and into /summary of its HDF5 file. Base units only: bytes, "
         "nanoseconds, seconds, bytes per second. null = not measured.";
}

/// Whose times grow most, in words that stand alone.
struct WorstOfResult {
  NamedCell cell;
  Test test = Test::latency;
  std::string quantile;
  Factor factor;
};

constexpr const char* about_of(Type<WorstOfResult> /*any*/) {
  return "The median or 99 % quantile whose factor is the greatest by the low end of its interval.";
}

constexpr auto fields_of(Type<WorstOfResult> /*any*/) {
  return std::tuple_cat(result::fields_through<NamedCell>(&WorstOfResult::cell),
                        std::tuple{
                            field("test", &WorstOfResult::test, "", "which test"),
                            field("quantile", &WorstOfResult::quantile, "", "median or p99"),
                            field("factor", &WorstOfResult::factor, "", "loaded by alone"),
                        });
}

namespace {

NamedCell named(const CongestionResult& result, const Cell& cell) {
  return {cell.load < 0 ? "" : result.request.loads[static_cast<std::size_t>(cell.load)], cell.intensity_percent};
}

std::vector<NamedCell> cells_of_result(const CongestionResult& result) {
  std::vector<NamedCell> cells;
  for (const Cell& cell : result.cells) cells.push_back(named(result, cell));
  return cells;
}

std::vector<KeptImpact> impacts_of_result(const CongestionResult& result) {
  std::vector<KeptImpact> impacts;
  for (const Impact& impact : result.impacts) impacts.push_back({impact, named(result, impact.cell)});
  return impacts;
}

std::vector<KeptLoad> loads_of_result(const CongestionResult& result) {
  std::vector<KeptLoad> loads;
  for (const LoadSummary& load : result.loads) loads.push_back({load, named(result, load.cell)});
  return loads;
}

std::optional<WorstOfResult> worst_of_result(const CongestionResult& result) {
  const auto worst = worst_of(result);
  if (!worst) return std::nullopt;
  return WorstOfResult{named(result, worst->impact->cell), worst->impact->test, worst->quantile, worst->factor};
}

}  // namespace

constexpr auto fields_of(Type<CongestionResult> /*any*/) {
  return std::tuple_cat(
      result::beginning_of_document<"congestion", CongestionResult>(), result::run_fields,
      std::tuple{
          field("victims", &CongestionResult::victims, "", "ranks that measure; the others load the network"),
          field("num_load_ranks", &CongestionResult::num_load_ranks, "1", "ranks that load the network"),
          field("victims_are_hosts", &CongestionResult::victims_are_hosts, "", "a host has victims only, or none"),
          field("cells", cells_of_result, "", "each load with each intensity, in the order of the tables of the file"),
          field("worst", worst_of_result, "", "what grows most under load; null where nothing surely does"),
          field("impacts", impacts_of_result, "", "what each load does to each test"),
          field("loads", loads_of_result, "", "what each load reaches"),
      });
}

std::string json_text(const CongestionResult& result) { return result::text_of(result::json_of(result)); }

Json schema() { return result::document_schema<CongestionResult>("congestion-result", "Summary of a congestion test"); }

}  // namespace leadline::bench::congestion
