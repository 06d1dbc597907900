// SPDX-License-Identifier: Apache-2.0
// Numbers one behind the other, lists behind their lengths.
#include "network/packed.hpp"

#include <cstring>
#include <vector>

namespace leadline::network {
namespace {

void put(std::string& text, std::uint64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Value>
void put_list(std::string& text, const Value& values) {
  put(text, values.size());
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
}

std::uint64_t take(std::string_view& text) {
  std::uint64_t number = 0;
  std::memcpy(&number, text.data(), sizeof number);
  text.remove_prefix(sizeof number);
  return number;
}

template <typename Value>
void take_list(std::string_view& text, Value& values) {
  values.resize(take(text));
  const std::size_t size = values.size() * sizeof values[0];
  if (size > 0) std::memcpy(values.data(), text.data(), size);
  text.remove_prefix(size);
}

}  // namespace

std::string packed(const Network& network) {
  std::string text;
  put_list(text, network.source);
  put(text, network.levels.size());
  for (const Level& level : network.levels) {
    put_list(text, level.kind);
    put(text, level.names.size());
    put_list(text, level.group_of);
  }
  put_list(text, network.hops);
  return text;
}

Network unpacked(std::string_view text) {
  Network network;
  take_list(text, network.source);
  network.levels.resize(take(text));
  for (Level& level : network.levels) {
    take_list(text, level.kind);
    level.names.resize(take(text));
    take_list(text, level.group_of);
  }
  take_list(text, network.hops);
  return network;
}

}  // namespace leadline::network
