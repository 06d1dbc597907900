// SPDX-License-Identifier: Apache-2.0
// What the result file of any benchmark says beside its measurements, in the form that all formats can hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/provenance.hpp"
#include "model/request.hpp"
#include "options/option_table.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::result {

inline constexpr std::int32_t result_format_version = 1;

/// What HDF5 files of link tests in the compact form are, so that an older program says that it needs a newer one.
inline constexpr std::int32_t compact_format_version = 2;

/// The same of those that have sampled rounds as a table.
inline constexpr std::int32_t rounds_format_version = 3;

/// What a file says from its creation until something better is known.
inline constexpr const char* reason_from_the_start = "still running, or killed without a word";

using HeaderValue = std::variant<std::string, std::int64_t, double>;

/// The part of a header that all benchmarks share. Lists are in the order of the file.
struct RunHeader {
  std::int32_t format_version = result_format_version;
  std::string nonce;  ///< empty where the file has none
  std::int64_t num_ranks = 0;
  std::vector<std::pair<std::string, HeaderValue>> provenance;  ///< all but end_utc
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::uint64_t> message_sizes_bytes;
  std::string network;  ///< that the run was told of, as network::stored_text() has it; empty = of none

  bool complete = false;
  std::string incomplete_reason;
  std::optional<std::string> end_utc;
  std::optional<std::string> summary;  ///< JSON, docs/formats/json.md
};

/// Fills in what a run knows before its first message, of whatever benchmark: not complete, no nonce.
void describe_run(RunHeader& header, const RunRequest& request, const std::vector<Option>& options,
                  const Provenance& provenance);

/// What the adapters carry; of a file that does not say it 0.
LineRate line_rate(const RunHeader& header);

/// The text of a provenance value or an option; empty where there is none, or it is a number.
std::string provenance_text(const RunHeader& header, const std::string& name);
std::string option_text(const RunHeader& header, const std::string& name);

/// One physical file.
struct ContainerFileFacts {
  std::string path;
  std::int64_t num_tasks = 0;
  std::int64_t num_rounds = 0;  ///< 0 = unfinished
  std::int64_t size_bytes = 0;
  std::int64_t used_bytes = 0;  ///< by contents; unfinished: unknown, so the room that there is
  std::int64_t metadata_bytes = 0;
  std::int64_t unused_bytes() const { return size_bytes - used_bytes - metadata_bytes; }
};

/// A file or a set. The layout of all members is that of the first, but for what their facts say.
struct ContainerFacts {
  std::int64_t num_tasks = 0;
  std::int32_t num_files_of_set = 1;
  bool is_finished = true;
  bool is_part_of_set = false;
  bool has_key_value_records = false;
  std::int32_t format_version = 0, block_size_bytes = 0;
  std::int32_t library_version = 0, library_patch_level = 0;
  sion::ByteOrder metadata_order = sion::host_byte_order, payload_order = sion::host_byte_order;
  std::vector<ContainerFileFacts> files;

  std::int64_t size_bytes() const;
  std::int64_t used_bytes() const;
  std::int64_t unused_bytes() const;
  /// One finished file without a gap.
  bool is_dense() const { return is_finished && files.size() == 1 && !is_part_of_set && unused_bytes() == 0; }
};

ContainerFacts container_facts(const sion::Reader& reader);

}  // namespace leadline::result
