// SPDX-License-Identifier: Apache-2.0
// Texts and numbers in environment variables.
#include "cluster/variables.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t secret_length_min = 16;
constexpr const char* secret_variable = "LEADLINE_SECRET";
constexpr const char* secret_hint =
    "Export the same random text for all ranks, for instance that of: openssl rand -hex 16";

}  // namespace

void bad_variable(const std::string& name, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, "the environment variable " + name + " cannot be used", why, hint);
}

std::string text_of_variable(const std::string& name, const std::string& hint) {
  const char* text = std::getenv(name.c_str());
  if (text == nullptr || *text == '\0') bad_variable(name, "it is not set", hint);
  return text;
}

int number_of_variable(const std::string& name, int min, int max, const std::string& hint) {
  const std::string text = text_of_variable(name, hint);
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc::invalid_argument || (problem == std::errc{} && stop != end)) {
    bad_variable(name, fmt::format("'{}' is not a number", text), hint);
  }
  if (problem != std::errc{} || number < min || number > max) {
    bad_variable(name, fmt::format("{} is not from {} to {}", text, min, max), hint);
  }
  return number;
}

std::string given_secret() {
  const char* const text = std::getenv(secret_variable);
  std::string secret = text != nullptr ? text : "";
  if (!secret.empty() && secret.size() < secret_length_min) {
    bad_variable(secret_variable, fmt::format("it has fewer than {} characters", secret_length_min), secret_hint);
  }
  return secret;
}

std::string required_secret() {
  text_of_variable(secret_variable, secret_hint);
  return given_secret();
}

}  // namespace leadline::cluster
