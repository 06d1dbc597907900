// SPDX-License-Identifier: Apache-2.0
// Builds the JSON document of a parallel file test, and the short form of its phases.
#include "result/io/json.hpp"

#include <algorithm>
#include <utility>

#include "model/options.hpp"
#include "result/io/phase_json.hpp"
#include "result/json_parts.hpp"

namespace leadline::result::io {

namespace {

/// Null for none.
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json hint_json(const HintInForce& its) {
  return {{"key", its.key},
          {"asked", text_or_null(its.asked)},
          {"granted", text_or_null(its.granted)},
          {"is_confirmed", its.is_confirmed}};
}

Json operation_json(const OperationSummary& its) {
  return {{"operation", name_of(its.operation)},
          {"num", its.num},
          {"bytes_per_s_min", number(its.min)},
          {"bytes_per_s_median", number(its.median)},
          {"bytes_per_s_mean", number(its.mean)},
          {"bytes_per_s_max", number(its.max)},
          {"bytes_per_s_half_width", number(its.half_width)}};
}

/// Takes a tenth of the longest list; where all are empty, half of the error. False: nothing is left to take.
bool shorten(Json& phase) {
  std::string longest;
  std::size_t longest_size = 0;
  for (const char* name : {"wrong", "stragglers", "slow_calls"}) {
    const Json& list = phase[name];
    if (const std::size_t size = list.size() == 0 ? 0 : line_of(list).size(); size > longest_size) {
      longest = name;
      longest_size = size;
    }
  }
  if (longest_size > 0) {
    Json& list = phase[longest];
    list.remove_last(std::max<std::size_t>(1, list.size() / 10));
    return true;
  }
  constexpr std::size_t shortest_error = 16;
  auto error = phase["error"].get<std::string>();
  if (error.size() <= shortest_error) return false;
  error.resize(error.size() / 2 - 3);
  phase["error"] = error + "...";
  return true;
}

}  // namespace

std::string json_text(const IoResult& result) {
  Json document = document_beginning("io", result, result.request, options_of(result.request));
  document["verified_bytes"] = result.verified_bytes;
  document["hosts"] = hosts_json(result.hosts);
  document["findings"] = findings_json(result.findings);
  document["backend_library"] = result.backend_library;
  document["file_system"] = result.file_system;
  document["run"] = result.run;
  document["num_objects"] = result.num_objects;
  document["io_ranks"] = result.io_ranks;
  document["files"] = result.files;
  document["hints"] = list_json(result.hints, hint_json);
  document["phases"] = list_json(result.phases, phase_json);
  document["operations"] = list_json(result.operations, operation_json);
  return text_of(document);
}

std::string phase_text(const PhaseSummary& summary, std::size_t most_bytes) {
  Json phase = phase_json(summary);
  std::string text = line_of(phase);
  while (text.size() > most_bytes && shorten(phase)) text = line_of(phase);
  return text;
}

}  // namespace leadline::result::io
