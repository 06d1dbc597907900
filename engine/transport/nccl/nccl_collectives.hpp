// SPDX-License-Identifier: Apache-2.0
// Collective operations of NCCL: as many as are asked for are in the stream before the first is awaited.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "core/progress_counter.hpp"
#include "memory/cuda/driver.hpp"
#include "model/request.hpp"
#include "transport/collectives.hpp"
#include "transport/nccl/library.hpp"

namespace leadline::transport::nccl {

class NcclCollectives final : public Collectives {
 public:
  /// `own`: a communicator of the group alone; null = that of all ranks, `all`, which outlives it.
  NcclCollectives(const memory::cuda::Driver& driver, const Communicator& all, std::unique_ptr<Communicator> own,
                  std::size_t num_ranks, WaitMode wait, ProgressCounter& progress_counter)
      : driver_(driver),
        own_(std::move(own)),
        operations_(driver, own_ ? *own_ : all),
        num_ranks_(num_ranks),
        wait_(wait),
        progress_counter_(progress_counter) {}

  void run(const CollectiveCall& call, std::uint64_t num) override {
    driver_.enter();
    for (std::uint64_t i = 0; i < num; ++i) {
      begin(call);
      progress_counter_.advance();
    }
    wait_ == WaitMode::spin ? operations_.await<WaitMode::spin>() : operations_.await<WaitMode::yield>();
    progress_counter_.advance();
  }

 private:
  void begin(const CollectiveCall& call) {
    switch (call.operation) {
      case Collective::allreduce:
        return operations_.all_reduce(call.send, call.receive, call.num_elements);
      case Collective::allgather:
        return operations_.all_gather(call.send, call.receive, call.num_elements);
      case Collective::reduce_scatter:
        return operations_.reduce_scatter(call.send, call.receive, call.num_elements);
      case Collective::alltoall:
        break;
    }
    // As nccl-tests have it: NCCL had no function for it before 2.28.
    const std::size_t block_bytes = call.num_elements * sizeof(float);
    for (std::size_t rank = 0; rank < num_ranks_; ++rank) {
      operations_.add_send(static_cast<int>(rank), call.send + rank * block_bytes, block_bytes);
      operations_.add_receive(static_cast<int>(rank), call.receive + rank * block_bytes, block_bytes);
    }
    operations_.begin_group();
  }

  const memory::cuda::Driver& driver_;
  std::unique_ptr<Communicator> own_;
  Operations operations_;
  std::size_t num_ranks_;
  WaitMode wait_;
  ProgressCounter& progress_counter_;
};

}  // namespace leadline::transport::nccl
