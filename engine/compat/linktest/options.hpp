// SPDX-License-Identifier: Apache-2.0
// The command line and environment of `linktest`, LinkTest 2.x, turned into a request.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/link/request.hpp"

namespace leadline::compat::linktest {

/// The value of an environment variable; nothing where it is not set.
using Variables = std::function<std::optional<std::string>(const char* name)>;

enum class Action : std::uint8_t { run, help, version };

struct Command {
  Action action = Action::run;
  bench::link::LinkRequest request;  ///< of Action::run
  std::vector<std::string> remarks;  ///< what became of options that do nothing here, without line ends
};

/// `arguments` as in argv. No side effects. Throws Error: bad_command_line, or something_missing where a layer or an
/// allocator is not built in.
Command parse(const std::vector<std::string>& arguments, const Variables& variables);

/// What -h prints.
std::string help();

/// What -v prints: the version of LinkTest whose command line and output these are.
std::string version_line();

/// LinkTest counts a bidirectional message as one there and one back on each side, as in a ping-pong; the engine counts
/// each exchange. Both give the same time and bandwidth. This is LinkTest's number.
std::uint64_t num_messages_as_asked(const bench::link::LinkRequest& request);
std::uint64_t num_warmup_as_asked(const bench::link::LinkRequest& request);

/// Whether the test is to be repeated, so that a file keeps the last iteration only.
bool is_repeated(const bench::link::LinkRequest& request);

}  // namespace leadline::compat::linktest
