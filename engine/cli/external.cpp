// SPDX-License-Identifier: Apache-2.0
// Programs named leadline-<command>: beside this program first, then along the path.
#include "cli/external.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "core/error.hpp"

namespace leadline::cli {
namespace {

namespace fs = std::filesystem;

const std::string prefix = "leadline-";

std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  std::error_code none;
  const fs::path own = fs::read_symlink("/proc/self/exe", none);
  if (!none) found.push_back(own.parent_path());
  if (const char* path = std::getenv("PATH")) {
    std::istringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (!folder.empty()) found.emplace_back(folder);
    }
  }
  return found;
}

bool is_program(const fs::path& file) {
  std::error_code none;
  return fs::is_regular_file(file, none) && access(file.c_str(), X_OK) == 0;
}

/// Empty where there is none.
fs::path program_of(const std::string& command) {
  if (!is_command_name(command)) return {};
  for (const fs::path& folder : folders()) {
    if (fs::path file = folder / (prefix + command); is_program(file)) return file;
  }
  return {};
}

/// The Python of a script, as its first line names it; empty where it names nothing.
std::string python_of(const fs::path& file) {
  std::ifstream text(file);
  std::string line;
  std::getline(text, line);
  return line.starts_with("#!") ? line.substr(2) : "";
}

}  // namespace

std::vector<std::string> external_commands() {
  std::set<std::string> names;
  for (const fs::path& folder : folders()) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix) && is_program(entry.path())) names.insert(name.substr(prefix.size()));
    }
  }
  return {names.begin(), names.end()};
}

std::string external_description(const std::string& command) {
  std::string quoted;  // for the shell, in single quotes
  for (const char c : program_of(command).string()) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  std::FILE* const output = popen(("'" + quoted + "' --describe-options 2>/dev/null").c_str(), "re");
  if (output == nullptr) return "";
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t num = 0; (num = std::fread(part.data(), 1, part.size(), output)) > 0;) text.append(part.data(), num);
  return pclose(output) == 0 ? text : "";
}

bool is_command_name(const std::string& name) { return name.find('/') == std::string::npos && !name.starts_with("-"); }

bool has_program(const std::string& command) { return !program_of(command).empty(); }

int run_external(const std::vector<std::string>& arguments) {
  const fs::path file = program_of(arguments.at(1));
  std::vector<std::string> words{file.string()};
  words.insert(words.end(), arguments.begin() + 2, arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_DFL);
  execv(file.c_str(), pointers.data());
  const int why = errno;
  if (const std::string python = python_of(file); why == ENOENT && !python.empty()) {
    throw Error(ExitStatus::something_missing, "cannot run " + file.string(), python + " is not on this machine",
                "Install the analysis with a Python that all hosts have: cmake -DLEADLINE_PYTHON=FILE, or the wheel.");
  }
  throw Error(ExitStatus::something_missing, "cannot run " + file.string(), system_error_text(why),
              "Is the analysis package installed where this program can run it?");
}

}  // namespace leadline::cli
