// SPDX-License-Identifier: Apache-2.0
// What somebody probably meant who typed a name that there is not.
#pragma once

#include <string>
#include <vector>

namespace leadline::cli {

/// The nearest by edit distance; empty where none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// The option that is meant by one that there is not: by an earlier spelling, by a part of its name, by edit distance.
/// Empty where none is near.
std::string meant_option(const std::string& option, const std::vector<std::string>& known);

}  // namespace leadline::cli
