// SPDX-License-Identifier: Apache-2.0
// Opens transport modules, in this process or, to see whether it works, in a child.
#include "transport/module.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "cluster/socket.hpp"
#include "core/deadline.hpp"
#include "core/error.hpp"

namespace leadline::transport {
namespace {

std::string path_of(const ModuleFile& file) {
  return (module_directory() / (std::string("leadline_transport_") + file.stem + ".so")).string();
}

bool fits(const ModuleFile& file, cluster::Launcher launcher) {
  return file.launchers.empty() ||
         std::find(file.launchers.begin(), file.launchers.end(), launcher) != file.launchers.end();
}

const ModuleFile& fitting_file(const Entry& entry, cluster::Launcher launcher) {
  const auto found =
      std::find_if(entry.files.begin(), entry.files.end(), [&](const auto& file) { return fits(file, launcher); });
  if (found != entry.files.end()) return *found;
  throw Error(
      ExitStatus::something_missing, std::string("the transport ") + entry.name + " needs a launcher of its own",
      launcher == cluster::Launcher::none ? "no launcher has started this process"
                                          : std::string("what started this process is: ") + cluster::name_of(launcher),
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

[[noreturn]] void report_and_leave(int fd, const std::string& reason) {
  const std::string text = reason + '\0';  // the mark that the child came to its end
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  ::_exit(0);
}

std::string read_report(int fd, Deadline deadline) {
  std::string text;
  std::array<char, 512> piece{};
  for (;;) {
    pollfd wanted{fd, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, deadline.left_ms());
    if (ready <= 0 && deadline.has_passed()) return "loading it takes longer than 20 seconds";
    if (ready <= 0) continue;
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got <= 0) return "the process that loaded it died";
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.back() == '\0') return text.substr(0, text.size() - 1);
  }
}

std::string probe(const std::string& path) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error_text(errno);
  const cluster::Socket in(ends[0]);
  cluster::Socket out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_error_text(errno);
  if (child == 0) report_and_leave(out.fd(), try_loading(path));
  out = cluster::Socket();
  std::string reason = read_report(in.fd(), Deadline::after(std::chrono::seconds(20)));
  ::kill(child, SIGKILL);  // it has reported, or it is stuck
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return reason;
}

}  // namespace

LoadedModule open_module(std::string_view name, cluster::Launcher launcher) {
  const Entry& entry = transport_named(name);
  const ModuleFile& file = fitting_file(entry, launcher);
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
