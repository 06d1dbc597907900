// SPDX-License-Identifier: Apache-2.0
// Options of every command that says which components are slow.
#pragma once

#include <string>

#include "cli/option_parser.hpp"
#include "model/diagnosis.hpp"

namespace leadline::cli {

/// --topology, --threshold, --false-discovery-rate. References outlive the parsing.
void declare_verdict(OptionParser& options, std::string& topology, DiagnosisSettings& settings);

}  // namespace leadline::cli
