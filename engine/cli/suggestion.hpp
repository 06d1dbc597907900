// SPDX-License-Identifier: Apache-2.0
// The name that was probably meant by an unknown one.
#pragma once

#include <string>
#include <vector>

namespace leadline::cli {

/// The nearest by edit distance; empty where none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// The option that was probably meant by an unknown one: by an earlier spelling, by a part of its name, by edit
/// distance. Empty where none is near.
std::string meant_option(const std::string& option, const std::vector<std::string>& known);

}  // namespace leadline::cli
