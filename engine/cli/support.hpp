// SPDX-License-Identifier: Apache-2.0
// What every transport can do: the table from which docs/transports.md is made and whose cells the tests try.
#pragma once

#include <span>
#include <string>

#include "transport/table.hpp"

namespace leadline::cli {

/// Something that a run can ask for.
struct Feature {
  const char* name;
  const char* options;   ///< of `leadline link`
  const char* linktest;  ///< of the front end `linktest`; empty = it has none
};

/// All of them, in the order of the table.
std::span<const Feature> features();

/// "yes", "if ..." with the condition, or "no: " with the reason.
std::string support_of(const Feature& feature, const transport::Entry& transport);

/// The table in Markdown: a feature a line, a transport a column.
std::string support_table();

}  // namespace leadline::cli
