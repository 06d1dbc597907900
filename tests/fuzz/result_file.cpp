// SPDX-License-Identifier: Apache-2.0
// Whatever bytes a result may have: each command that reads it comes to an end, and says in one line what is wrong.
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "bench/bisection/command.hpp"
#include "bench/io/command.hpp"
#include "bench/link/command.hpp"
#include "bench/topology/command.hpp"
#include "cli/main.hpp"
#include "fuzz/fuzz.hpp"
#include "support/folder.hpp"

namespace leadline::fuzz {
namespace {

const pid_t fuzzer = ::getpid();

/// How many mistakes of ours the sanitizers have found in children, which share this number.
std::atomic<int>& num_reports() {
  static void* const page =
      ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) fail("no memory that children share");
  static auto* const number = new (page) std::atomic<int>(0);
  return *number;
}

bool is_in_the_hdf5_library() {
  std::array<void*, 64> calls{};
  const int num_calls = ::backtrace(calls.data(), static_cast<int>(calls.size()));
  for (int call = 0; call < num_calls; ++call) {
    Dl_info info{};
    const bool is_known = ::dladdr(calls.at(static_cast<std::size_t>(call)), &info) != 0 && info.dli_fname != nullptr;
    if (is_known && std::strstr(info.dli_fname, "libhdf5") != nullptr) return true;
  }
  return false;
}

}  // namespace

// Called by the sanitizers before they report. What the library does wrong with a damaged file is why a child reads it.
extern "C" void on_address_error() __asm__("__asan_on_error");
extern "C" void on_address_error() {
  if (::getpid() == fuzzer) return;
  if (is_in_the_hdf5_library()) ::_exit(1);
  ++num_reports();
}
extern "C" void on_undefined_behaviour() __asm__("__ubsan_on_report");
extern "C" void on_undefined_behaviour() {
  if (::getpid() != fuzzer) ++num_reports();
}

void write_result_files(const std::string& folder) {
  const auto words = [&](const char* benchmark, const std::vector<std::string>& own) {
    std::vector<std::string> all{"leadline", benchmark, "--local", "2", "--wait", "block", "--quiet", "--overwrite"};
    all.insert(all.end(), own.begin(), own.end());
    all.insert(all.end(), {"--output", folder + "/" + benchmark + ".h5"});
    return all;
  };
  bench::link::link_command(words("link", {"--message-size", "8", "--messages", "5"}));
  bench::topology::topology_command(
      words("topology", {"--message-size", "8", "--iterations", "2", "--pattern", "ring"}));
  bench::bisection::bisection_command(words("bisection", {"--message-size", "8", "--rounds", "2"}));
  bench::io::io_command(
      words("io", {"--no-file", "--movement", "N-M-M", "--io-ranks", "1", "--object-size", "64", "--objects", "2"}));
}

void read_result_file(std::string_view bytes) {
  static const test::Folder folder;
  static const std::string path = folder / "r.h5";
  write_file(path, bytes);
  num_reports();  // made before the first child
  const auto sum = std::accumulate(bytes.begin(), bytes.end(), 0U);
  allowing_errors([&] {
    if (sum % 3 == 0) cli::info_command({"leadline", "info", path});
    if (sum % 3 == 1) cli::diagnose_command({"leadline", "diagnose", path});
    if (sum % 3 == 2) cli::convert_command({"leadline", "convert", path, "--output", folder / "r.sion", "--overwrite"});
  });
  expect(num_reports() == 0, "a sanitizer has found a mistake in a child");
}

}  // namespace leadline::fuzz
