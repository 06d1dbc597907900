// SPDX-License-Identifier: Apache-2.0
// What the backend offers, and what it cannot do.
#include "storage/posix/posix.hpp"

#include "core/error.hpp"
#include "storage/posix/posix_file.hpp"
#include "storage/trial.hpp"

namespace leadline::storage::posix {
namespace {

std::string why_refused(const CallKind& kind) {
  if (kind.collective) return "POSIX has no collective calls; use --backend mpi-io";
  if (kind.calls == FileCalls::non_blocking && kind.cache_path == CachePath::uncached) {
    return "POSIX AIO has no uncached transfers; leave out --calls non-blocking, or use --direct";
  }
  return {};
}

class PosixBackend final : public Backend {
 public:
  std::string library() const override { return "POSIX"; }
  std::string refuses(const CallKind& kind) const override { return why_refused(kind); }
  bool confirms_hints() const override { return true; }  // there are none
  void meet(std::span<const std::int32_t> /*openers*/) override {}
  std::unique_ptr<File> open(const OpenFile& file) override { return std::make_unique<PosixFile>(file); }
};

void prepare(const std::string& argument) {
  if (argument.empty()) return;
  throw Error(ExitStatus::bad_command_line, "--backend posix:" + argument + " means nothing",
              "the backend posix takes no argument");
}

std::string try_calls(const CallKind& kind, const std::string& scratch_path) {
  PosixBackend backend;
  return try_calls_of(backend, kind, scratch_path);
}

std::unique_ptr<Backend> make(const Context& /*context*/) { return std::make_unique<PosixBackend>(); }

}  // namespace

const Module& module() {
  static constexpr Module own{prepare, try_calls, make};
  return own;
}

}  // namespace leadline::storage::posix
