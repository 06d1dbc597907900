// SPDX-License-Identifier: Apache-2.0
// Starts and ends MPI, and turns its errors into exceptions.
#include "transport/mpi/library.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <csetjmp>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

#include "core/error.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {
namespace {

/// What MPI calls when something fails on our communicator. The exception passes through the library's own frames,
/// which leaves it in no state to go on with: nothing but the end of the run follows.
[[noreturn]] void throw_mpi_error(MPI_Comm*, int* code, ...) {
  throw Error(ExitStatus::run_failed, "MPI reports an error", error_text(*code));
}

/// What the launcher says about the ranks it started.
struct Announced {
  const char* variable;
  std::string value;
  int num_ranks;  // 0 when the variable does not tell
};

/// To be asked before MPI_Init: Open MPI sets variables of its own there, also for one rank alone.
std::optional<Announced> announced_ranks() {
  // The innermost launcher first: a job step of Slurm may hold an mpirun, not the other way round.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    if (const char* text = std::getenv(variable)) return Announced{variable, text, std::atoi(text)};
  }
  for (const char* variable : {"PMIX_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(variable)) return Announced{variable, rank, 0};
  }
  return std::nullopt;
}

void refuse_unconnected_ranks(const std::optional<Announced>& announced, int size) {
  // More than one means that the library found the others; Slurm may then have counted only a part of them.
  if (!announced || announced->num_ranks == size || size > 1) return;
  throw Error(ExitStatus::something_missing, "the launcher and the MPI library do not understand each other",
              library_name() + " sees 1 rank, " + announced->variable + " is " + announced->value,
              "Start with the library's own mpirun or mpiexec, or under Slurm with --mpi=pmix (Open MPI) or "
              "--mpi=pmi2 (MPICH), or use --transport tcp");
}

/// Of a truth value among the library's control variables; false where it has none of this name.
bool is_set(const char* variable) {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
  std::array<char, 64> value{};  // not 0 in some byte
  int index = 0, count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    if (count == 1) MPI_T_cvar_read(handle, value.data());
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return std::any_of(value.begin(), value.end(), [](char byte) { return byte != 0; });
}

/// Open MPI has it since 5.0. Older ones would open all their components to say that they do not know the variable.
bool is_fault_tolerant() {
  constexpr std::string_view start = "Open MPI v";
  const std::string name = library_name();
  if (name.starts_with(start) && std::atoi(name.c_str() + start.size()) < 5) return false;
  return is_set("mpi_ft_enable");
}

sigjmp_buf out_of_finalize;

void leave_finalize(int) { siglongjmp(out_of_finalize, 1); }

/// A signal to this thread alone after `seconds`, while it lives.
class Alarm {
 public:
  Alarm(int signal, int seconds, void (*handler)(int)) : signal_(signal) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(signal_, &action, &before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal_;
    event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
    itimerspec when{};
    when.it_value.tv_sec = seconds;
    is_set_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0 && timer_settime(timer_, 0, &when, nullptr) == 0;
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() {
    if (is_set_) timer_delete(timer_);
    sigaction(signal_, &before_, nullptr);
  }

 private:
  int signal_;
  struct sigaction before_ {};
  timer_t timer_{};
  bool is_set_ = false;
};

}  // namespace

Library& Library::instance() {
  // Made after MPI_Init has registered what it wants done at exit, and so ended before that is done.
  static Library one;
  return one;
}

Library::Library() {
  // Not MPI_Init_thread(FUNNELED), although the watch is a second thread: it never calls MPI, and from FUNNELED on
  // Open MPI 4.1 takes locks that add a third to the latency of a short message in shared memory.
  const auto announced = announced_ranks();
  MPI_Init(nullptr, nullptr);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  has_fault_tolerance_ = is_fault_tolerant();
  try {
    refuse_unconnected_ranks(announced, size_);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm_, &request);
    wait_yielding(request, Deadline::after(std::chrono::seconds(60)), "not all ranks came to MPI_Comm_idup");
  } catch (const Error&) {
    if (size_ == 1) MPI_Finalize();  // alone, so it cannot hang; otherwise the launcher cleans up
    throw;
  }
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(&throw_mpi_error, &handler);
  MPI_Comm_set_errhandler(comm_, handler);
  MPI_Errhandler_free(&handler);
}

/// Where some ranks have used a communicator of their own, MPI_Finalize of MPICH 4.0.2 (UCX) waits without end.
void Library::go_on_with(std::span<const int> ranks) {
  if (library_name().starts_with("MPICH")) {
    throw AgreedError(Error(ExitStatus::something_missing, "with MPICH's library all ranks have to take part",
                            "its MPI_Finalize does not return where some have gone on by themselves",
                            "Use --transport tcp, which mpiexec starts as well"));
  }
  all_ = comm_;
  if (std::ranges::find(ranks, rank_) == ranks.end()) return;
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm_group(all_, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Comm_create_group(all_, some, 0, &comm_);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(all_, &handler);
  MPI_Comm_set_errhandler(comm_, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_size(comm_, &size_);
  MPI_Comm_rank(comm_, &rank_);
}

/// Without a deadline: where the others fail, their launcher ends this process.
void Library::await_all() const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(all_, &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Library::~Library() {
  if (has_fault_tolerance_) return;
  if (all_ != MPI_COMM_NULL) await_all();
  constexpr int patience_s = 10;
  const Alarm alarm(SIGALRM, patience_s, &leave_finalize);
  // When it takes too long it is left where it is: the results are safe, and the exit status stays what it was.
  if (sigsetjmp(out_of_finalize, 1) == 0) MPI_Finalize();
}

std::string why_no_gpu_memory() {
#if defined(MPIX_GPU_SUPPORT_CUDA)
  if (MPIX_GPU_query_support != nullptr) {
    int is_supported = 0;
    MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported);
    return is_supported != 0 ? "" : library_name() + " was built without CUDA support";
  }
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support != nullptr) {
    return MPIX_Query_cuda_support() != 0 ? "" : library_name() + " was built without CUDA support";
  }
#endif
  return library_name() + " has no function that says whether it takes the memory of GPUs";
}

bool blocking_calls_yield() { return is_set("mpi_yield_when_idle"); }

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

void wait_yielding(MPI_Request& request, Deadline deadline, const std::string& problem) {
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    if (deadline.has_passed()) throw Error(ExitStatus::run_failed, problem, "no answer in time");
    sched_yield();
  }
}

MessageShape::MessageShape(std::size_t size) {
  if (size <= INT_MAX) {
    count_ = static_cast<int>(size);
    return;
  }
  constexpr std::size_t block = std::size_t{1} << 30;
  const std::size_t rest = size % block;
  MPI_Datatype block_type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &block_type);
  const std::array<int, 2> counts{static_cast<int>(size / block), static_cast<int>(rest)};
  const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(size - rest)};
  const std::array<MPI_Datatype, 2> types{block_type, MPI_BYTE};
  MPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &type_);
  MPI_Type_commit(&type_);
  MPI_Type_free(&block_type);
  count_ = 1;
}

MessageShape::~MessageShape() {
  if (type_ != MPI_BYTE) MPI_Type_free(&type_);
}

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
