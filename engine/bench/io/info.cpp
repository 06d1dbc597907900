// SPDX-License-Identifier: Apache-2.0
// The description of a parallel file test's result, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/io/text.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/table.hpp"

namespace leadline::output {

namespace {

using result::io::KeptPhase;

constexpr std::size_t most_phases_shown = 64, most_files_shown = 4;

std::string movement_text(const result::io::Header& header) {
  const bool has_order = header.movement != schedule::name_of(schedule::Movement::n_n);
  return line("movement", harmless(header.movement + (has_order ? ", " + header.order : "")));
}

std::string objects_text(const result::io::Header& header) {
  return line("objects", fmt::format("{} a rank, of {}", header.num_objects, format_bytes(header.object_size_bytes)));
}

std::string files_text(const result::io::Header& header) {
  std::vector<int> io_ranks(header.io_ranks.begin(), header.io_ranks.end());
  std::ranges::sort(io_ranks);
  std::string text = line("I/O ranks", number_ranges(io_ranks));
  text += line("backend", harmless(header.backend_library));
  text += line("file system", harmless(header.file_system));
  const std::size_t num_shown = std::min(header.files.size(), most_files_shown);
  for (std::size_t index = 0; index < num_shown; ++index) {
    text += line(index == 0 ? "files" : "", harmless(header.files[index]));
  }
  if (header.files.size() > num_shown) text += line("", fmt::format("and {} more", header.files.size() - num_shown));
  return text;
}

/// What makes a phase's rate worth more or less; without files there is no cache and no storage.
std::string remarks_on(const KeptPhase& phase, const result::io::Header& header) {
  std::string remarks;
  if (!phase.is_complete) remarks = (phase.is_interrupted ? "" : "failed: ") + harmless(phase.error);
  const auto add = [&](const std::string& remark) { remarks += (remarks.empty() ? "" : "; ") + remark; };
  if (phase.num_mismatches > 0) add(counted(phase.num_mismatches, "wrong object"));
  if (header.files.empty()) return remarks;
  if (phase.source) add(*phase.source == "not_known" ? "from where is not known" : "from " + harmless(*phase.source));
  if (phase.is_durable) add(*phase.is_durable ? "durable" : "not durable");
  return remarks;
}

/// The rates of all phases go in one unit.
Unit unit_of_phase_rates(const std::vector<KeptPhase>& phases) {
  std::vector<double> rates;
  for (const KeptPhase& phase : phases) rates.push_back(phase.bytes_per_s);
  return bandwidth_unit(middle_of(rates));
}

std::string phase_table(const std::vector<KeptPhase>& phases, const result::io::Header& header) {
  if (phases.empty()) return "\n  No phase was measured.\n";
  const Unit unit = unit_of_phase_rates(phases);
  Table table({{"operation", Align::left},
               {"repeat"},
               {"bytes"},
               {unit.name},
               {"by wall time"},
               {"wall time"},
               {"", Align::left}});
  const std::size_t num_shown = std::min(phases.size(), most_phases_shown);
  for (std::size_t index = 0; index < num_shown; ++index) {
    const KeptPhase& phase = phases[index];
    table.add_row({name_of(phase.operation), std::to_string(phase.repeat), about_bytes(phase.bytes),
                   in_unit(phase.bytes_per_s, unit), in_unit(phase.bytes_per_s_wall, unit),
                   format_time_ns(phase.wall_ns), remarks_on(phase, header)});
  }
  std::string text = "\n" + table.text();
  if (phases.size() > num_shown) text += fmt::format("  and {} more\n", phases.size() - num_shown);
  return text;
}

Json phase_json(const KeptPhase& phase) {
  Json json = {{"operation", name_of(phase.operation)}, {"repeat", phase.repeat}, {"is_complete", phase.is_complete}};
  result::add_fields(json, phase);
  return json;
}

}  // namespace

ResultInfo info_of(const result::io::Hdf5Reader& reader) {
  const result::io::Header& header = reader.header();
  const std::vector<HostRanks> hosts = hosts_of(reader);
  const std::vector<KeptPhase> phases = kept_phases(reader);
  std::string text = line("result", fmt::format("parallel file test, format {}", header.format_version));
  text += run_text(header) + ranks_text(header, hosts);
  text += movement_text(header) + objects_text(header) + files_text(header);
  text += line("phases", fmt::format("{} of {}", phases.size(), header.num_phases)) + phase_table(phases, header);

  Json json = run_json("io", header);
  result::add_fields(json, header);
  json["num_phases"] = header.num_phases;
  add_origin(json, header, hosts);
  json["phases"] = Json::array();
  for (const KeptPhase& phase : phases) json["phases"].push_back(phase_json(phase));
  return {text, json};
}

}  // namespace leadline::output
