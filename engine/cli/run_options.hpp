// SPDX-License-Identifier: Apache-2.0
// The options that every command which measures has, declared once: the members of RunRequest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/option_parser.hpp"
#include "model/request.hpp"

namespace leadline::cli {

inline constexpr std::uint64_t max_message_size_bytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t max_count = 1'000'000'000'000;

/// For the end of a help text: how sizes are written.
extern const char* const sizes_help;
/// Likewise: what the exit status means.
extern const char* const exit_status_help;

/// Begins the group "Who takes part": --transport, --local, --interface, --host-name-suffix, --timeout, whose default
/// the caller may have put into `request`.
void declare_who(OptionParser& options, RunRequest& request);

/// --message-size, whose default the caller has put into `request`; `default_text` is how to write it.
void declare_message_size(OptionParser& options, RunRequest& request, std::uint64_t least_bytes,
                          const std::string& default_text);

/// --fill
void declare_fill(OptionParser& options, RunRequest& request);

/// --fill-seed
void declare_fill_seed(OptionParser& options, RunRequest& request, const std::string& default_text);

/// --repeat
void declare_repeat(OptionParser& options, RunRequest& request);

/// --allocator, --wait
void declare_memory_and_wait(OptionParser& options, RunRequest& request);

/// Where the benchmarks' outcomes differ.
struct Outcome {
  std::string endings;       ///< ".h5, .sion or .json"
  std::string default_file;  ///< "leadline-link-TIME.h5"
  std::string formats_help;
  std::vector<ResultFormat> formats;
  std::string dry_run_help;
};

/// Begins the group "What comes out": --output, --format (which goes to `format`), --json, --row-path, --overwrite,
/// --quiet, --dry-run, --ranks, --ranks-per-host.
void declare_outcome(OptionParser& options, RunRequest& request, std::optional<ResultFormat>& format,
                     const Outcome& outcome);

}  // namespace leadline::cli
