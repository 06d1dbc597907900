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
#include "options/recorded_option.hpp"

namespace leadline::result {

inline constexpr std::int32_t result_format_version = 1;

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

  bool complete = false;
  std::string incomplete_reason;
  std::optional<std::string> end_utc;
  std::optional<std::string> summary;  ///< JSON, docs/formats/json.md
};

/// Fills in what a run knows before its first message, of whatever benchmark: not complete, no nonce.
void describe_run(RunHeader& header, const RunRequest& request, const std::vector<Option>& options,
                  const Provenance& provenance);

/// The text of a provenance value or an option; empty where there is none, or it is a number.
std::string provenance_text(const RunHeader& header, const std::string& name);
std::string option_text(const RunHeader& header, const std::string& name);

}  // namespace leadline::result
