// SPDX-License-Identifier: Apache-2.0
// A result file described, for people and for programs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "model/result.hpp"
#include "result/file_kind.hpp"
#include "result/run_header.hpp"

namespace leadline::output {

/// The description of a result: lines, each with its end, and one object in which what is not there is null.
struct ResultInfo {
  std::string text;
  Json json;
};

struct FileInfo {
  std::string path;
  result::FileKind kind = result::FileKind::other;
  std::optional<result::ContainerFacts> container;  ///< SION
  std::optional<ResultInfo> result;
  std::string why_no_result;   ///< of a SION file
  std::optional<Error> error;  ///< the same as an error, where the file is damaged
};

std::string file_info_text(const FileInfo& info);

/// One JSON object; what is not there is null.
std::string file_info_json(const FileInfo& info);

// For those who describe a benchmark's result.

/// Hosts in order of their first ranks.
std::vector<HostRanks> hosts_by_rank(std::int64_t num_ranks, const std::function<std::string(std::int64_t rank)>& host);
template <typename Reader>
std::vector<HostRanks> hosts_of(Reader& reader) {
  return hosts_by_rank(reader.header().num_ranks, [&](std::int64_t rank) { return reader.placement(rank).host; });
}

/// "name             value" with its end; empty where there is no value.
std::string line(const std::string& name, const std::string& value);

/// Text from a file, on a terminal: nothing in it may move the cursor.
std::string harmless(const std::string& text);

/// Lines: whether it is complete, which program, when, over what.
std::string run_text(const result::RunHeader& header);

/// Lines: how many ranks, on which hosts.
std::string ranks_text(const result::RunHeader& header, const std::vector<HostRanks>& hosts);

/// A line: the message sizes.
std::string sizes_text(const result::RunHeader& header);

/// How the description of a result begins, and its provenance, options and hosts.
Json run_json(const char* benchmark, const result::RunHeader& header);
void add_origin(Json& json, const result::RunHeader& header, const std::vector<HostRanks>& hosts);

}  // namespace leadline::output
