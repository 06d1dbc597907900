// SPDX-License-Identifier: Apache-2.0
// What `leadline info` says of a link test.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/link/sion_reader.hpp"
#include "bench/link/slice_facts.hpp"
#include "bench/link/text.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/table.hpp"
#include "result/described_json.hpp"

namespace leadline::bench::link {
namespace {

using output::line;

constexpr std::size_t most_slices_listed = 64;

/// One slice of a link test.
struct SliceInfo {
  std::int32_t repeat = 0, permutation = -1;
  std::uint64_t message_size_bytes = 0;
  PairSummary pairs;
};

struct LinkInfo {
  const Header& header;
  bool is_plain_record = false;  ///< SION with nothing but LinkTest's own record
  bool is_in_sion = false;
  std::vector<HostRanks> hosts;
  std::vector<SliceInfo> slices;

  std::size_t num_retests() const { return header.retests ? header.retests->size() : 0; }
};

/// Of the text; JSON has all of them.
bool is_shown(const PairQuantile& quantile) { return quantile.q == 0.5 || quantile.q >= 0.99; }

std::string slices_text(const std::vector<SliceInfo>& slices) {
  if (slices.empty()) return "";
  std::vector<output::Column> columns{{"repeat"}, {"permutation"}, {"message size"}, {"pairs"}, {"min"}};
  for (const PairQuantile& one : pair_quantiles) {
    if (is_shown(one)) columns.push_back({one.name});
  }
  columns.push_back({"max"});
  output::Table table(std::move(columns));
  for (std::size_t index = 0; index < std::min(slices.size(), most_slices_listed); ++index) {
    const SliceInfo& slice = slices[index];
    const std::string permutation = slice.permutation < 0 ? "-" : std::to_string(slice.permutation);
    std::vector<std::string> cells{std::to_string(slice.repeat), permutation, format_bytes(slice.message_size_bytes),
                                   std::to_string(slice.pairs.num_pairs), format_time_ns(slice.pairs.time_ns_min)};
    for (const PairQuantile& one : pair_quantiles) {
      if (is_shown(one)) cells.push_back(format_time_ns(slice.pairs.*one.time_ns));
    }
    cells.push_back(format_time_ns(slice.pairs.time_ns_max));
    table.add_row(std::move(cells));
  }
  std::string text = "\n" + table.text();
  if (slices.size() > most_slices_listed) text += fmt::format("  and {} more\n", slices.size() - most_slices_listed);
  return text;
}

std::string text_of(const LinkInfo& info) {
  const Header& header = info.header;
  const bool is_plain = info.is_plain_record;
  std::string what =
      is_plain ? "link test, LinkTest 1.2's record" : fmt::format("link test, format {}", header.format_version);
  if (info.is_in_sion && !is_plain) what += ", LinkTest 1.2's record with leadline's extension";
  std::string text = line("result", what) + output::run_text(header);
  text += line("direction", output::harmless(result::provenance_text(header, "direction")));
  text += line("messages", output::harmless(result::option_text(header, "messages")));
  text += output::ranks_text(header, info.hosts);
  text += line("slices", fmt::format("{} of {}", output::counted(header.repeats.size(), "repeat"),
                                     output::counted(header.message_sizes_bytes.size(), "message size")));
  text += line("retests", std::to_string(info.num_retests()));
  text += line("statistics", header.is_compact ? "compact: median, p99 and batches of each pair, rounded" : "");
  if (header.stored_rounds) {
    const auto num_rounds = static_cast<std::uint64_t>(num_rounds_stored(header));
    text +=
        line("stored", fmt::format("{}, as a table of ranks and rounds", output::counted(num_rounds, "random round")));
  }
  return text + slices_text(info.slices);
}

Json json_of(const LinkInfo& info) {
  const Header& header = info.header;
  Json slices = Json::array();
  for (const SliceInfo& slice : info.slices) {
    Json json = {{"repeat", slice.repeat},
                 {"permutation", slice.permutation < 0 ? Json(nullptr) : Json(slice.permutation)},
                 {"message_size_bytes", slice.message_size_bytes}};
    result::add_fields(json, slice.pairs);
    slices.push_back(std::move(json));
  }
  Json json = output::run_json("link", header);
  json["num_repeats"] = header.repeats.size();
  json["num_permutations"] = header.num_permutations;
  json["num_retests"] = info.num_retests();
  json["has_rounds"] = header.has_rounds;
  json["statistics"] = header.is_compact ? "compact" : "full";
  json["num_stored_rounds"] = header.stored_rounds ? Json(num_rounds_stored(header)) : Json(nullptr);
  output::add_origin(json, header, info.hosts);
  json["slices"] = slices;
  return json;
}

}  // namespace

output::ResultInfo info_of(ResultReader& reader) {
  const auto* const sion_reader = dynamic_cast<const SionReader*>(&reader);
  const Header& header = reader.header();
  LinkInfo info{.header = header,
                .is_plain_record = sion_reader != nullptr && !sion_reader->is_extended(),
                .is_in_sion = sion_reader != nullptr,
                .hosts = output::hosts_of(reader),
                .slices = {}};
  for (std::size_t repeat = 0; repeat < header.repeats.size(); ++repeat) {
    const KeptRepeat& kept = header.repeats[repeat];
    for (std::size_t size = 0; size < header.message_sizes_bytes.size(); ++size) {
      info.slices.push_back(
          {kept.repeat, kept.permutation, header.message_sizes_bytes[size], slice_facts(reader, repeat, size)});
    }
  }
  return {text_of(info), json_of(info)};
}

}  // namespace leadline::bench::link
