// SPDX-License-Identifier: Apache-2.0
// Which shared options contradict each other, or would do nothing, in a combination.
#include "command/run_validation.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "memory/buffer.hpp"
#include "options/values.hpp"
#include "transport/table.hpp"

namespace leadline::command {
namespace {

void check_plan(const IsGiven& is_given, const RunRequest& request) {
  if (request.dry_run && (is_given("--output") || is_given("--format") || is_given("--json"))) {
    throw_no_effect("--output, --format or --json", "--dry-run writes no result");
  }
}

}  // namespace

bool has_random_contents(const RunRequest& request) {
  return request.fill == Fill::random || request.fill == Fill::mersenne;
}

void validate_run_options(const IsGiven& is_given, const RunRequest& request) {
  if (is_given("--fill-seed") && !has_random_contents(request)) {
    throw_no_effect("--fill-seed", "contents are random with --fill random and --fill mersenne only");
  }
  if (!request.interface.empty() && !request.host_name_suffix.empty()) {
    throw Error(ExitStatus::bad_command_line, "--interface and --host-name-suffix do not go together",
                "each says which network to take", "Leave out one of them");
  }
  check_plan(is_given, request);
  if (is_given("--ranks-per-host") && request.hosts.empty() && !request.dry_run) {
    throw_no_effect("--ranks-per-host", "only --hosts starts ranks on hosts, and only --dry-run simulates hosts");
  }
  if (request.overwrite && request.output.empty()) {
    throw_no_effect("--overwrite", "without --output the file is always new");
  }
  const bool has_rows = request.format == ResultFormat::hdf5 || request.format == ResultFormat::sion;
  if (is_given("--row-path") && !has_rows) {
    throw_no_effect("--row-path", fmt::format("a result as {} holds no rows", name_of(request.format)));
  }
}

void settle_allocator(const IsGiven& is_given, RunRequest& request) {
  if (is_given("--allocator")) return;
  if (const char* const name = transport::default_allocator(request.transport)) request.allocator = name;
}

void check_verifiable(const std::string& checker, const RunRequest& request) {
  if (request.fill == Fill::zero) {
    throw_apart(checker, "--fill zero", "all its messages are equal, received or not");
  }
  if (memory::allocator_named(request.allocator).location != memory::Location::host) {
    throw_apart(checker, "--allocator " + request.allocator, "contents are made and compared in ordinary memory");
  }
}

void refuse_sion(const RunRequest& request, const std::string& what) {
  if (request.format != ResultFormat::sion) return;
  throw Error(ExitStatus::bad_command_line, fmt::format("{} cannot be written as SION: {}", what, request.output),
              "that format holds the matrices of link tests only", "Choose a name ending in .h5 or .json");
}

}  // namespace leadline::command
