// SPDX-License-Identifier: Apache-2.0
// The HDF5 result of a text of IOR: what the text tells, and nothing in place of the rest.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "bench/io/hdf5_store.hpp"
#include "bench/io/ior_text.hpp"
#include "core/error.hpp"
#include "options/values.hpp"
#include "result/output_file.hpp"
#include "result/shared_file.hpp"

namespace leadline::bench::io {
namespace {

/// Options whose values follow from a text, or from what IOR is.
constexpr const char* told_options[] = {
    "movement", "strided",     "block_size", "random",     "objects",    "object_size", "io_ranks", "io_hosts",
    "files",    "buffer_size", "ahead",      "no_file",    "backend",    "calls",       "barrier",  "queue_depth",
    "target",   "collective",  "op",         "repeat",     "metadata",   "items",       "mix",      "preallocate",
    "direct",   "uncached",    "drop_cache", "time_limit", "rate_limit", "read_shift",  "sync"};

std::vector<std::pair<std::string, std::string>> options_of_text(
    std::vector<std::pair<std::string, std::string>> options, const IorText& text) {
  std::erase_if(options, [&](const auto& option) {
    return std::ranges::count(told_options, option.first) == 0 ||
           std::ranges::count(text.unknown_options, option.first) > 0;
  });
  for (auto& [name, value] : options) {
    for (const auto& [other, own] : text.other_values) {
      if (name == other) value = own;
    }
  }
  return options;
}

std::vector<std::string> hosts_of(const IorText& text, const std::vector<std::string>& host_names,
                                  const std::string& program_text) {
  const auto num_hosts = static_cast<std::size_t>(text.result.provenance.num_hosts);
  if (host_names.empty()) {
    std::vector<std::string> hosts{text.host.empty() ? "host0" : text.host};
    while (hosts.size() < num_hosts) hosts.push_back(fmt::format("host{}", hosts.size()));
    return hosts;
  }
  if (num_hosts == 1 && !text.host.empty()) throw_no_effect("--host-names", program_text + " has the name of its host");
  if (host_names.size() != num_hosts) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--host-names {} does not fit {}", fmt::join(host_names, ","), program_text),
                fmt::format("it has {} hosts", num_hosts), "Give a name for each host, in the order of their ranks");
  }
  return host_names;
}

Header header_of_text(const IorText& text) {
  Header header = header_of(text.result);
  header.options = options_of_text(std::move(header.options), text);
  for (auto& [name, value] : header.provenance) {
    if (name == "wait") value = std::string();
  }
  header.num_phases = text.result.phases.size();
  header.complete = text.result.complete;
  header.incomplete_reason = text.result.incomplete_reason;
  return header;
}

}  // namespace

std::vector<std::string> write_hdf5(const IorText& text, const std::vector<std::string>& host_names,
                                    const std::string& path) {
  const Header header = header_of_text(text);
  const std::vector<std::string> hosts = hosts_of(text, host_names, fmt::format("the text of {}", text.program));
  result::OutputFile output = result::OutputFile::create(path, result::ExistingFile::refuse);
  const Offsets offsets = create_structure(path, header);
  result::hdf5::add_places(path, header.num_ranks, [&](std::int64_t rank) {
    const auto host = static_cast<std::size_t>(rank / text.num_ranks_per_host);
    RankPlacement placement;
    placement.host = hosts[std::min(host, hosts.size() - 1)];
    return placement;
  });
  output.write_at(offsets.run.message_size, result::bytes_of(header.message_sizes_bytes));
  for (const PhaseSummary& phase : text.result.phases) write_phase(output, offsets.phases, phase, State::absent);
  const std::uint8_t complete = header.complete ? 1 : 0;
  output.write_at(offsets.run.complete, std::as_bytes(std::span(&complete, 1)));
  output.write_at(offsets.run.reason, result::padded(header.incomplete_reason, result::reason_size));
  output.sync();
  output.close();
  std::vector<std::string> left_out = text.left_out;
  if (hosts.size() > 1 && host_names.empty()) {
    left_out.emplace_back("the names of all hosts but the first, which the text does not say");
  }
  return left_out;
}

}  // namespace leadline::bench::io
