// SPDX-License-Identifier: Apache-2.0
// The built-in commands; each takes argv as it came and returns the exit status, or throws Error.
#pragma once

#include <string>
#include <vector>

namespace leadline::cli {

int bisection_command(const std::vector<std::string>& arguments);
int compare_command(const std::vector<std::string>& arguments);
int convert_command(const std::vector<std::string>& arguments);
int diagnose_command(const std::vector<std::string>& arguments);
int info_command(const std::vector<std::string>& arguments);
int io_command(const std::vector<std::string>& arguments);
int link_command(const std::vector<std::string>& arguments);
int simulate_link_command(const std::vector<std::string>& arguments);
int topology_command(const std::vector<std::string>& arguments);
int transports_command(const std::vector<std::string>& arguments);

}  // namespace leadline::cli
