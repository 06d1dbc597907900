// SPDX-License-Identifier: Apache-2.0
// Options declared once: parsing and help follow from it, and what is typed is checked by our own parsers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/command_line.hpp"

namespace leadline::cli {

/// Declares options on a CLI11 application; all errors look alike. None but a list may stand twice.
class DeclaredOptions {
 public:
  explicit DeclaredOptions(CLI::App& app) : app_(app) {}

  using Take = std::function<void(const std::string& option, const std::string& text)>;

  /// Those that follow stand under this title in the help.
  void group(const std::string& title) { group_ = title; }

  void value(const std::string& name, const char* type, const std::string& help, const Take& take);
  /// One that may be given several times; `take` gets each, in order.
  void list(const std::string& name, const char* type, const std::string& help, const Take& take);
  void count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
             const std::function<void(std::uint64_t)>& take);
  void flag(const std::string& name, const std::string& help, bool& member);

 private:
  CLI::App& app_;
  std::string group_ = "Options";  // CLI11 hides those of a group without a name
};

}  // namespace leadline::cli
