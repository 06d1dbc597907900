// SPDX-License-Identifier: Apache-2.0
// The parameters that IO500 gives IOR and mdtest (github.com/IO500/io500, src/phase_ior_easy.c, phase_ior_hard.c,
// phase_mdtest_easy.c and phase_mdtest_hard.c, and the stonewall of its configuration), and those that IOR has by
// itself (github.com/hpc/ior, src/ior.c).
#include "bench/io/presets.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace leadline::bench::io {
namespace {

constexpr PresetOption ior_easy[] = {
    {"--movement", "N-N"},    {"--object-size", "2MiB"},   {"--objects", "4960000"},
    {"--time-limit", "300s"}, {"--read-shift", "hosts:1"}, {"--backend", "posix"},
};

constexpr PresetOption ior_hard[] = {
    {"--movement", "N-1"},    {"--strided", ""},           {"--object-size", "47008B"}, {"--objects", "10000000"},
    {"--time-limit", "300s"}, {"--read-shift", "hosts:1"}, {"--backend", "posix"},
};

constexpr PresetOption mdtest_easy[] = {
    {"--metadata", ""},      {"--items", "files"},     {"--movement", "N-N"},
    {"--object-size", "0B"}, {"--objects", "1000000"}, {"--time-limit", "300s"},
    {"--sync", "none"},      {"--touch", "object"},    {"--read-shift", "ranks:1"},
};

constexpr PresetOption mdtest_hard[] = {
    {"--metadata", ""},         {"--items", "files"},     {"--movement", "N-1"},
    {"--object-size", "3901B"}, {"--objects", "1000000"}, {"--time-limit", "300s"},
    {"--sync", "none"},         {"--touch", "object"},    {"--read-shift", "ranks:1"},
};

/// Blocks of 1 MiB.
constexpr PresetOption ior_itself[] = {
    {"--movement", "N-1"}, {"--object-size", "256KiB"}, {"--objects", "4"}, {"--backend", "posix"}, {"--sync", "none"},
};

constexpr Named<Preset> preset_names[] = {
    {Preset::none, "none"},
    {Preset::ior_easy, "ior-easy", "a file a rank, large objects"},
    {Preset::ior_hard, "ior-hard", "one file, small objects of all ranks in turn"},
    {Preset::mdtest_easy, "mdtest-easy", "empty files, a directory a rank"},
    {Preset::mdtest_hard, "mdtest-hard", "small files, one directory"},
};

/// Of an option of a command line; a wrong one is none.
template <typename Choice>
std::optional<Choice> choice_in(const std::vector<std::string>& arguments, std::string_view option) {
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    std::string_view name = arguments[index];
    if (!name.starts_with(option)) continue;
    name.remove_prefix(option.size());
    if (name.empty() && index + 1 < arguments.size()) {
      name = arguments[index + 1];
    } else if (name.starts_with('=')) {
      name.remove_prefix(1);
    }
    for (const Named<Choice>& named : names_of(Choice{})) {
      if (name == named.name) return named.value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::span<const Named<Preset>> names_of(Preset /*any*/) { return preset_names; }

const char* name_of(Preset preset) { return name_in(preset_names, preset); }

std::span<const PresetOption> preset_options(Preset preset) {
  switch (preset) {
    case Preset::none:
      break;
    case Preset::ior_easy:
      return ior_easy;
    case Preset::ior_hard:
      return ior_hard;
    case Preset::mdtest_easy:
      return mdtest_easy;
    case Preset::mdtest_hard:
      return mdtest_hard;
  }
  return {};
}

std::span<const PresetOption> like_options(Like like) {
  switch (like) {
    case Like::none:
      break;
    case Like::ior:
      return ior_itself;
  }
  return {};
}

std::string preset_words(std::span<const PresetOption> options) {
  std::string words;
  for (const PresetOption& option : options) {
    words += (words.empty() ? "" : " ") + std::string(option.name);
    if (*option.value != '\0') words += " " + std::string(option.value);
  }
  return words;
}

std::span<const PresetOption> options_set_by(const std::vector<std::string>& arguments) {
  const Preset preset = choice_in<Preset>(arguments, "--preset").value_or(Preset::none);
  if (preset != Preset::none) return preset_options(preset);
  return like_options(choice_in<Like>(arguments, "--like").value_or(Like::none));
}

void apply_preset(const OptionTable& options, std::span<const PresetOption> preset) {
  for (const PresetOption& option : preset) {
    const auto entry =
        std::ranges::find_if(options.entries(), [&](const auto& one) { return one.name == option.name; });
    entry->take(option.name, option.value);
  }
}

}  // namespace leadline::bench::io
