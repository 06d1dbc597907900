// SPDX-License-Identifier: Apache-2.0
// An I/O rank that receives the objects of its senders and writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/io/funnel_io_rank.hpp"

namespace leadline::bench::io {

/// Credits go out for all buffers that are free, so that receiving goes on while one is written.
class FunnelWriter final : public FunnelIoRank {
 public:
  FunnelWriter(PhaseWork& work, const FunnelLinks& links);

 private:
  struct Fill {
    std::uint64_t number = 0;
    std::uint64_t num_pending = 0;  ///< messages: objects that have not come, credits that have not gone
    std::uint64_t num_runs = 0;     ///< started and not waited for
  };

  void move_all() override;
  void on_message(Ticket ticket) override;

  Fill& fill_in_buffer(std::uint64_t fill) { return fills_[buffer_of(fill)]; }
  void open_free_buffers();
  void open(std::uint64_t fill);
  void grant(std::uint64_t fill);
  void make_own_objects(std::uint64_t fill);
  void write(std::uint64_t fill);
  void write_run(std::uint64_t fill, const FunnelRun& run);
  void finish_oldest_run();
  void settle();
  void account(std::uint64_t fill);

  std::vector<Fill> fills_;      ///< by buffer
  std::vector<Credit> credits_;  ///< by buffer and sender: as they are sent
  StartedRuns started_;
  // Numbers of fills; each is opened, then begun to be written, then finished.
  std::uint64_t num_opened_ = 0, num_begun_ = 0, num_finished_ = 0;
};

}  // namespace leadline::bench::io
