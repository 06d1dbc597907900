// SPDX-License-Identifier: Apache-2.0
// Collects cells until they make a line: the engine takes one topology after the other, and NETTEST's columns are
// these.
#include "compat/nettest/progress.hpp"

#include <utility>
#include <vector>

#include "compat/nettest/text.hpp"

namespace leadline::compat::nettest {
namespace {

class NettestProgress final : public bench::topology::Progress {
 public:
  NettestProgress(TopologyResult so_far, const Lengths& lengths, Outlet outlet, double& elapsed_s)
      : so_far_(std::move(so_far)), lengths_(lengths), outlet_(std::move(outlet)), elapsed_s_(elapsed_s) {
    outlet_.out(heading(lengths_, so_far_));
  }

  void cell_begins(const Cell& /*cell*/, std::size_t /*index*/, std::size_t /*num_cells*/) override {}

  void cell_ends(const CellSummary& summary, double elapsed_s) override {
    elapsed_s_ = elapsed_s;
    row_.push_back(summary);
    if (row_.size() < so_far_.topologies.size()) return;
    outlet_.out(row(lengths_, so_far_, row_));
    row_.clear();
  }

  void load_goes_on(const LoadPoint& /*point*/, double /*elapsed_s*/) override {}

 private:
  TopologyResult so_far_;
  Lengths lengths_;
  Outlet outlet_;
  double& elapsed_s_;
  std::vector<CellSummary> row_;
};

}  // namespace

std::unique_ptr<bench::topology::Progress> make_progress(TopologyResult so_far, const Lengths& lengths, Outlet outlet,
                                                         double& elapsed_s) {
  return std::make_unique<NettestProgress>(std::move(so_far), lengths, std::move(outlet), elapsed_s);
}

}  // namespace leadline::compat::nettest
