// SPDX-License-Identifier: Apache-2.0
// Opens transport modules, in this process or, to see whether it works, in a child.
#include "transport/module.hpp"

#include <chrono>

#include "cluster/child.hpp"
#include "core/error.hpp"

namespace leadline::transport {
namespace {

std::string path_of(const ModuleFile& file) {
  return (module_directory() / (std::string("leadline_transport_") + file.stem + ".so")).string();
}

const ModuleFile& file_for(const Entry& entry, cluster::Launcher launcher) {
  if (const ModuleFile* found = fitting_file(entry.files, launcher)) return *found;
  throw Error(ExitStatus::something_missing,
              std::string("the transport ") + entry.name + " needs a launcher of its own", why_not_fitting(launcher),
              std::string("Try: mpirun -n 4 leadline link --transport ") + entry.name);
}

const Module& module_of(const DynamicLibrary& library) {
  const Module* module = library.function<const Module*()>(module_symbol)();
  if (module == nullptr) throw Error(ExitStatus::something_missing, library.path() + " offers no transport");
  return *module;
}

/// What a child found out about a file: the reason why it cannot be loaded, or nothing.
std::string try_loading(const std::string& path) {
  try {
    module_of(DynamicLibrary(path));
    return {};
  } catch (const Error& error) {
    return error.why().empty() ? error.what() : error.why();
  }
}

std::string probe(const std::string& path) {
  const auto answer = cluster::ask_child([&] { return try_loading(path); }, std::chrono::seconds(20));
  return answer.text ? *answer.text : "the process that loaded it: " + answer.why;
}

}  // namespace

LoadedModule open_module(std::string_view name, cluster::Launcher launcher) {
  const Entry& entry = transport_named(name);
  const ModuleFile& file = file_for(entry, launcher);
  try {
    DynamicLibrary library(path_of(file));
    const Module& module = module_of(library);
    return {entry, file, std::move(library), module};
  } catch (const Error& error) {
    throw Error(ExitStatus::something_missing, std::string("the transport ") + entry.name + " cannot be used here",
                error.why().empty() ? error.problem() : error.why(),
                "\"leadline transports\" says which can be used here");
  }
}

std::vector<Availability> probe_all() {
  std::vector<Availability> all;
  for (const Entry& entry : transports()) {
    for (const ModuleFile& file : entry.files) {
      const std::string path = path_of(file);
      all.push_back({&entry, &file, path, probe(path)});
    }
  }
  return all;
}

}  // namespace leadline::transport
