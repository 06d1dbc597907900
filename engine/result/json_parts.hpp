// SPDX-License-Identifier: Apache-2.0
// The parts of a JSON document that all benchmarks share; docs/formats/json.md.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"
#include "model/result.hpp"
#include "options/recorded_option.hpp"

namespace leadline::result {

/// Keys in the order of the document.

/// A number of a document that is read, NaN for null.
double number_or_nan(const Json& json);

/// benchmark, format_version, complete, incomplete_reason, options and provenance: how every document begins.
Json document_beginning(const char* benchmark, const RunResult& result, const RunRequest& request,
                        const std::vector<Option>& options);

Json hosts_json(const std::vector<HostRanks>& hosts);
Json findings_json(const std::vector<Finding>& findings);

/// One element for each value.
template <typename Value>
Json list_json(const std::vector<Value>& values, Json (*as_json)(const Value&)) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(as_json(value));
  return list;
}

/// As text for people and files, with a line end. Text that is no UTF-8 is replaced where it is wrong.
std::string text_of(const Json& document);

/// The same in one line, without its end.
std::string line_of(const Json& document);

}  // namespace leadline::result
