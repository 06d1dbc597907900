// SPDX-License-Identifier: Apache-2.0
// Options that stand together under one name, as others have published them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/io/request.hpp"
#include "options/option_table.hpp"

namespace leadline::bench::io {

/// An option and its value; no value: a flag.
struct PresetOption {
  const char* name;
  const char* value;
};

/// Empty for Preset::none.
std::span<const PresetOption> preset_options(Preset preset);

/// "--movement N-1 --strided --objects 10000000".
std::string preset_words(Preset preset);

/// That which a command line asks for, if it does; a wrong name is left to the parser.
std::optional<Preset> preset_in(const std::vector<std::string>& arguments);

/// Before the command line is parsed, so that what stands there counts instead.
void apply_preset(const OptionTable& options, Preset preset);

}  // namespace leadline::bench::io
