// SPDX-License-Identifier: Apache-2.0
// Who we are, from a launcher that speaks PMI-2: srun --mpi=pmi2 and MPICH's mpiexec.
#include <fcntl.h>
#include <fmt/format.h>
#include <slurm/pmi2.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "cluster/bootstrap.hpp"
#include "cluster/bootstraps/library_bootstrap.hpp"

namespace leadline::cluster {
namespace {

// Values are text, so bytes go as hexadecimal digits, with room for the end of the text.
constexpr std::size_t part_size_bytes = (PMI2_MAX_VALLEN - 1) / 2;

struct Pmi2 {
  static constexpr const char* protocol = "PMI-2";
  static constexpr const char* hint =
      "Start the ranks with srun --mpi=pmi2 or MPICH's mpiexec, or remove the PMI_* variables";

  struct Identity {
    int rank = 0, size = 0;
    std::array<char, 256> job{};
  };

  static Identity start();
  static std::string gather(const Identity& identity, int turn, const std::string& own);
  static void end() { PMI2_Finalize(); }
  static std::string launcher_under(Launcher launcher) {
    return launcher == Launcher::mpich ? "MPICH Hydra (PMI-2)" : name_of(launcher);
  }
};
using Identity = Pmi2::Identity;

void require(int status, const char* call) {
  if (status == PMI2_SUCCESS) return;
  cannot_gather(fmt::format("{} says {}", call, status));
}

/// The library itself takes a missing PMI_FD for a run of one process.
void refuse_missing_connection() {
  const char* text = std::getenv("PMI_FD");
  if (text == nullptr) no_server<Pmi2>("PMI_FD is not set");
  int fd = -1;
  const char* end = text + std::strlen(text);
  const auto [stop, problem] = std::from_chars(text, end, fd);
  if (problem != std::errc{} || stop != end) no_server<Pmi2>(fmt::format("PMI_FD is '{}', not a number", text));
  if (::fcntl(fd, F_GETFD) < 0) no_server<Pmi2>(fmt::format("PMI_FD is {}, which is not open", fd));
}

Identity Pmi2::start() {
  Identity identity;
  int is_spawned = 0, application = 0;
  const int status = PMI2_Init(&is_spawned, &identity.size, &identity.rank, &application);
  if (status != PMI2_SUCCESS) no_server<Pmi2>(fmt::format("PMI2_Init says {}", status));
  require(PMI2_Job_GetId(identity.job.data(), static_cast<int>(identity.job.size())), "PMI2_Job_GetId");
  return identity;
}

std::string key_of(int turn, std::size_t part, int rank) { return fmt::format("leadline-{}-{}-{}", turn, part, rank); }

void put(const std::string& key, std::string_view bytes) {
  std::array<char, PMI2_MAX_VALLEN> text{};
  sodium_bin2hex(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  require(PMI2_KVS_Put(key.c_str(), text.data()), "PMI2_KVS_Put");
}

/// Appends that many bytes.
void take(const Identity& identity, const std::string& key, std::size_t size_bytes, std::string& bytes) {
  std::array<char, PMI2_MAX_VALLEN> text{};
  int length = 0;
  require(
      PMI2_KVS_Get(identity.job.data(), PMI2_ID_NULL, key.c_str(), text.data(), static_cast<int>(text.size()), &length),
      "PMI2_KVS_Get");
  const std::size_t before = bytes.size();
  bytes.resize(before + size_bytes);
  std::size_t got = 0;
  if (sodium_hex2bin(reinterpret_cast<unsigned char*>(bytes.data()) + before, size_bytes, text.data(),
                     std::strlen(text.data()), nullptr, &got, nullptr) != 0 ||
      got != size_bytes) {
    require(PMI2_ERR_INVALID_VAL, "PMI2_KVS_Get");
  }
}

std::string Pmi2::gather(const Identity& identity, int turn, const std::string& own) {
  const std::size_t num_parts = (own.size() + part_size_bytes - 1) / part_size_bytes;
  for (std::size_t part = 0; part < num_parts; ++part) {
    put(key_of(turn, part, identity.rank), std::string_view(own).substr(part * part_size_bytes, part_size_bytes));
  }
  require(PMI2_KVS_Fence(), "PMI2_KVS_Fence");
  std::string all;
  all.reserve(own.size() * static_cast<std::size_t>(identity.size));
  for (int rank = 0; rank < identity.size; ++rank) {
    for (std::size_t part = 0; part < num_parts; ++part) {
      const std::size_t size_bytes = std::min(part_size_bytes, own.size() - part * part_size_bytes);
      take(identity, key_of(turn, part, rank), size_bytes, all);
    }
  }
  return all;
}

std::unique_ptr<Bootstrap> start(Launcher launcher, std::chrono::nanoseconds timeout) {
  refuse_missing_connection();
  return std::make_unique<LibraryBootstrap<Pmi2>>(launcher, timeout);
}

constexpr BootstrapModule module{.start = &start};

}  // namespace
}  // namespace leadline::cluster

extern "C" [[gnu::visibility("default")]] const leadline::cluster::BootstrapModule* leadline_bootstrap_module() {
  return &leadline::cluster::module;
}
