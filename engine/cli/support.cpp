// SPDX-License-Identifier: Apache-2.0
// The features of the link test. They are the engine's, so every transport has them but for its own limits.
#include "cli/support.hpp"

#include <fmt/format.h>

namespace leadline::cli {
namespace {

constexpr Feature table[] = {
    {"semidirectional", "--direction semidirectional", ""},
    {"unidirectional", "--direction unidirectional", "--unidirectional"},
    {"bidirectional", "--direction bidirectional", "--bidirectional"},
    {"bisection", "--bisection", "--bisection"},
    {"grouping by host name", "--between-hosts", "--group-processes-by-hostname"},
    {"bisection of the hosts", "--bisection --between-hosts", "--bisection --group-processes-by-hostname"},
    {"one rank per host", "--one-per-host", ""},
    {"all-to-all", "--all-to-all around", "--all-to-all"},
    {"serial", "--serial", "--serial-tests"},
    {"random order of the rounds", "--shuffle-rounds", "--randomize-steps"},
    {"random permutations of the ranks", "--shuffle-ranks 2", "--num-randomize-tasks 2"},
    {"several iterations", "--repeat 2", "--min-iterations 2"},
    {"minimum run time", "--min-time 1ms", "--min-runtime 0.001"},
    {"several buffers", "--buffers 3", "--multi-buffer --num-multi-buffer 3"},
    {"random contents", "--fill mersenne", "--randomize-buffers"},
    {"check of the buffers", "--check-buffers", "--check-buffers"},
    {"verification of every message", "--verify", ""},
    {"GPU memory", "--allocator cuda", "--use-gpu-memory"},
    {"no file", "--format none", "--no-sion-file"},
    {"SION file through rank 0", "--format sion --row-path funnel", ""},
    {"SION file by all ranks", "--format sion", "--parallel-sion-file"},
};

}  // namespace

std::span<const Feature> features() { return table; }

std::string support_of(const Feature& feature, const transport::Entry& transport) {
  const transport::Limit* const limit = transport::limit_of(transport, feature.options);
  return limit == nullptr ? "yes" : limit->verdict;
}

std::string support_table() {
  std::string titles = "| feature | `leadline link` | `linktest` |", rule = "|---|---|---|";
  for (const transport::Entry& transport : transport::transports()) {
    titles += fmt::format(" {} |", transport.name);
    rule += "---|";
  }
  std::string text = titles + "\n" + rule + "\n";
  for (const Feature& feature : features()) {
    const std::string linktest = *feature.linktest == '\0' ? "" : fmt::format("`{}`", feature.linktest);
    text += fmt::format("| {} | `{}` | {} |", feature.name, feature.options, linktest);
    for (const transport::Entry& transport : transport::transports()) {
      text += fmt::format(" {} |", support_of(feature, transport));
    }
    text += "\n";
  }
  return text;
}

}  // namespace leadline::cli
