// SPDX-License-Identifier: Apache-2.0
// What each exit status means; docs/exit-status.md shows this table.
#include "core/exit_statuses.hpp"

namespace leadline {

constexpr Named<ExitStatus> exit_status_names[] = {
    {ExitStatus::ok, "ok", "All is fine"},
    {ExitStatus::below_threshold, "below_threshold",
     "The run was done, and one of these holds. A condition that you asked for is not met (--strict, --fail-below, "
     "--fail-above, --health-check). Hosts are bad (leadline check). Limits are not kept (leadline accept). Ranks or "
     "pairs of ranks were lost"},
    {ExitStatus::bad_command_line, "bad_command_line",
     "The command line is wrong, or a file is missing or of another kind"},
    {ExitStatus::something_missing, "something_missing",
     "Something that is needed is missing here, or nothing could be tested"},
    {ExitStatus::run_failed, "run_failed",
     "The run failed on the way, or a file is damaged. An error that nobody expected has this status, too"},
    {ExitStatus::output_closed, "output_closed",
     "Nobody reads standard output any more: 128 + SIGPIPE, as a shell shows it"},
};

std::span<const Named<ExitStatus>> names_of(ExitStatus /*any*/) { return exit_status_names; }

}  // namespace leadline
