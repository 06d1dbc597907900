// SPDX-License-Identifier: Apache-2.0
// Hands each event to the lines that belong to it.
#include "compat/mpi_io_test/progress.hpp"

#include <utility>

#include "compat/mpi_io_test/text.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

class MpiIoTestProgress final : public bench::io::Progress {
 public:
  MpiIoTestProgress(IoResult so_far, Shown shown, Outlet outlet, std::size_t& num_shown)
      : so_far_(std::move(so_far)), shown_(std::move(shown)), outlet_(std::move(outlet)), num_shown_(num_shown) {}

  void phase_begins(const PhasePosition& place, std::uint64_t /*bytes_total*/) override {
    outlet_.out(above_phase(so_far_, place));
  }

  void phase_goes_on(const bench::io::PhaseProgress& /*progress*/) override {}

  void phase_ends(const PhaseSummary& summary) override {
    outlet_.out(phase_lines(shown_, so_far_, summary));
    ++num_shown_;
  }

  void waits(const std::string& /*for_what*/) override {}

 private:
  IoResult so_far_;
  Shown shown_;
  Outlet outlet_;
  std::size_t& num_shown_;
};

}  // namespace

std::unique_ptr<bench::io::Progress> make_progress(const IoResult& so_far, Shown shown, Outlet outlet,
                                                   std::size_t& num_shown) {
  return std::make_unique<MpiIoTestProgress>(so_far, std::move(shown), std::move(outlet), num_shown);
}

}  // namespace leadline::compat::mpi_io_test
