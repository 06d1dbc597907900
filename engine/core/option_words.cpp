// SPDX-License-Identifier: Apache-2.0
// Finds the names of options in texts, and takes advice apart at its full stops, semicolons and commas.
#include "core/option_words.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace leadline {
namespace {

// In static memory: errors are made by every layer, and by all threads.
OptionWords& words() {
  static OptionWords words;
  return words;
}

bool is_of_name(char c) { return c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Where the next "--name" begins; npos = there is none.
std::size_t next_option(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("--", from); at != std::string_view::npos; at = text.find("--", at + 1)) {
    const bool begins_word = at == 0 || !is_of_name(text[at - 1]);
    if (begins_word && at + 2 < text.size() && std::islower(static_cast<unsigned char>(text[at + 2])) != 0) return at;
  }
  return std::string_view::npos;
}

std::string_view name_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_of_name(text[end])) ++end;
  return text.substr(at, end - at);
}

std::optional<std::string_view> first_that_is_not_there(std::string_view text) {
  for (std::size_t at = next_option(text, 0); at != std::string_view::npos; at = next_option(text, at + 1)) {
    const auto found = words().find(name_at(text, at));
    if (found != words().end() && found->second.empty()) return found->first;
  }
  return std::nullopt;
}

bool names_a_command(std::string_view text) { return text.find("leadline ") != std::string_view::npos; }

/// A part of a text, and what stood before it: nothing for the first part.
struct Part {
  std::string_view before, text;
};

std::vector<Part> parts_of(std::string_view text, std::initializer_list<std::string_view> separators) {
  std::vector<Part> parts;
  std::string_view before;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::find_if(separators.begin(), separators.end(),
                                    [&](std::string_view separator) { return text.substr(at).starts_with(separator); });
    if (found == separators.end()) {
      ++at;
      continue;
    }
    parts.push_back({before, text.substr(begin, at - begin)});
    before = *found;
    begin = at += found->size();
  }
  parts.push_back({before, text.substr(begin)});
  return parts;
}

std::string begun(std::string text, bool is_upper) {
  if (text.empty()) return text;
  const auto first = static_cast<unsigned char>(text.front());
  text.front() = static_cast<char>(is_upper ? std::toupper(first) : first);
  return text;
}

/// Alternatives with commas between; nothing where the first one is gone, which has the verb of the others.
std::string sentence_in_words(std::string_view sentence) {
  if (names_a_command(sentence)) return std::string(sentence);
  std::string kept;
  for (const auto& [before, text] : parts_of(sentence, {", "})) {
    std::string alternative(text);
    if (const auto missing = first_that_is_not_there(text)) {
      const std::string means = " with " + std::string(*missing);
      if (!alternative.ends_with(means)) {
        if (before.empty()) return {};
        continue;
      }
      alternative.resize(alternative.size() - means.size());
      if (first_that_is_not_there(alternative)) return {};
    }
    kept += std::string(before) + in_option_words(alternative);
  }
  return kept;
}

}  // namespace

void set_option_words(OptionWords new_words) { words() = std::move(new_words); }

std::string in_option_words(std::string text) {
  if (words().empty()) return text;
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = next_option(text, 0); at != std::string_view::npos; at = next_option(text, at + 1)) {
    const std::string_view name = name_at(text, at);
    const auto found = words().find(name);
    if (found == words().end() || found->second.empty()) continue;
    result += text.substr(done, at - done) + found->second;
    done = at + name.size();
  }
  return result + text.substr(done);
}

std::string advice_in_option_words(std::string advice) {
  if (words().empty()) return advice;
  std::string kept;
  for (const auto& [before, text] : parts_of(advice, {". ", "; "})) {
    const std::string sentence = sentence_in_words(text);
    if (sentence.empty()) continue;
    kept += kept.empty() ? begun(sentence, !before.empty()) : std::string(before) + sentence;
  }
  return kept;
}

}  // namespace leadline
