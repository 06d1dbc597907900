// SPDX-License-Identifier: Apache-2.0
// How a run shows itself: what a front end says about it, as functions that the run calls.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/link/output.hpp"
#include "model/link_result.hpp"
#include "model/provenance.hpp"
#include "result/result_file.hpp"

namespace leadline::cli {

/// The texts and files of one front end. All members may be empty.
struct Presentation {
  /// Rank 0, once everything that is known before the first message is in `so_far` (request, provenance, num_rounds).
  std::function<std::unique_ptr<bench::link::Progress>(const LinkResult& so_far)> progress;

  /// Rank 0, at the end: the text for standard output. `path`: where the result lies; "-" = standard output.
  std::function<std::string(const LinkResult& result, const std::string& path)> summary;

  /// Every rank, before the first message: its line for standard error, line end included; rank 0 writes them all, in
  /// any order.
  std::function<std::string(int rank, const RankPlace& place)> rank_line;

  /// Rank 0 and the others alike: what the front end wants else of its result file.
  std::function<void(result::ResultFileSetup& setup)> set_up_file;
};

/// That of `leadline link`.
Presentation own_presentation(const LinkRequest& request);

}  // namespace leadline::cli
