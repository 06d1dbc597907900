// SPDX-License-Identifier: Apache-2.0
// One rank of a check: its parts one after the other, over the same ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/congestion/request.hpp"
#include "bench/io/command.hpp"
#include "check/request.hpp"
#include "cluster/bootstrap.hpp"
#include "transport/module.hpp"

namespace leadline::check {

/// A part, and its share of the time.
struct PlannedPart {
  std::string name, benchmark;
  double share = 0;
};

/// In the order in which they are measured. Where ranks have GPUs, that of gpu_part() comes before the bisection.
std::vector<PlannedPart> planned_parts(const CheckRequest& request);

PlannedPart gpu_part();

/// Of --congestion: an incast without pauses; rounds and the time of their tests as `time_s` allows.
bench::congestion::CongestionRequest congestion_request(const CheckRequest& request, double time_s);

/// Of --target; `time_limit_s` of a phase. Where several hosts take part, a rank reads what another host has
/// written; of one host the page cache is emptied before.
bench::io::IoRequest files_request(const CheckRequest& request, double time_limit_s, int num_hosts);

/// Collective: the whole check; the exit status. Never throws an error that the ranks have not agreed on. `io_start`:
/// nothing where no files are written.
int run_check(const CheckRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
              const transport::LoadedModule& module, const bench::io::IoStart* io_start);

}  // namespace leadline::check
