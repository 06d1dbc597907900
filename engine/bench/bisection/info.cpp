// SPDX-License-Identifier: Apache-2.0
// The description of a bisection test's result, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/bisection/text.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/table.hpp"

namespace leadline::output {

namespace {

using result::bisection::KeptSize;

/// One message size.
struct SizeInfo {
  std::uint64_t message_size_bytes = 0;
  std::uint64_t num_patterns = 0;   ///< of every kind that are in the file, also of a run that was killed
  std::uint64_t num_baseline = 0;   ///< likewise pairs that were measured alone
  std::optional<KeptSize> numbers;  ///< nothing without a summary
};

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
Unit unit_of_ebb(const std::vector<SizeInfo>& sizes) {
  std::vector<double> bandwidths;
  for (const SizeInfo& size : sizes) {
    if (size.numbers) bandwidths.push_back(size.numbers->ebb.mean);
  }
  return bandwidth_unit(middle_of(bandwidths));
}

std::string size_table(const std::vector<SizeInfo>& sizes, const result::bisection::Header& header) {
  const Unit unit = unit_of_ebb(sizes);
  Table table({{"message size"},
               {"patterns"},
               {"pairs alone"},
               {fmt::format("eBB {}", unit.name)},
               {"of pairs alone"},
               {"stopped by", Align::left}});
  const std::size_t num_shown = std::min(sizes.size(), most_sizes_shown);
  for (std::size_t index = 0; index < num_shown; ++index) {
    const SizeInfo& size = sizes[index];
    const std::optional<KeptSize>& numbers = size.numbers;
    table.add_row({format_bytes(size.message_size_bytes), std::to_string(size.num_patterns),
                   std::to_string(size.num_baseline), numbers ? plus_minus(numbers->ebb, unit) : "-",
                   numbers ? plus_minus(numbers->relative, Unit{}) : "-",
                   numbers ? harmless(numbers->stopped_by) : "-"});
  }
  std::string text = "\n" + table.text();
  if (sizes.size() > num_shown) text += fmt::format("  and {} more\n", sizes.size() - num_shown);
  if (!header.summary) text += "  No eBB: the run ended before its summary was written.\n";
  return text;
}

Json size_json(const SizeInfo& size) {
  Json json = {{"message_size_bytes", size.message_size_bytes},
               {"num_patterns", size.num_patterns},
               {"num_baseline", size.num_baseline}};
  result::add_fields(json, size.numbers.value_or(KeptSize{}));
  if (!size.numbers) json["stopped_by"] = json["ebb"] = json["relative"] = nullptr;
  return json;
}

}  // namespace

ResultInfo info_of(const result::bisection::Hdf5Reader& reader) {
  const result::bisection::Header& header = reader.header();
  const std::vector<HostRanks> hosts = hosts_of(reader);
  const std::vector<std::optional<KeptSize>> numbers = kept_sizes(header, reader.path());
  std::vector<SizeInfo> sizes;
  Json json_of_sizes = Json::array();
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    sizes.push_back(
        {header.message_sizes_bytes[index], reader.num_patterns(index), reader.num_baseline(index), numbers[index]});
    json_of_sizes.push_back(size_json(sizes.back()));
  }

  std::string text = line("result", fmt::format("bisection test, format {}", header.format_version));
  text += run_text(header) + ranks_text(header, hosts) + participants_text(header) + sizes_text(header);
  text += patterns_text(header) + size_table(sizes, header);
  Json json = run_json("bisection", header);
  result::add_fields(json, header);
  json["max_patterns"] = header.max_patterns;
  add_origin(json, header, hosts);
  json["sizes"] = std::move(json_of_sizes);
  return {text, json};
}

}  // namespace leadline::output
