// SPDX-License-Identifier: Apache-2.0
// What the options of the engine are called on the command line that the user wrote: a front end with options of its
// own says it once, and errors and advice follow.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace leadline {

/// By the engine's name of an option, "--message-size", its name on this command line, "-s"; empty = it is not there.
/// What is not in the map keeps its name.
using OptionWords = std::map<std::string, std::string, std::less<>>;

/// Once, before there are threads.
void set_option_words(OptionWords words);

/// The text with these names in place of the engine's; options that are not there keep theirs.
std::string in_option_words(std::string text);

/// The same for advice, "Do this with --one, or do that; do a third thing", out of which goes what needs an option that
/// is not there: " with --one", an alternative, or all up to the next semicolon or full stop. May leave nothing. What
/// names a command of leadline stays as it is.
std::string advice_in_option_words(std::string advice);

}  // namespace leadline
