// SPDX-License-Identifier: Apache-2.0
// The options of `leadline io`, each declared once with its help, its check and its member of the request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/request.hpp"
#include "options/option_table.hpp"

namespace leadline::bench::io {

/// One fsync writes what a host still caches: of 256 GiB of memory about 50 GiB, at 100 MB/s for eight minutes.
inline constexpr double default_timeout_s = 600;

/// Of each kind, of a rank.
inline constexpr std::uint64_t default_num_items = 1000;

/// "2" or "2,1": numbers of I/O ranks. Throws Error(bad_command_line), as all here.
std::vector<std::int64_t> parse_io_ranks(const std::string& option, const std::string& text);

/// "node1,node7": names without blanks around them, none twice.
std::vector<std::string> parse_hosts(const std::string& option, const std::string& text);

/// "cb_nodes=2,striping_factor=4"; a piece without "=" belongs to the value before it, as in
/// "cb_config_list=node1:1,node2:1". No key twice.
std::vector<std::pair<std::string, std::string>> parse_hints(const std::string& option, const std::string& text);

/// The name of a storage backend, with ":ARGUMENT" where it takes one.
std::string parse_backend(const std::string& option, const std::string& text);

/// "70:30" -> 0.7, the share of what is read.
double parse_mix(const std::string& option, const std::string& text);

/// "none", "ranks:3", "hosts:1".
struct Shift {
  ReadShift kind = ReadShift::none;
  std::int64_t by = 0;
};
Shift parse_shift(const std::string& option, const std::string& text);

/// See bench/run_options.hpp.
void declare_options(OptionTable& options, IoRequest& request, std::optional<ResultFormat>& format);

}  // namespace leadline::bench::io
