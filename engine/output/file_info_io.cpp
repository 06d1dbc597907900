// SPDX-License-Identifier: Apache-2.0
// The description of a parallel file test's result, as text and as JSON.
#include "output/file_info_io.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/table.hpp"
#include "result/json_parts.hpp"

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
  if (phase.source == "not_known") add("from where is not known");
  if (!phase.source.empty() && phase.source != "not_known") add("from " + harmless(phase.source));
  if (phase.is_durable) add(*phase.is_durable ? "durable" : "not durable");
  return remarks;
}

/// The rates of all phases go in one unit.
Unit unit_of_phase_rates(const std::vector<KeptPhase>& phases) {
  std::vector<double> rates;
  for (const KeptPhase& phase : phases) rates.push_back(phase.bytes_per_s);
  return bandwidth_unit(middle_of(rates));
}

std::string phase_table(const IoInfo& info) {
  if (info.phases.empty()) return "\n  No phase was measured.\n";
  const Unit unit = unit_of_phase_rates(info.phases);
  Table table({{"operation", Align::left},
               {"repeat"},
               {"bytes"},
               {unit.name},
               {"by wall time"},
               {"wall time"},
               {"", Align::left}});
  const std::size_t num_shown = std::min(info.phases.size(), most_phases_shown);
  for (std::size_t index = 0; index < num_shown; ++index) {
    const KeptPhase& phase = info.phases[index];
    table.add_row({name_of(phase.operation), std::to_string(phase.repeat), about_bytes(phase.bytes),
                   in_unit(phase.bytes_per_s, unit), in_unit(phase.bytes_per_s_wall, unit),
                   format_time_ns(phase.wall_ns), remarks_on(phase, info.header)});
  }
  std::string text = "\n" + table.text();
  if (info.phases.size() > num_shown) text += fmt::format("  and {} more\n", info.phases.size() - num_shown);
  return text;
}

Json phase_json(const KeptPhase& phase) {
  return {{"operation", name_of(phase.operation)},
          {"repeat", phase.repeat},
          {"is_complete", phase.is_complete},
          {"is_interrupted", phase.is_interrupted},
          {"error", phase.error},
          {"bytes", phase.bytes},
          {"wall_ns", number(phase.wall_ns)},
          {"bytes_per_s", number(phase.bytes_per_s)},
          {"bytes_per_s_wall", number(phase.bytes_per_s_wall)},
          {"source", phase.source.empty() ? Json(nullptr) : Json(phase.source)},
          {"is_durable", phase.is_durable ? Json(*phase.is_durable) : Json(nullptr)},
          {"num_mismatches", phase.num_mismatches}};
}

}  // namespace

IoInfo io_info(const result::io::Hdf5Reader& reader) {
  IoInfo info;
  info.header = reader.header();
  info.header.summary.reset();
  info.hosts = hosts_of(info.header.num_ranks, [&](std::int64_t rank) { return reader.placement(rank).host; });
  info.phases = kept_phases(reader);
  return info;
}

std::string io_info_text(const IoInfo& info) {
  std::string text = line("result", fmt::format("parallel file test, format {}", info.header.format_version));
  text += run_text(info.header) + ranks_text(info.header, info.hosts);
  text += movement_text(info.header) + objects_text(info.header) + files_text(info.header);
  text += line("phases", fmt::format("{} of {}", info.phases.size(), info.header.num_phases));
  return text + phase_table(info);
}

Json io_info_json(const IoInfo& info) {
  const result::io::Header& header = info.header;
  Json phases = Json::array();
  for (const KeptPhase& phase : info.phases) phases.push_back(phase_json(phase));
  Json json = run_json("io", header);
  json["movement"] = header.movement;
  json["order"] = header.order;
  json["backend_library"] = header.backend_library;
  json["file_system"] = header.file_system;
  json["num_objects"] = header.num_objects;
  json["object_size_bytes"] = header.object_size_bytes;
  json["run"] = header.run;
  json["io_ranks"] = header.io_ranks;
  json["files"] = header.files;
  json["num_phases"] = header.num_phases;
  add_origin(json, header, info.hosts);
  json["phases"] = std::move(phases);
  return json;
}

}  // namespace leadline::output
