// SPDX-License-Identifier: Apache-2.0
// What the historical front ends share: how their ranks are started, facts about the process, and their files of
// results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cluster/bootstrap.hpp"
#include "core/option_words.hpp"
#include "model/request.hpp"
#include "options/option_table.hpp"
#include "transport/module.hpp"

namespace leadline::compat {

/// Local: memory of this process that lies in RAM; 0 where the system does not say.
std::uint64_t resident_bytes();

/// Local: the core that this thread runs on now; -1 where the system does not say.
int current_core();

/// Local: "PROGRAM: FILE is there already and will be replaced\n", or nothing. LinkTest replaced results silently.
std::string note_of_replacement(const std::string& program, const std::string& file);

/// Local: bytes that the ranks' records take in a SION file, without what is around them. Throws Error.
std::uint64_t bytes_of_records(const std::string& path);

/// Where a front end writes its texts; tests replace them.
struct Outlet {
  std::function<void(const std::string& text)> out;  ///< results; may throw Error
  std::function<void(const std::string& text)> err;  ///< monitoring
};

/// Standard output and standard error.
Outlet standard_outlet();

/// `own`, and the other options of the table as those that are not there.
OptionWords option_words(const OptionTable& engine, OptionWords own);

/// Local, once the command line is read: errors and advice name the options of this front end from now on, and not
/// those of the benchmark that it does not have. `declare`: its declare_options().
template <class Request>
void use_option_words(void (*declare)(OptionTable&, Request&, std::optional<ResultFormat>&), OptionWords own) {
  OptionTable engine;
  Request request;
  std::optional<ResultFormat> format;
  declare(engine, request, format);
  set_option_words(option_words(engine, std::move(own)));
}

struct Start {
  transport::LoadedModule module;
  std::unique_ptr<cluster::Bootstrap> bootstrap;
};

/// For the error where nothing has started the ranks.
struct HowToStart {
  std::string program, example;
  std::string own_command = "leadline link";  ///< what measures the same, and starts ranks by itself
};

/// Local: throws Error(something_missing) where nothing has started the ranks.
void need_launcher(const RunRequest& request, const HowToStart& how);

/// Collective: opens the transport and lets the ranks find each other: by their launcher, or, with any transport but
/// MPI, by the LINKTEST_TCP_* variables. Throws Error(something_missing) where neither is there.
Start started_ranks(const RunRequest& request, const HowToStart& how);

/// Local: makes the file, or empties an older one, and gives what appends a text to it; copies of that append to the
/// same file. Both throw Error, which calls the option that names the file `option`.
std::function<void(const std::string& text)> appending_to(const std::string& path, const std::string& option);

}  // namespace leadline::compat
