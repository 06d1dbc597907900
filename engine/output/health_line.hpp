// SPDX-License-Identifier: Apache-2.0
// What a health check prints: a line that a prolog script can log.
#pragma once

#include <string>

#include "model/link_result.hpp"

namespace leadline::output {

/// "ok: 16 ranks on 8 hosts, 12 % of all pairs in 4.2 s, no fault", or "bad: " and each fault; with its end.
std::string health_line(const LinkResult& result, const std::string& result_path);

}  // namespace leadline::output
