// SPDX-License-Identifier: Apache-2.0
// Options that stand together under one name, as others have published them.
#pragma once

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

/// Empty for none.
std::span<const PresetOption> preset_options(Preset preset);

/// What the other benchmark does by default; empty for none.
std::span<const PresetOption> like_options(Like like);

/// "--movement N-1 --strided --objects 10000000".
std::string preset_words(std::span<const PresetOption> options);

/// Those of the preset that a command line asks for; without one those of its --like. A wrong name is left to the
/// parser.
std::span<const PresetOption> options_set_by(const std::vector<std::string>& arguments);

/// Before the command line is parsed, so that what stands there counts instead.
void apply_preset(const OptionTable& options, std::span<const PresetOption> preset);

}  // namespace leadline::bench::io
