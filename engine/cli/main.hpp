// SPDX-License-Identifier: Apache-2.0
// The body of main(), and the commands that it calls.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"

namespace leadline::cli {

/// The body of main(). Never throws.
int run(int argc, char** argv) noexcept;

int cables_command(const std::vector<std::string>& arguments);
int compare_command(const std::vector<std::string>& arguments);
int convert_command(const std::vector<std::string>& arguments);
int profile_command(const std::vector<std::string>& arguments);
int diagnose_command(const std::vector<std::string>& arguments);
int info_command(const std::vector<std::string>& arguments);
int partners_command(const std::vector<std::string>& arguments);
int patterns_command(const std::vector<std::string>& arguments);
int schema_command(const std::vector<std::string>& arguments);
int simulate_link_command(const std::vector<std::string>& arguments);
int transports_command(const std::vector<std::string>& arguments);
/// Of its document.
Json transports_schema();

}  // namespace leadline::cli
