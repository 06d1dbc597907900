// SPDX-License-Identifier: Apache-2.0
// The options that every benchmark has, declared once: the members of RunRequest; and those that describe what is
// judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "model/diagnosis.hpp"
#include "model/request.hpp"
#include "options/option_table.hpp"

namespace leadline::bench {

inline constexpr std::uint64_t max_message_size_bytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t max_count = 1'000'000'000'000;

/// Begins the group "Who takes part": --transport, --transport-option, --local, --hosts, --bind, --interface,
/// --host-name-suffix, --timeout, whose default the caller may have put into `request`, and --strict-ranks.
void declare_who(OptionTable& options, RunRequest& request);

/// --message-size, whose default the caller has put into `request`
void declare_message_size(OptionTable& options, RunRequest& request, std::uint64_t least_bytes);

/// --fill
void declare_fill(OptionTable& options, RunRequest& request);

/// --fill-seed; `default_text` where the number does not tell
void declare_fill_seed(OptionTable& options, RunRequest& request, const std::string& default_text = {});

/// --repeat
void declare_repeat(OptionTable& options, RunRequest& request);

/// --allocator, --wait
void declare_memory_and_wait(OptionTable& options, RunRequest& request);

/// Where the benchmarks' outcomes differ.
struct Outcome {
  std::string endings;       ///< ".h5, .sion or .json"
  std::string default_file;  ///< "leadline-link-TIME.h5"
  std::vector<Named<ResultFormat>> formats;
  std::string dry_run_help;
  std::string verbose_help{};  ///< empty = as of all commands
};

/// Begins the group "What comes out": --output, --format (which goes to `format`), --json, --row-path, --overwrite,
/// --quiet, --verbose, --dry-run, --ranks, --ranks-per-host.
void declare_outcome(OptionTable& options, RunRequest& request, std::optional<ResultFormat>& format,
                     const Outcome& outcome);

/// --dry-run, --ranks, --ranks-per-host
void declare_dry_run(OptionTable& options, RunRequest& request, const std::string& help);

// What follows from the options of a benchmark: declare_options(table, request, format), beside its request, declares
// all of them, in the order of the help; what `request` holds is their default. The request and `format`, which gets
// what --format says, outlive the table.

/// What a result says of the options of this request.
template <class Request>
std::vector<Option> options_of(Request request) {
  std::optional<ResultFormat> format;
  OptionTable options;
  declare_options(options, request, format);
  return options.recorded();
}

/// The JSON Schema of that.
template <class Request>
Json options_schema() {
  Request request;
  std::optional<ResultFormat> format;
  OptionTable options;
  declare_options(options, request, format);
  return options.recorded_schema();
}

/// The physical network.
OptionEntry& declare_topology(OptionTable& options, std::string& topology);

/// The forwarding tables of the physical network.
OptionEntry& declare_routes(OptionTable& options, std::string& path);

/// The site profile to judge by.
OptionEntry& declare_profile(OptionTable& options, std::string& path);

/// Of what says who is slow.
struct VerdictOptions {
  OptionEntry &topology, &threshold, &false_discovery_rate;
};
VerdictOptions declare_verdict(OptionTable& options, std::string& topology, DiagnosisSettings& settings);

}  // namespace leadline::bench
