// SPDX-License-Identifier: Apache-2.0
// Declares them with their help and their limits.
#include "cli/verdict_options.hpp"

#include "cli/arguments.hpp"

namespace leadline::cli {

void declare_verdict(DeclaredOptions& options, std::string& topology, DiagnosisSettings& settings) {
  constexpr double least_threshold = 0.001, least_rate = 1e-6;
  options.value("--topology", "WORD",
                "what the hosts hang on: a file (Slurm's topology.conf, ibnetdiscover, cables), a formula "
                "(fat-tree:32x16) or pattern:REGEX over their names. Default: nothing is known",
                [&](const std::string&, const std::string& text) { topology = text; });
  options.value("--threshold", "SHARE", "the least share of time that counts as a fault. Default: 10%",
                [&](const std::string& option, const std::string& text) {
                  settings.threshold = parse_share(option, text, least_threshold);
                });
  options.value("--false-discovery-rate", "SHARE", "so many findings of a kind may be chance. Default: 1%",
                [&](const std::string& option, const std::string& text) {
                  settings.false_discovery_rate = parse_share(option, text, least_rate);
                });
}

}  // namespace leadline::cli
