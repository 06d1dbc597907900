// SPDX-License-Identifier: Apache-2.0
// From /proc: the boot, the namespaces, and when a process was started.
#include "cluster/process_identity.hpp"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "cluster/bytes.hpp"
#include "cluster/keyed_hash.hpp"

namespace leadline::cluster {
namespace {

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string line;
  std::getline(file, line);
  return line;
}

/// "net:[4026531840]"; empty where the kernel has no such namespaces.
std::string name_of_namespace(const std::string& kind) {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/ns/" + kind, none).string();
}

std::uint64_t number_of(const std::string& text) {
  return take<std::uint64_t>(hash_of(text, sizeof(std::uint64_t)).data());
}

/// From /proc/PID/stat, proc(5); all zero where there is no such process.
struct Status {
  char state = 0;                ///< the third word
  std::uint64_t start_time = 0;  ///< the 22nd
};

Status status_of(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');  // a buffer iterator would throw where the process ends between open and read
  const std::size_t behind_name = text.rfind(')');  // the second word, which may hold blanks
  if (behind_name == std::string::npos) return {};
  std::istringstream words(text.substr(behind_name + 1));
  Status status;
  words >> status.state;
  std::string word;
  constexpr int words_between = 18;
  for (int i = 0; i < words_between; ++i) words >> word;
  words >> status.start_time;
  return status;
}

/// Whether its number means the same here.
bool is_here(const ProcessIdentity& process) {
  return process.pid != 0 && process.scope == ProcessIdentity::own().scope;
}

}  // namespace

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

HostIdentity HostIdentity::own() {
  const std::string name = host_name(), boot = boot_id();
  return {number_of(name), number_of(name + '\n' + name_of_namespace("net")), boot.empty() ? 0 : number_of(boot)};
}

std::vector<std::uint32_t> hosts_of(std::span<const HostIdentity> processes) {
  std::map<std::uint64_t, std::set<std::uint64_t>> boots;
  for (const HostIdentity& one : processes) {
    if (one.boot != 0) boots[one.network].insert(one.boot);
  }
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> known;
  std::vector<std::uint32_t> hosts;
  for (const HostIdentity& one : processes) {
    const auto others = boots.find(one.network);
    const bool is_of_others = one.boot == 0 && others != boots.end() && others->second.size() == 1;
    const std::pair key{one.network, is_of_others ? *others->second.begin() : one.boot};
    hosts.push_back(known.try_emplace(key, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return hosts;
}

ProcessIdentity ProcessIdentity::own() {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const std::string boot = boot_id(), host = boot.empty() ? host_name() : boot;
  return {number_of(host + '\n' + name_of_namespace("pid")), pid, status_of(pid).start_time};
}

bool is_stopped_here(const ProcessIdentity& process) {
  if (!is_here(process)) return false;
  const Status status = status_of(process.pid);
  return (status.state == 'T' || status.state == 't') && status.start_time == process.start_time;
}

bool end_if_stopped_here(const ProcessIdentity& process) {
  if (is_stopped_here(process)) ::kill(static_cast<pid_t>(process.pid), SIGKILL);
  return is_here(process);
}

}  // namespace leadline::cluster
