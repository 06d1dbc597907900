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
#include "output/file_info_bisection.hpp"
#include "output/file_info_io.hpp"
#include "output/file_info_topology.hpp"
#include "result/link_result_reader.hpp"
#include "result/run_header.hpp"
#include "result/slice_facts.hpp"

namespace leadline::output {

/// Hosts in order of their first ranks.
std::vector<HostRanks> hosts_of(std::int64_t num_ranks, const std::function<std::string(std::int64_t rank)>& host);

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

/// One slice of a link test.
struct SliceInfo {
  std::int32_t repeat = 0, permutation = -1;
  std::uint64_t message_size_bytes = 0;
  result::SliceFacts facts;
};

/// The result of a link test.
struct LinkResultInfo {
  result::LinkResultHeader header;  ///< without what is long: no retests, no summary
  bool is_plain_record = false;     ///< SION with nothing but LinkTest's own record
  std::size_t num_retests = 0;
  std::vector<HostRanks> hosts;  ///< in order of their first ranks
  std::vector<SliceInfo> slices;
};

struct FileInfo {
  std::string path;
  result::FileKind kind = result::FileKind::other;
  std::optional<result::ContainerFacts> container;  ///< SION
  std::optional<LinkResultInfo> result;             ///< of a link test; of this and the next three one at most
  std::optional<TopologyInfo> topology;             ///< HDF5
  std::optional<BisectionInfo> bisection;           ///< HDF5
  std::optional<IoInfo> io;                         ///< HDF5
  std::string why_no_result;                        ///< of a SION file
  std::optional<Error> error;                       ///< the same as an error, where the file is damaged
};

/// Reads as much of the result as that takes.
LinkResultInfo link_result_info(result::LinkResultReader& reader);

std::string file_info_text(const FileInfo& info);

/// One JSON object; what is not there is null.
std::string file_info_json(const FileInfo& info);

}  // namespace leadline::output
