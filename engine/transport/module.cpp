// SPDX-License-Identifier: Apache-2.0
// Opens transport modules in this process.
#include "transport/module.hpp"

#include "core/error.hpp"

namespace leadline::transport {
namespace {

const ModuleFile& file_for(const Entry& entry, cluster::Launcher launcher) {
  if (const ModuleFile* found = fitting_file(entry.files(), launcher)) return *found;
  throw Error(ExitStatus::something_missing,
              std::string("the transport ") + entry.name + " needs a launcher of its own", why_not_fitting(launcher),
              std::string("Try: mpirun -n 4 leadline link --transport ") + entry.name);
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

}  // namespace leadline::transport
