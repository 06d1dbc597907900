// SPDX-License-Identifier: Apache-2.0
// Tables of what the program says, for `leadline schema` and through it for docs/findings.md and docs/exit-status.md.
#pragma once

#include "core/json.hpp"

namespace leadline::cli {

/// A list: `status`, `name`, `meaning` of each.
Json exit_statuses();

/// Three lists: `components` that can be at fault, with advice for each symptom; the `lists` that they are told in;
/// `measurement`: findings about the run itself, each with its severities and its rule.
Json findings_reference();

}  // namespace leadline::cli
