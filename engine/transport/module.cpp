// SPDX-License-Identifier: Apache-2.0
// Finding the transports that are built here, and trying each of them in a child process.
#include "transport/module.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <optional>

#include "cluster/bytes.hpp"
#include "cluster/child.hpp"
#include "core/error.hpp"
#include "mpi/library_search.hpp"
#include "transport/transport_file.hpp"

namespace leadline::transport {
namespace {

using cluster::append;
using cluster::append_text;

leadline::mpi::Library find_mpi(const Entry& entry, cluster::Launcher launcher) {
  if (leadline::mpi::is_mpi_launcher(launcher)) return leadline::mpi::find_library(launcher);
  throw Error(ExitStatus::something_missing,
              std::string("the transport ") + entry.name + " needs a launcher of its own", why_no_mpi(launcher),
              how_to_start_mpi(launcher, std::string("leadline link --transport ") + entry.name));
}

/// Throws where it has another ABI.
leadline::mpi::Library find_mpi_of(leadline::mpi::Abi abi, cluster::Launcher launcher) {
  if (!leadline::mpi::is_mpi_launcher(launcher)) return leadline::mpi::find_library_of(abi);
  leadline::mpi::Library library = leadline::mpi::find_library(launcher);
  if (library.abi == abi) return library;
  throw Error(ExitStatus::something_missing, "no library of this ABI",
              "that of this launcher is " + library.name + " (" + library.path + ")");
}

/// Throws Error(something_missing).
const Module& built_module(const Build& build) {
  const auto all = built_modules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const BuiltModule& one) { return one.name == std::string(build.name); });
  assert(found != all.end());
  if (found->module == nullptr) {
    throw Error(ExitStatus::something_missing, std::string(build.name) + " is not part of this program",
                std::string("not built: ") + found->why_not_built);
  }
  return *found->module;
}

/// Opens its library, or takes the functions of MPI. Throws Error(something_missing).
void load(const Module& module, const std::optional<leadline::mpi::Library>& mpi) {
  if (mpi) module.take_mpi(mpi->opened);
  if (module.load != nullptr) module.load();
}

/// In the child: why_absent, path, mpi_name, settings, why_unusable, facts.
std::string find_out(const Build& build) {
  std::string answer;
  const Module* module = nullptr;
  std::optional<leadline::mpi::Library> mpi;
  try {
    module = &built_module(build);
    if (build.abi) mpi = find_mpi_of(*build.abi, cluster::detect_launcher());
    load(*module, mpi);
  } catch (const Error& error) {
    append_text(answer, error.reason());
    return answer;
  }
  append_text(answer, "");
  append_text(answer, mpi ? mpi->path : "");
  append_text(answer, mpi ? mpi->name : "");
  append(answer, static_cast<std::uint32_t>(module->settings.size()));
  for (const Setting& setting : module->settings) {
    for (const char* text : {setting.name, setting.value, setting.meaning}) append_text(answer, text);
  }
  try {
    const std::vector<Fact> facts = module->facts();
    append_text(answer, "");
    append(answer, static_cast<std::uint32_t>(facts.size()));
    for (const Fact& fact : facts) {
      append_text(answer, fact.name);
      append_text(answer, fact.value);
    }
  } catch (const Error& error) {
    append_text(answer, error.what());
  }
  return answer;
}

void read_answer(const std::string& answer, Availability& availability) {
  cluster::Reader from(answer);
  availability.why_absent = from.text();
  if (!availability.why_absent.empty()) return;
  availability.path = from.text();
  availability.mpi_name = from.text();
  for (auto left = from.number<std::uint32_t>(); left > 0; --left) {
    KnownSetting setting;
    for (std::string* text : {&setting.name, &setting.value, &setting.meaning}) *text = from.text();
    availability.settings.push_back(std::move(setting));
  }
  availability.why_unusable = from.text();
  for (auto left = from.number<std::uint32_t>(); left > 0; --left) {
    Fact fact;
    for (std::string* text : {&fact.name, &fact.value}) *text = from.text();
    availability.facts.push_back(std::move(fact));
  }
}

Availability probe(const Entry& entry, const Build& build) {
  Availability availability;
  availability.entry = &entry;
  availability.build = &build;
  const auto answer = cluster::ask_child([&] { return find_out(build); }, std::chrono::seconds(20));
  if (answer.text) {
    read_answer(*answer.text, availability);
  } else {
    availability.why_absent = "the process that loaded it: " + answer.why;
  }
  return availability;
}

}  // namespace

LoadedModule open_module(std::string_view name, cluster::Launcher launcher) {
  const Entry& entry = transport_named(name);
  std::optional<leadline::mpi::Library> mpi;
  if (entry.needs_mpi()) mpi = find_mpi(entry, launcher);
  const auto builds = entry.builds();
  const Build& build =
      *std::find_if(builds.begin(), builds.end(), [&](const Build& one) { return !mpi || one.abi == mpi->abi; });
  try {
    if (is_file(name)) return {entry, build, open_transport_file(std::string(name))};
    const Module& module = built_module(build);
    load(module, mpi);
    return {entry, build, module};
  } catch (const Error& error) {
    throw Error(ExitStatus::something_missing, "the transport " + std::string(name) + " cannot be used here",
                error.reason(), "\"leadline transports\" says which can be used here");
  }
}

std::vector<Availability> probe_all() {
  std::vector<Availability> all;
  for (const Entry& entry : transports()) {
    for (const Build& build : entry.builds()) all.push_back(probe(entry, build));
  }
  return all;
}

}  // namespace leadline::transport
