// SPDX-License-Identifier: Apache-2.0
// The answer of a check, in each form that it is printed in. All are functions of the result alone.
#pragma once

#include <string>

#include "check/result.hpp"
#include "core/error.hpp"

namespace leadline::check {

/// At most 20 lines of at most 80 characters, the answer first.
std::string screen_text(const CheckResult& result);

/// Hosts to take out of service in short, "node[2,7]"; empty where there are none.
std::string hostlist_text(const CheckResult& result);

/// "node2 is to be drained (host node2 x3)"; empty where it is not.
std::string why_drained(const CheckResult& result, const std::string& host);

/// `scontrol update` for each of them.
std::string slurm_text(const CheckResult& result);

/// One line with performance data: Monitoring Plugins' guidelines (monitoring-plugins.org).
std::string nagios_text(const CheckResult& result);
/// 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
int nagios_status(State state);
/// An error as Nagios is told of it: 2 would be CRITICAL, so a check that cannot begin is UNKNOWN.
Error nagios_error(const Error& error);

/// A test suite with a case for each host, and one for what is no host's.
std::string junit_text(const CheckResult& result);

/// OpenMetrics 1.0, which node_exporter's textfile collector reads, too. `now_s`: UTC seconds since 1970.
std::string metrics_text(const CheckResult& result, double now_s);

/// As asked for.
std::string text_of(const CheckResult& result);

}  // namespace leadline::check
