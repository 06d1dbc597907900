// SPDX-License-Identifier: Apache-2.0
// Finding and opening the modules that carry the transports, and trying each of them in a child process.
#include "transport/module.hpp"

#include <chrono>

#include "cluster/bytes.hpp"
#include "cluster/child.hpp"
#include "core/error.hpp"

namespace leadline::transport {
namespace {

const ModuleFile& file_for(const Entry& entry, cluster::Launcher launcher) {
  if (const ModuleFile* found = fitting_file(entry.files(), launcher)) return *found;
  throw Error(ExitStatus::something_missing,
              std::string("the transport ") + entry.name + " needs a launcher of its own", why_not_fitting(launcher),
              std::string("Try: mpirun -n 4 leadline link --transport ") + entry.name);
}

using cluster::append;
using cluster::append_text;

std::string reason_of(const Error& error) { return error.why().empty() ? error.problem() : error.why(); }

/// In the child: why_absent, settings, why_unusable, facts.
std::string find_out(const std::string& path, Ask ask) {
  std::string answer;
  const Module* module = nullptr;
  try {
    module = open_file(path).module;
  } catch (const Error& error) {
    append_text(answer, reason_of(error));
    return answer;
  }
  append_text(answer, "");
  if (ask == Ask::whether_it_loads) return answer;
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

Availability probe(const Entry& entry, const ModuleFile& file, Ask ask) {
  Availability availability;
  availability.entry = &entry;
  availability.file = &file;
  availability.path = path_of(file);
  const auto answer = cluster::ask_child([&] { return find_out(availability.path, ask); }, std::chrono::seconds(20));
  if (answer.text) {
    read_answer(*answer.text, availability);
  } else {
    availability.why_absent = "the process that loaded it: " + answer.why;
  }
  return availability;
}

}  // namespace

std::string path_of(const ModuleFile& file) {
  return (module_directory() / (std::string("leadline_transport_") + file.stem + ".so")).string();
}

OpenFile open_file(const std::string& path) {
  DynamicLibrary library(path);
  const Module* module = library.function<const Module*()>(module_symbol)();
  if (module == nullptr) throw Error(ExitStatus::something_missing, path + " offers no transport");
  return {std::move(library), module};
}

LoadedModule open_module(std::string_view name, cluster::Launcher launcher) {
  const Entry& entry = transport_named(name);
  const ModuleFile& file = file_for(entry, launcher);
  try {
    OpenFile opened = open_file(path_of(file));
    return {entry, file, std::move(opened.library), *opened.module};
  } catch (const Error& error) {
    throw Error(ExitStatus::something_missing, std::string("the transport ") + entry.name + " cannot be used here",
                error.why().empty() ? error.problem() : error.why(),
                "\"leadline transports\" says which can be used here");
  }
}

std::vector<Availability> probe_all(Ask ask) {
  std::vector<Availability> all;
  for (const Entry& entry : transports()) {
    for (const ModuleFile& file : entry.files()) all.push_back(probe(entry, file, ask));
  }
  return all;
}

}  // namespace leadline::transport
