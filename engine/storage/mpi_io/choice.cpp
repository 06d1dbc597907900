// SPDX-License-Identifier: Apache-2.0
// The parameter "io" of Open MPI: set in the environment, and read back through the tools' interface.
#include "storage/mpi_io/choice.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "storage/mpi_io/library.hpp"

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {
#ifdef OPEN_MPI
namespace {

constexpr const char* io_variable = "OMPI_MCA_io";

struct Component {
  std::string name;
  int priority = 0;
};

/// The parameter "io": names that are taken, or behind ^ those that are not.
struct Selection {
  std::string text;

  bool takes(const std::string& name) const {
    if (text.empty()) return true;
    const bool leaves_out = text.front() == '^';
    const std::string list = "," + (leaves_out ? text.substr(1) : text) + ",";
    return (list.find("," + name + ",") != std::string::npos) != leaves_out;
  }
};

struct Components {
  Selection selection;
  std::vector<Component> all;
};

/// A parameter's value: characters, or one number.
struct Value {
  std::string text;
  int number = 0;
};

Value value_of(int index, bool is_text) {
  Value value;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return value;
  if (is_text) {
    std::vector<char> text(static_cast<std::size_t>(std::max(count, 0)) + 1, '\0');
    MPI_T_cvar_read(handle, text.data());
    value.text = text.data();
  } else if (count == 1) {
    MPI_T_cvar_read(handle, &value.number);
  }
  MPI_T_cvar_handle_free(&handle);
  return value;
}

/// Every component has a parameter io_NAME_priority.
std::string component_of(std::string_view parameter) {
  constexpr std::string_view prefix = "io_", suffix = "_priority";
  if (!parameter.starts_with(prefix) || !parameter.ends_with(suffix)) return {};
  if (parameter.size() <= prefix.size() + suffix.size() || parameter.ends_with("_delete_priority")) return {};
  return std::string(parameter.substr(prefix.size(), parameter.size() - prefix.size() - suffix.size()));
}

Components components() {
  Components found;
  int provided = 0, num_parameters = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return found;
  MPI_T_cvar_get_num(&num_parameters);
  for (int index = 0; index < num_parameters; ++index) {
    std::array<char, 256> name{};
    int length = static_cast<int>(name.size()), verbosity = 0, binding = 0, scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (MPI_T_cvar_get_info(index, name.data(), &length, &verbosity, &type, nullptr, nullptr, nullptr, &binding,
                            &scope) != MPI_SUCCESS) {
      continue;
    }
    if (std::string_view(name.data()) == "io" && type == MPI_CHAR) found.selection.text = value_of(index, true).text;
    const std::string component = component_of(name.data());
    if (!component.empty() && type == MPI_INT) found.all.push_back({component, value_of(index, false).number});
  }
  MPI_T_finalize();
  return found;
}

std::string names_of(const std::vector<Component>& all) {
  std::string names;
  for (const Component& component : all) names += (names.empty() ? "" : ", ") + component.name;
  return names;
}

}  // namespace

void choose(const std::string& argument) {
  if (argument.empty()) return;
  if (argument == "ompio") {
    ::setenv(io_variable, "ompio", 1);
  } else if (argument == "romio") {
    // Its name has a number that changes with the version (romio314, romio321, romio341): whatever is not OMPIO.
    ::setenv(io_variable, "^ompio", 1);
  } else {
    throw Error(ExitStatus::bad_command_line, "--backend mpi-io has no \"" + argument + "\"",
                "Open MPI has ompio and romio", "Try: --backend mpi-io:ompio, or --backend mpi-io:romio");
  }
}

Chosen chosen() {
  Components there = components();
  std::erase_if(there.all, [&](const Component& component) { return !there.selection.takes(component.name); });
  const auto best = std::max_element(there.all.begin(), there.all.end(),
                                     [](const Component& a, const Component& b) { return a.priority < b.priority; });
  if (best != there.all.end()) {
    return {best->name, best->name == "ompio" ? Implementation::ompio : Implementation::romio};
  }
  throw Error(ExitStatus::something_missing, "--backend mpi-io cannot be used here",
              there.selection.text.empty() ? library_name() + " has no MPI-IO"
                                           : library_name() + " has no component for MPI-IO that is called \"" +
                                                 there.selection.text + "\"; it has " + names_of(components().all),
              "Take another one (\"ompi_info\" lists those of the framework io), or --backend posix");
}
#else

void choose(const std::string& argument) {
  if (argument.empty() || argument == "romio") return;
  throw Error(ExitStatus::bad_command_line, "--backend mpi-io has no \"" + argument + "\"",
              library_name() + " has romio alone", "Try: --backend mpi-io");
}

Chosen chosen() { return {"ROMIO", Implementation::romio}; }
#endif

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
