// SPDX-License-Identifier: Apache-2.0
// Declares them with their help and their limits.
#include "cli/verdict_options.hpp"

namespace leadline::cli {

void declare_verdict(OptionParser& options, std::string& topology, DiagnosisSettings& settings) {
  constexpr double least_threshold = 0.001, least_rate = 1e-6;
  options.value("--topology", "WORD",
                "the physical network: a file (Slurm's topology.conf, ibnetdiscover, cables), a formula "
                "(fat-tree:32x16) or pattern:REGEX over the names of hosts. Default: nothing is known",
                [&](const std::string&, const std::string& text) { topology = text; });
  options.share("--threshold", "the least share of time that counts as a fault", least_threshold, settings.threshold);
  options.share("--false-discovery-rate", "so many findings of a kind may be chance", least_rate,
                settings.false_discovery_rate);
}

}  // namespace leadline::cli
