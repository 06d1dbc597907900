// SPDX-License-Identifier: Apache-2.0
// A historical front end's own file of results, which has every line as soon as it is there.
#pragma once

#include <functional>
#include <string>

namespace leadline::compat {

/// Local: makes the file, or empties an older one, and gives what appends a text to it; copies of that append to the
/// same file. Both throw Error, which calls the option that names the file `option`.
std::function<void(const std::string& text)> appending_to(const std::string& path, const std::string& option);

}  // namespace leadline::compat
