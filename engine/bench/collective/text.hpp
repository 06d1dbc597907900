// SPDX-License-Identifier: Apache-2.0
// A collective test as text for people: its plan, its progress, its summary, and what a file has of it.
#pragma once

#include <memory>
#include <string>

#include "bench/collective/hdf5_reader.hpp"
#include "bench/collective/output.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/request.hpp"
#include "bench/collective/result.hpp"
#include "output/file_info.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::bench::collective {

/// For standard output, at the end: times and bandwidths of each operation with each size; findings. `path`: where the
/// result lies, empty = nowhere.
std::string collective_summary(const CollectiveResult& result, const std::string& path);

/// For --dry-run.
std::string collective_plan_text(const CollectiveRequest& request, const Plan& plan);

/// For `leadline info`; reads as much of the result as that takes.
output::ResultInfo info_of(const Hdf5Reader& reader);

/// On standard error; null with --quiet.
std::unique_ptr<Progress> make_collective_progress(const CollectiveRequest& request);

/// One line a round.
std::unique_ptr<Progress> make_collective_lines(const CollectiveRequest& request, output::ProgressOutlet outlet);

/// One line that is redrawn, and disappears at the end.
std::unique_ptr<Progress> make_collective_bar(const CollectiveRequest& request, output::ProgressOutlet outlet);

}  // namespace leadline::bench::collective
