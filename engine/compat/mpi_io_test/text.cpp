// SPDX-License-Identifier: Apache-2.0
// The guide's lines, in its order and with its seven digits.
#include "compat/mpi_io_test/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/printable.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

constexpr std::array variables{
    // Open MPI: which components, and how OMPIO works
    "OMPI_MCA_io", "OMPI_MCA_fs", "OMPI_MCA_fbtl", "OMPI_MCA_fcoll", "OMPI_MCA_sharedfp", "OMPI_MCA_btl",
    "OMPI_MCA_mtl", "OMPI_MCA_pml", "OMPI_MCA_fbtl_posix_read_datasieving", "OMPI_MCA_fbtl_posix_write_datasieving",
    "OMPI_MCA_io_ompio_bytes_per_agg", "OMPI_MCA_io_ompio_cycle_buffer_size", "OMPI_MCA_io_ompio_grouping_option",
    "OMPI_MCA_io_ompio_num_aggregators", "OMPI_MCA_fs_lustre_stripe_size", "OMPI_MCA_fs_lustre_stripe_width",
    // ROMIO
    "ROMIO_HINTS", "ROMIO_FSTYPE_FORCE", "ROMIO_PRINT_HINTS",
    // MPICH and its kin
    "MPICH_MPIIO_HINTS", "MPICH_MPIIO_CB_ALIGN", "MPICH_MPIIO_DVS_MAXNODES", "MPIR_CVAR_ROMIO_FSTYPE_FORCE",
    "I_MPI_EXTRA_FILESYSTEM", "I_MPI_EXTRA_FILESYSTEM_FORCE", "I_MPI_EXTRA_FILESYSTEM_LIST"};

using schedule::Movement;

constexpr const char* old_version = "1.00.009";
constexpr double ns_a_s = 1e9, mebi = 1 << 20;

const char* label_of(Movement movement) {
  switch (movement) {
    case Movement::n_n:
      return "N -> N";
    case Movement::n_1:
      return "N -> 1";
    case Movement::n_m_m:
      return "N -> M -> M";
    case Movement::n_m_1:
      return "N -> M -> 1";
    case Movement::n_m:
      return "N -> M";
  }
  return "?";
}

/// What the guide calls M: I/O processes, of type 5 files.
std::size_t num_io(const bench::io::IoResult& so_far) {
  return so_far.request.movement == Movement::n_m ? so_far.files.size() : so_far.io_ranks.size();
}

int digit(bool is_on) { return is_on ? 1 : 0; }

std::string joined(const std::vector<std::string>& words) {
  return words.empty() ? "None" : fmt::format("{}", fmt::join(words, " "));
}

std::string name_of_files(const bench::io::IoResult& so_far) {
  return so_far.files.empty() ? "None" : so_far.files.front();
}

int check_number(memory::Check check) { return static_cast<int>(check); }
int touch_number(memory::Touch touch) { return static_cast<int>(touch) + 1; }

std::string data_lines(const bench::io::IoRequest& request) {
  std::string text;
  const auto add = [&](const char* words, auto value) {
    fmt::format_to(std::back_inserter(text), "{}: {}\n", words, value);
  };
  const bool is_funnel = schedule::is_funnel(request.movement);
  add("Host Name List", joined(request.io_hosts));
  add("Number of circular buffers (-ahead)", request.num_ahead);
  add("Number of objects (-nobj)", request.num_objects);
  add("Number of bytes in each object (-size)", request.object_size_bytes);
  add("Circular buffer size (-csize)", is_funnel ? request.buffer_size_bytes : request.object_size_bytes);
  add("Preallocate file size (-preallocate)",
      request.preallocate_bytes > 0 ? std::to_string(request.preallocate_bytes) : "-1");
  add("Check data read (-chkdata)", check_number(request.check));
  add("Use collective read/write calls (-collective)", digit(request.collective));
  add("Call MPI_Barrier before each write (-barrier)", digit(request.barrier));
  add("Flush data before file close (-sync)", digit(request.sync != bench::io::SyncTiming::none));
  add("Strided data layout (-strided)", digit(request.order == schedule::Order::strided));
  add("Delete data file when done reading (-deletefile)", digit(request.delete_files));
  add("Write output data to file (-nofile)", digit(!request.no_file));
  add("Aggregators send data to themselves (-norsend)", digit(request.self_send == schedule::SelfSend::yes));
  return text;
}

std::string own_lines(const bench::io::IoResult& so_far) {
  const Provenance& from = so_far.provenance;
  return fmt::format("# measured by Leadline {}, with {} and blocking calls; times are without filling and checking\n",
                     from.version, so_far.backend_library.empty() ? "no files" : so_far.backend_library) +
         "# Mbytes/s are MiB/s; the max bandwidth is all data over the time of the fastest process: no rate of "
         "anything\n";
}

std::string host_lines(const bench::io::IoResult& so_far) {
  std::string text = "Hosts running the program (-lhosts):\n";
  for (const HostRanks& one : so_far.hosts) text += fmt::format("{}: {}\n", one.host, one.ranks);
  return text;
}

std::string time_line(const char* words, const bench::io::RankSpread& spread) {
  if (spread.num == 0) return {};
  return fmt::format("=== {} (min [rank] avg max [rank]): {:.6e} [{}] {:.6e} {:.6e} [{}] sec.\n", words,
                     spread.min / ns_a_s, spread.min_rank, spread.mean / ns_a_s, spread.max / ns_a_s, spread.max_rank);
}

std::string bandwidth_line(const char* words, const bench::io::PhaseSummary& phase,
                           const bench::io::RankSpread& spread) {
  if (!phase.is_complete || !(spread.min > 0)) return {};
  const double mib = static_cast<double>(phase.bytes) / mebi;
  return fmt::format("=== {} (min [rank] avg max [rank]): {:.6e} [{}] {:.6e} {:.6e} [{}] Mbytes/s.\n", words,
                     mib / (spread.max / ns_a_s), spread.max_rank, mib / (spread.mean / ns_a_s),
                     mib / (spread.min / ns_a_s), spread.min_rank);
}

/// Of a phase in the middle of which the run ended.
std::string moved_line(const bench::io::PhaseSummary& phase, int num_ranks) {
  return fmt::format("=== {} of {} processes had moved {:.6e} Mbytes after {:.6e} sec.\n", phase.at_interruption.size(),
                     num_ranks, static_cast<double>(phase.bytes) / mebi, phase.wall_ns / ns_a_s);
}

const bench::io::RankSpread& spread_of(const bench::io::PhaseSummary& phase, bench::io::IoTime time) {
  return phase.times[static_cast<std::size_t>(time)];
}

/// The words of a phase: "Write", "write".
struct PhaseNames {
  const char* capital;
  const char* small;
};

PhaseNames phase_names(bench::io::IoOperation operation) {
  return operation == bench::io::IoOperation::write ? PhaseNames{"Write", "write"} : PhaseNames{"Read", "read"};
}

double time_s(const bench::io::RankTimes& one, bench::io::IoTime time) {
  return one.times_ns[static_cast<std::size_t>(time)] / ns_a_s;
}

std::string rank_lines(const bench::io::PhaseSummary& phase) {
  constexpr bench::io::IoTime shown[] = {
      bench::io::IoTime::open, bench::io::IoTime::call,  bench::io::IoTime::preallocate, bench::io::IoTime::close,
      bench::io::IoTime::sync, bench::io::IoTime::send,  bench::io::IoTime::receive,     bench::io::IoTime::barrier,
      bench::io::IoTime::fill, bench::io::IoTime::verify};
  std::string text = "Times of each process in seconds:\n  rank        total";
  for (const bench::io::IoTime time : shown) text += fmt::format(" {:>12}", name_of(time));
  text += '\n';
  for (const bench::io::RankTimes& one : phase.ranks) {
    text += fmt::format("{:6} {:12.6f}", one.rank, one.io_ns / ns_a_s);
    for (const bench::io::IoTime time : shown) text += fmt::format(" {:12.6f}", time_s(one, time));
    text += '\n';
  }
  return text;
}

class MpiIoTestProgress final : public bench::io::Progress {
 public:
  MpiIoTestProgress(bench::io::IoResult so_far, Shown shown, Outlet outlet, std::size_t& num_shown)
      : so_far_(std::move(so_far)), shown_(std::move(shown)), outlet_(std::move(outlet)), num_shown_(num_shown) {}

  void phase_begins(const bench::io::PhasePosition& position, std::uint64_t /*bytes_total*/) override {
    outlet_.out(above_phase(so_far_, position));
  }

  void phase_ends(const bench::io::PhaseSummary& summary) override {
    outlet_.out(phase_lines(shown_, so_far_, summary));
    ++num_shown_;
  }

 private:
  bench::io::IoResult so_far_;
  Shown shown_;
  Outlet outlet_;
  std::size_t& num_shown_;
};

}  // namespace

std::string tuning_lines(const Environment& environment) {
  std::string text;
  for (const char* name : variables) {
    const char* const value = environment(name);
    if (value != nullptr) text += fmt::format("{}={}\n", name, printable(value, LineEnds::replaced));
  }
  return text;
}

std::string opening(const Shown& shown, const bench::io::IoResult& so_far, const Environment& environment) {
  const bench::io::IoRequest& request = so_far.request;
  std::string text = fmt::format("MPI-IO TEST v{}: {}\n", old_version, so_far.provenance.start_utc);
  text += own_lines(so_far) + "Input Parameters:\n";
  text += fmt::format("I/O Testing type {}: {}\n", label_of(request.movement), static_cast<int>(request.movement));
  text += fmt::format("Total number of processors (N): {}\n", so_far.provenance.num_ranks);
  text += fmt::format("Total number of I/O processors (M): {}\n", num_io(so_far));
  if (!request.io_hosts.empty()) text += fmt::format("Number of I/O processors per host: {}\n", shown.num_io);
  text += data_lines(request);
  text += request.targets_file.empty()
              ? fmt::format("Test data written to (-target): {}\n", name_of_files(so_far))
              : fmt::format("File containing target files (-targets): {}\n", request.targets_file);
  text += fmt::format("Touch object option (-touch): {}\n", touch_number(request.touch));
  text += fmt::format("Timing results written to (-output): {}\n", shown.output.empty() ? "stdout" : shown.output);
  text += fmt::format("Errors and warnings written to (-errout): {}\n", shown.errout.empty() ? "stderr" : shown.errout);
  text += "Environment Variables (MPI):\n" + tuning_lines(environment);
  return shown.hosts == Flag::on ? text + host_lines(so_far) : text;
}

std::string above_phase(const bench::io::IoResult& so_far, const bench::io::PhasePosition& position) {
  const std::size_t num_ranks = static_cast<std::size_t>(so_far.provenance.num_ranks), num_files = so_far.files.size();
  const bool is_write = position.operation == bench::io::IoOperation::write;
  return fmt::format("=== MPI {} [{}->{}->{} {}] Starting ...\n", phase_names(position.operation).small,
                     is_write ? num_ranks : num_files, num_io(so_far), is_write ? num_files : num_ranks,
                     name_of_files(so_far));
}

std::string phase_lines(const Shown& shown, const bench::io::IoResult& so_far, const bench::io::PhaseSummary& phase) {
  const auto [capital, small] = phase_names(phase.position.operation);
  std::string text = bandwidth_line("Effective Bandwidth", phase, phase.io) + time_line("Total Time", phase.io);
  text += bandwidth_line(fmt::format("{} Bandwidth", capital).c_str(), phase, phase.transfer);
  text += time_line(fmt::format("{} Time", capital).c_str(), phase.transfer);
  text += time_line("MPI File Open Time", spread_of(phase, bench::io::IoTime::open));
  text += time_line(fmt::format("MPI File {} Wait Time", capital).c_str(), spread_of(phase, bench::io::IoTime::call));
  text += time_line("MPI File Preallocate Time", spread_of(phase, bench::io::IoTime::preallocate));
  text += time_line("MPI File Close Wait Time", spread_of(phase, bench::io::IoTime::close));
  if (so_far.request.barrier) text += time_line("MPI Barrier Wait Time", spread_of(phase, bench::io::IoTime::barrier));
  if (so_far.request.sync != bench::io::SyncTiming::none)
    text += time_line("MPI File Sync Time", spread_of(phase, bench::io::IoTime::sync));
  if (schedule::is_funnel(so_far.request.movement)) {
    text += time_line("MPI Processor send wait time", spread_of(phase, bench::io::IoTime::send));
    text += time_line("MPI Processor Receive Wait Time", spread_of(phase, bench::io::IoTime::receive));
  }
  if (shown.times_of_ranks == Flag::on) text += rank_lines(phase);
  if (phase.is_complete) return text + fmt::format("=== Completed MPI-IO {}.\n", capital);
  if (phase.is_interrupted) text += moved_line(phase, so_far.provenance.num_ranks);
  return text + fmt::format("=== MPI-IO {} failed: {}\n", capital, phase.error);
}

std::string ending(const bench::io::IoResult& result) {
  if (result.request.hints.empty()) return {};
  std::string text = "MPI_info Hints Used (RANK 0):\n";
  for (const bench::io::HintInForce& hint : result.hints) {
    text += fmt::format("Key: {:<24} = {}", hint.key, hint.granted.empty() ? hint.asked : hint.granted);
    if (hint.granted.empty()) {
      text += " (asked for, not taken)";
    } else if (!hint.is_confirmed) {
      text += " (an echo of what was asked, not confirmed)";
    }
    text += '\n';
  }
  return text;
}

std::string without_sync_values(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"-sync inside", "-sync"}, {"-sync outside", "-sync"}, {"-sync none", "no -sync"}};
  for (const auto& [value, own] : words) {
    for (std::size_t at = 0; (at = text.find(value, at)) != std::string::npos; at += own.size()) {
      text.replace(at, value.size(), own);
    }
  }
  return text;
}

std::string remark_lines(const Shown& shown) {
  std::string text;
  for (const std::string& remark : shown.remarks) text += fmt::format("mpi_io_test.x: {}\n", remark);
  return text;
}

std::unique_ptr<bench::io::Progress> make_progress(const bench::io::IoResult& so_far, Shown shown, Outlet outlet,
                                                   std::size_t& num_shown) {
  return std::make_unique<MpiIoTestProgress>(so_far, std::move(shown), std::move(outlet), num_shown);
}

}  // namespace leadline::compat::mpi_io_test
