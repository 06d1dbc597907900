// SPDX-License-Identifier: Apache-2.0
// Brings the points of a load together by topology and size.
#include "output/topology_load.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "output/table.hpp"
#include "output/topology_cells.hpp"
#include "stats/summary.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t most_rows = 48;

struct Course {
  std::vector<double> rates;  // in the order of time
  std::uint64_t num_exchanges = 0, num_verified = 0;
};

using Courses = std::map<std::pair<int, int>, Course>;  // by topology and size

Courses courses_of(const TopologyResult& result) {
  Courses courses;
  for (const LoadPoint& point : result.load) {
    const TopologyFacts& topology = result.topologies[static_cast<std::size_t>(point.cell.topology_index)];
    Course& course = courses[{point.cell.topology_index, point.cell.size_index}];
    course.rates.push_back(
        chosen(rates_of(topology, point.cell.message_size_bytes, point.time_ns_median), result.request.rate));
    course.num_exchanges += point.num_exchanges;
    course.num_verified += point.num_verified;
  }
  return courses;
}

}  // namespace

std::string load_text(const TopologyResult& result) {
  const Courses courses = courses_of(result);
  if (courses.empty()) return "";
  std::vector<double> all;
  for (const auto& [where, course] : courses) all.insert(all.end(), course.rates.begin(), course.rates.end());
  const Unit unit = bandwidth_unit(middle_of(all));

  Table table({{"topology", Align::left},
               {"message size"},
               {"begin"},
               {"least"},
               {"median"},
               {"last"},
               {"exchanges"},
               {"verified"}});
  std::size_t num_rows = 0;
  for (const auto& [where, course] : courses) {
    if (num_rows++ == most_rows) break;
    std::vector<double> rates = course.rates;  // which stay in the order of time
    const stats::Summary over_slices = stats::summarize(rates);
    table.add_row({result.topologies[static_cast<std::size_t>(where.first)].name,
                   format_bytes(result.request.message_sizes_bytes[static_cast<std::size_t>(where.second)]),
                   in_unit(course.rates.front(), unit), in_unit(over_slices.min, unit),
                   in_unit(over_slices.median, unit), in_unit(course.rates.back(), unit),
                   std::to_string(course.num_exchanges), std::to_string(course.num_verified)});
  }
  const LoadPoint& last = result.load.back();
  std::string text = fmt::format("load for {}, in {}: {} rate in {}, from the median exchange of each\n{}",
                                 format_duration(last.begin_s + last.elapsed_s), counted(result.load.size(), "slice"),
                                 name_of(result.request.rate), unit.name, table.text());
  if (courses.size() > most_rows) {
    text += fmt::format("  ... and {} more in the result file\n", courses.size() - most_rows);
  }
  return text;
}

}  // namespace leadline::output
