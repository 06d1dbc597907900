// SPDX-License-Identifier: Apache-2.0
// Starts the ranks of a historical front end, reads facts about its process, and writes its files of results.
#include "compat/process.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cluster/bootstrap.hpp"
#include "command/reporting.hpp"
#include "command/run_command.hpp"
#include "core/error.hpp"
#include "result/output_file.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::compat {

using cluster::FrontEnd;
using cluster::Launcher;

namespace {

/// MPI knows its ranks by itself, whatever variables an old job script has left.
Launcher launcher_of(const RunRequest& request) {
  const std::string transport = transport::parse_choice(request.transport).name;
  return cluster::detect_launcher(transport == "mpi" ? FrontEnd::leadline : FrontEnd::linktest);
}

struct TextFile {
  result::OutputFile file;
  std::uint64_t size_bytes = 0;
};

/// Does `work`, whose errors name the option of the result file.
template <class Work>
auto in_words_of(const std::string& option, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string theirs = in_option_words("--output");
    std::string hint = error.hint();
    if (const auto at = hint.find(theirs); theirs != option && at != std::string::npos)
      hint.replace(at, theirs.size(), option);
    throw Error(error.status(), error.problem(), error.why(), hint);
  }
}

}  // namespace

OptionWords option_words(const OptionTable& engine, OptionWords own) {
  for (const OptionEntry& entry : engine.entries()) own.try_emplace(entry.name);
  return own;
}

std::uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t total_pages = 0, resident_pages = 0;
  if (!(in >> total_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

int current_core() { return ::sched_getcpu(); }

std::string note_of_replacement(const std::string& program, const std::string& file) {
  std::error_code unreadable;
  if (file.empty() || !std::filesystem::is_regular_file(file, unreadable)) return {};
  return fmt::format("{}: {} is there already and will be replaced\n", program, file);
}

std::uint64_t bytes_of_records(const std::string& path) {
  const auto reader = result::sion::Reader::open(path);
  std::uint64_t bytes = 0;
  for (std::int64_t task = 0; task < reader.num_tasks(); ++task) {
    bytes += static_cast<std::uint64_t>(reader.size_bytes(task));
  }
  return bytes;
}

Outlet standard_outlet() {
  return {[](const std::string& text) { command::say_if_read(text); },
          [](const std::string& text) {
            // As one write a line: the launcher mixes the lines of all ranks.
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          }};
}

void need_launcher(const RunRequest& request, const HowToStart& how) {
  if (launcher_of(request) != Launcher::none) return;
  command::refuse_unconnected_ranks();
  throw Error(ExitStatus::something_missing, fmt::format("nothing has started the ranks of {}", how.program),
              "there is no sign of a launcher",
              fmt::format("Start it with {}. \"{}\" starts local ranks by itself", how.example, how.own_command));
}

Start started_ranks(const RunRequest& request, const HowToStart& how) {
  need_launcher(request, how);
  const std::string transport = transport::parse_choice(request.transport).name;
  const Launcher launcher = launcher_of(request);
  transport::LoadedModule module = transport::open_module(transport, launcher);
  const auto timeout =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(request.timeout_s));
  auto bootstrap = command::launcher_bootstrap(module, launcher, timeout);
  return {module, std::move(bootstrap)};
}

std::function<void(const std::string& text)> appending_to(const std::string& path, const std::string& option) {
  auto made = in_words_of(option, [&] {
    return std::make_shared<TextFile>(TextFile{result::OutputFile::create(path, result::ExistingFile::overwrite)});
  });
  return [made, option](const std::string& text) {
    in_words_of(option, [&] { made->file.write_at(made->size_bytes, text); });
    made->size_bytes += text.size();
  };
}

}  // namespace leadline::compat
