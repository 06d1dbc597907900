// SPDX-License-Identifier: Apache-2.0
// Maps LinkTest's names to Leadline's and back.
#include "compat/linktest/layers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.hpp"
#include "memory/buffer.hpp"
#include "transport/table.hpp"

namespace leadline::compat::linktest {
namespace {

struct Names {
  std::string_view theirs, ours;
};

constexpr std::array<Names, 7> layers{{{"mpi", "mpi"},
                                       {"tcp", "tcp"},
                                       {"ucp", "ucx"},
                                       {"ibverbs", "verbs"},
                                       {"psm2", "psm2"},
                                       {"portals", "portals4"},
                                       {"cuda", "cuda"}}};

constexpr std::string_view default_allocator = "DEFAULT";

// LinkTest's pinned memory comes out of mmap; ours is locked besides, which is what its name says.
constexpr std::array<Names, 4> allocators{{{"aligned-memory_allocator", "aligned"},
                                           {"pinned-memory-map_allocator", "pinned"},
                                           {"POSIX_aligned-memory_allocator", "posix"},
                                           {"CUDA_memory_allocator", "cuda"}}};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_built(std::string_view transport) {
  const auto all = transport::transports();
  return std::any_of(all.begin(), all.end(), [&](const auto& entry) { return entry.name == transport; });
}

}  // namespace

std::string layers_here() {
  std::vector<std::string> names;
  for (const transport::Entry& entry : transport::transports()) {
    names.push_back(layer_of(entry.name) + (std::string_view(entry.name) == "model" ? ":FILE" : ""));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string transport_of(const std::string& layer, const std::string& origin) {
  const auto colon = std::min(layer.find(':'), layer.size());
  const std::string name = lower(std::string_view(layer).substr(0, colon));
  const auto* known =
      std::find_if(layers.begin(), layers.end(), [&](const Names& word) { return word.theirs == name; });
  const std::string transport = known != layers.end() ? std::string(known->ours) : name;
  if (is_built(transport)) return transport + layer.substr(colon);
  if (known != layers.end()) {
    throw Error(ExitStatus::something_missing, fmt::format("the transport '{}' of {} is not built in", layer, origin),
                "there are " + layers_here(), "\"leadline transports\" says which can be used here");
  }
  throw Error(ExitStatus::bad_command_line, fmt::format("there is no transport '{}', which {} names", layer, origin),
              "there are " + layers_here(), "See linktest -h");
}

std::string layer_of(const std::string& transport) {
  const auto colon = std::min(transport.find(':'), transport.size());
  const std::string_view name = std::string_view(transport).substr(0, colon);
  const auto* known = std::find_if(layers.begin(), layers.end(), [&](const Names& word) { return word.ours == name; });
  return known == layers.end() ? transport : std::string(known->theirs) + transport.substr(colon);
}

std::string layer_in_name(const std::string& path) {
  constexpr std::string_view prefix = "linktest.";
  const auto slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string();
}

std::string allocator_of(const std::string& name, const std::string& transport) {
  if (lower(name) == lower(default_allocator)) return transport == "cuda" ? "cuda" : "posix";
  const auto* known = std::find_if(allocators.begin(), allocators.end(),
                                   [&](const Names& word) { return lower(word.theirs) == lower(name); });
  if (known != allocators.end()) return std::string(known->ours);
  const auto own = memory::allocators();
  if (std::any_of(own.begin(), own.end(), [&](const auto& allocator) { return allocator.name == name; })) return name;

  std::vector<std::string_view> names{default_allocator};
  for (const Names& word : allocators) names.push_back(word.theirs);
  for (const memory::Allocator& allocator : own) names.emplace_back(allocator.name);
  throw Error(ExitStatus::bad_command_line, fmt::format("--memory-buffer-allocator cannot be '{}'", name),
              fmt::format("it must be one of {}", fmt::join(names, ", ")), "See linktest -h");
}

}  // namespace leadline::compat::linktest
