// SPDX-License-Identifier: Apache-2.0
// Which options of `leadline topology` contradict each other, or would do nothing, in a combination.
#include "cli/topology_validation.hpp"

#include <algorithm>
#include <string>

#include "options/values.hpp"
#include "schedule/edge_list.hpp"

namespace leadline::cli {
namespace {

void check_mode(const IsGiven& is_given, const TopologyRequest& request) {
  const bool is_taken = !request.edges_file.empty() ||
                        std::any_of(request.patterns.begin(), request.patterns.end(), schedule::takes_mode);
  if (is_given("--mode") && !is_taken) throw_no_effect("--mode", "the names of these patterns say theirs");
}

void check_contents(const TopologyRequest& request) {
  if (!request.verify && request.duration_s == 0) return;
  const std::string checker = request.verify ? "--verify" : "--duration";
  if (request.shared_buffers) {
    throw_apart(checker, "--shared-buffers", "messages would overwrite each other before they are checked");
  }
  check_verifiable(checker, request);
}

void check_outcome(const IsGiven& is_given, const TopologyRequest& request) {
  refuse_sion(request, "a topology test");
  const bool json_on_stdout = request.output == "-" || (request.format == ResultFormat::json && request.output.empty());
  if (is_given("--print") && json_on_stdout) {
    throw_no_effect("--print", "where the result goes to standard output there is no table");
  }
}

}  // namespace

void validate_options(const IsGiven& is_given, const TopologyRequest& request) {
  check_mode(is_given, request);
  check_contents(request);
  validate_run_options(is_given, request);
  check_outcome(is_given, request);
}

}  // namespace leadline::cli
