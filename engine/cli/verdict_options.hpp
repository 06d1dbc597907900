// SPDX-License-Identifier: Apache-2.0
// Options of every command that says who is slow.
#pragma once

#include <string>

#include "cli/declared_options.hpp"
#include "model/diagnosis.hpp"

namespace leadline::cli {

/// --topology, --threshold, --false-discovery-rate. References outlive the parsing.
void declare_verdict(DeclaredOptions& options, std::string& topology, DiagnosisSettings& settings);

}  // namespace leadline::cli
