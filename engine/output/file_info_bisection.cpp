// SPDX-License-Identifier: Apache-2.0
// The description of a bisection test's result, as text and as JSON.
#include "output/file_info_bisection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/units.hpp"
#include "output/bisection_text.hpp"
#include "output/file_info.hpp"
#include "output/table.hpp"
#include "result/json_parts.hpp"

namespace leadline::output {

namespace {

using result::bisection::KeptSize;

constexpr std::size_t most_sizes_shown = 64;

std::string participants_text(const result::bisection::Header& header) {
  const auto participants = static_cast<std::uint64_t>(header.num_participants);
  return line("participants", fmt::format("{}{}", counted(participants, "rank"),
                                          header.within_hosts ? ", pairs within hosts, too" : ""));
}

std::string patterns_text(const result::bisection::Header& header) {
  const std::string asked = harmless(result::option_text(header, "pattern"));
  return line("patterns", fmt::format("{}; seed {}, {} each", asked, header.seed,
                                      counted(static_cast<std::uint64_t>(header.num_exchanges), "exchange")));
}

/// The eBB of all sizes goes in one unit.
Unit unit_of_ebb(const std::vector<BisectionSizeInfo>& sizes) {
  std::vector<double> bandwidths;
  for (const BisectionSizeInfo& size : sizes) {
    if (size.numbers) bandwidths.push_back(size.numbers->ebb.mean);
  }
  return bandwidth_unit(middle_of(bandwidths));
}

std::string size_table(const BisectionInfo& info) {
  const Unit unit = unit_of_ebb(info.sizes);
  Table table({{"message size"},
               {"patterns"},
               {"pairs alone"},
               {fmt::format("eBB {}", unit.name)},
               {"of pairs alone"},
               {"stopped by", Align::left}});
  const std::size_t num_shown = std::min(info.sizes.size(), most_sizes_shown);
  for (std::size_t index = 0; index < num_shown; ++index) {
    const BisectionSizeInfo& size = info.sizes[index];
    const std::optional<KeptSize>& numbers = size.numbers;
    table.add_row({format_bytes(size.message_size_bytes), std::to_string(size.num_patterns),
                   std::to_string(size.num_baseline), numbers ? plus_minus(numbers->ebb, unit) : "-",
                   numbers ? plus_minus(numbers->relative, Unit{}) : "-",
                   numbers ? harmless(numbers->stopped_by) : "-"});
  }
  std::string text = "\n" + table.text();
  if (info.sizes.size() > num_shown) text += fmt::format("  and {} more\n", info.sizes.size() - num_shown);
  if (!info.has_summary) text += "  No eBB: the run ended before its summary was written.\n";
  return text;
}

Json interval_json(const Interval& interval, const char* mean, const char* half_width) {
  return {{"num", interval.num}, {mean, number(interval.mean)}, {half_width, number(interval.half_width)}};
}

Json size_json(const BisectionSizeInfo& size) {
  Json json = {{"message_size_bytes", size.message_size_bytes},
               {"num_patterns", size.num_patterns},
               {"num_baseline", size.num_baseline},
               {"stopped_by", nullptr},
               {"ebb", nullptr},
               {"relative", nullptr},
               {"bytes_per_s_harmonic", nullptr}};
  if (!size.numbers) return json;
  json["stopped_by"] = size.numbers->stopped_by;
  json["ebb"] = interval_json(size.numbers->ebb, "bytes_per_s_mean", "bytes_per_s_half_width");
  json["relative"] = interval_json(size.numbers->relative, "mean", "half_width");
  json["bytes_per_s_harmonic"] = number(size.numbers->bytes_per_s_harmonic);
  return json;
}

}  // namespace

BisectionInfo bisection_info(const result::bisection::Hdf5Reader& reader) {
  BisectionInfo info;
  info.header = reader.header();
  info.has_summary = info.header.summary.has_value();
  const std::vector<std::optional<KeptSize>> numbers = kept_sizes(info.header, reader.path());
  info.header.summary.reset();
  info.hosts = hosts_of(info.header.num_ranks, [&](std::int64_t rank) { return reader.placement(rank).host; });
  for (std::size_t index = 0; index < info.header.message_sizes_bytes.size(); ++index) {
    info.sizes.push_back({info.header.message_sizes_bytes[index], reader.num_patterns(index),
                          reader.num_baseline(index), numbers[index]});
  }
  return info;
}

std::string bisection_info_text(const BisectionInfo& info) {
  std::string text = line("result", fmt::format("bisection test, format {}", info.header.format_version));
  text += run_text(info.header) + ranks_text(info.header, info.hosts);
  text += participants_text(info.header) + sizes_text(info.header);
  return text + patterns_text(info.header) + size_table(info);
}

Json bisection_info_json(const BisectionInfo& info) {
  const result::bisection::Header& header = info.header;
  Json sizes = Json::array();
  for (const BisectionSizeInfo& size : info.sizes) sizes.push_back(size_json(size));
  Json json = run_json("bisection", header);
  json["num_participants"] = header.num_participants;
  json["within_hosts"] = header.within_hosts;
  json["num_exchanges"] = header.num_exchanges;
  json["seed"] = header.seed;
  json["pattern_names"] = header.pattern_names;
  json["max_patterns"] = header.max_patterns;
  add_origin(json, header, info.hosts);
  json["sizes"] = std::move(sizes);
  return json;
}

}  // namespace leadline::output
