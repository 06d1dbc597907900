// SPDX-License-Identifier: Apache-2.0
// What a user asked of `leadline check`: one member per option.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/named.hpp"
#include "model/request.hpp"

namespace leadline {
class OptionTable;
}
namespace leadline::check {

/// In what form the answer is printed.
enum class Form : std::uint8_t {
  text,
  json,
  hostlist,  ///< hosts to take out of service, in short
  slurm,     ///< a command for Slurm for each of them
  nagios,    ///< a line, and the exit status of a Nagios plugin
  junit,     ///< XML, as test systems read it
};

const char* name_of(Form form);
std::span<const Named<Form>> names_of(Form any);

/// Sizes in bytes, times in seconds. `output` of RunRequest is the folder of all result files; `message_sizes_bytes`
/// and `format` are not used.
struct CheckRequest : RunRequest {
  double budget_s = 60;                          ///< for everything, from the moment on when the ranks are connected
  std::uint64_t latency_size_bytes = 8;          ///< of messages whose time is that of the way
  std::uint64_t bandwidth_size_bytes = 4 << 20;  ///< of messages whose time is that of their bytes
  std::uint64_t seed = 1;                        ///< of random rounds and patterns, and of the choice of hosts
  std::string sample;                            ///< "5%" or "20": of the hosts, only so many; empty = all
  std::string target;                            ///< folder on the file system that is tested, too; empty = none
  std::uint64_t target_size_bytes = 64 << 20;    ///< that each rank writes there
  bool congestion = false;                       ///< what load does to others is measured, too

  std::string topology;  ///< the physical network; empty = nothing is known
  std::string routes;    ///< forwarding tables of it; empty = unknown
  std::string profile;   ///< a site profile to judge by; empty = none
  double fail = 0.9;     ///< what reaches less than this share of the speed that it should have is bad
  double warn = 0.9;     ///< likewise: is a warning; not below `fail`
  double false_discovery_rate = 0.01;
  double fail_above = 0;  ///< an impact factor of congestion that is surely above this is bad; 0 = never
  double warn_above = 0;  ///< likewise: is a warning; not above `fail_above`

  Form form = Form::text;
  std::string json_path;        ///< --json FILE; empty = none
  std::string metrics_path;     ///< --prom FILE; empty = none
  bool no_files = false;        ///< no result file is kept
  bool status_of_host = false;  ///< a rank's status is that of its own host
};

/// All options; its result files are HDF5 always.
void declare_options(OptionTable& options, CheckRequest& request, std::optional<ResultFormat>& format);

}  // namespace leadline::check
