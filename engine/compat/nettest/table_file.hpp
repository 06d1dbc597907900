// SPDX-License-Identifier: Apache-2.0
// The file of the letter o, which has every line as soon as it is there.
#pragma once

#include <functional>
#include <string>

namespace leadline::compat::nettest {

/// Local: makes the file, or empties an older one, and gives what appends a text to it; copies of that append to the
/// same file. Both throw Error in nettest's words.
std::function<void(const std::string& text)> appending_to(const std::string& path);

}  // namespace leadline::compat::nettest
