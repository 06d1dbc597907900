// SPDX-License-Identifier: Apache-2.0
// Networks that a few numbers describe: fat trees, dragonflies, tori.
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"

namespace leadline::network {

/// "fat-tree:HOSTSxLEAVES[xPODS][,spines=N][,cores=N]", "dragonfly:H[,groups=G]" and "torus:XxYx...", as those of
/// `leadline simulate bisection`, with hosts numbered alike and without names. Throws Error(bad_command_line) with the
/// part that is wrong.
Network formula(const std::string& word);

/// Whether the word begins with a kind of formula, right or wrong.
bool is_formula(std::string_view word);

/// All kinds as people write them, for messages.
std::string formula_forms();

}  // namespace leadline::network
