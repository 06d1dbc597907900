// SPDX-License-Identifier: Apache-2.0
// What descriptions of results have in common, whatever the benchmark.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "model/result.hpp"
#include "result/run_header.hpp"

namespace leadline::output {

/// Hosts in order of their first ranks.
std::vector<HostRanks> hosts_of(std::int64_t num_ranks, const std::function<std::string(std::int64_t rank)>& host);

/// "name             value" with its end; empty where there is no value.
std::string line(const std::string& name, const std::string& value);

/// Text from a file, on a terminal: nothing in it may move the cursor.
std::string harmless(std::string text);

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
