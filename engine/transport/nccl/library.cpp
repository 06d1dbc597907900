// SPDX-License-Identifier: Apache-2.0
// Opens NCCL, puts its errors into words, and makes communicators within a deadline.
#include "transport/nccl/library.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "core/error.hpp"

namespace leadline::transport::nccl {
namespace {

constexpr Result invalid_usage = 5;

/// What a thread that may outlive its caller leaves behind.
struct Made {
  Result result = 0;
  Comm comm = nullptr;
  std::string why;
};

/// In a thread of its own: the device is current for that thread, and the last error is its own.
Made make(const memory::cuda::Driver& driver, int rank, int size, const UniqueId& id) {
  Made made;
  try {
    driver.enter();
    made.result = library().init_rank(&made.comm, size, id, rank);
    if (made.result != 0) made.why = library().words_for(made.result, "ncclCommInitRank");
  } catch (const Error& error) {
    made.result = invalid_usage;
    made.why = error.why();
  }
  return made;
}

}  // namespace

DynamicLibrary Library::open() {
  try {
    return DynamicLibrary("libnccl.so.2");
  } catch (const Error& error) {
    throw Error(error.status(), "there is no NCCL here", error.why(),
                "Install libnccl.so.2, or name its folder in LD_LIBRARY_PATH");
  }
}

std::string Library::version() const {
  int code = 0;
  check(get_version(&code), "ncclGetVersion");
  // Since 2.9: 10000 a major version, 100 a minor one; before, 1000 and 100.
  const int major_step = code >= 10000 ? 10000 : 1000;
  return fmt::format("NCCL {}.{}.{}", code / major_step, code % major_step / 100, code % 100);
}

std::string Library::words_for(Result result, const char* function) const {
  std::string words = fmt::format("{}: {} ({})", function, error_string(result), result);
  const char* const last = last_error(nullptr);
  std::string_view details = last == nullptr ? "" : last;
  while (!details.empty() && details.front() == '\n') details.remove_prefix(1);
  details = details.substr(0, details.find('\n'));
  if (!details.empty()) words += fmt::format(", {}", details);
  return words;
}

void Library::fail(Result result, const char* function) const {
  throw Error(ExitStatus::run_failed, "NCCL reports an error", words_for(result, function));
}

const Library& library() { return opened_for_ever<Library>(); }

Communicator::Communicator(const memory::cuda::Driver& driver, int rank, int size, const UniqueId& id,
                           Deadline deadline) {
  std::promise<Made> promise;
  auto future = promise.get_future();
  std::thread([&driver, rank, size, id, promise = std::move(promise)]() mutable {
    promise.set_value(make(driver, rank, size, id));
  }).detach();
  if (future.wait_for(std::chrono::milliseconds(deadline.left_ms())) != std::future_status::ready) {
    throw Error(ExitStatus::run_failed, "NCCL did not bring the ranks together in time",
                "not all of them came, or they do not reach each other",
                "NCCL_DEBUG=INFO says what it does, NCCL_SOCKET_IFNAME which network it takes");
  }
  const Made made = future.get();
  if (made.result != 0) {
    throw Error(ExitStatus::something_missing, "NCCL cannot bring the ranks together", made.why,
                "Every rank needs a GPU of its own; NCCL_DEBUG=INFO says more");
  }
  comm_ = made.comm;
}

Communicator::Communicator(const Communicator& all, int color, int rank) {
  if (library().split == nullptr) {
    throw Error(ExitStatus::something_missing, "NCCL cannot divide the ranks into groups",
                library().version() + " has no ncclCommSplit, which is there since 2.18", "Use a newer NCCL");
  }
  library().check(library().split(all.get(), color, rank, &comm_, nullptr), "ncclCommSplit");
}

// What has been sent may still be on its way through NCCL's own threads; where the run has failed it is not waited for.
Communicator::~Communicator() {
  if (comm_ == nullptr) return;
  if (std::uncaught_exceptions() == 0) {
    library().destroy(comm_);
  } else {
    library().abort(comm_);
  }
}

Operations::Operations(const memory::cuda::Driver& driver, const Communicator& communicator)
    : driver_(driver),
      library_(library()),
      comm_(communicator.get()),
      stream_(driver),
      spare_(memory::allocator_named("cuda"), 2) {}

bool Operations::complete_by(Deadline deadline) {
  if (!has_group_) return true;
  close_group();
  YieldingWait idle;
  while (!is_over()) {
    if (deadline.has_passed()) return false;
    idle.pause();
  }
  return true;
}

void Operations::check_network() const {
  constexpr Result in_progress = 7;
  Result result = 0;
  library_.check(library_.get_async_error(comm_, &result), "ncclCommGetAsyncError");
  if (result != in_progress) library_.check(result, "a message");
}

}  // namespace leadline::transport::nccl
