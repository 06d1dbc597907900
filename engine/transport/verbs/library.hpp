// SPDX-License-Identifier: Apache-2.0
// Handles of libibverbs that free themselves, and its errors in words.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>

namespace leadline::transport::verbs {

struct Freed {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
  void operator()(ibv_context* context) const { ibv_close_device(context); }
  void operator()(ibv_pd* domain) const { ibv_dealloc_pd(domain); }
  void operator()(ibv_comp_channel* channel) const { ibv_destroy_comp_channel(channel); }
  void operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }
  void operator()(ibv_qp* pair) const { ibv_destroy_qp(pair); }
  void operator()(ibv_mr* region) const { ibv_dereg_mr(region); }
};

template <class Handle>
using Owned = std::unique_ptr<Handle, Freed>;

/// Memory that the adapter may read and write, as long as this lives; of no bytes it is nothing.
struct Memory {
  Owned<ibv_mr> region;

  std::uint32_t local_key() const { return region ? region->lkey : 0; }
  std::uint32_t remote_key() const { return region ? region->rkey : 0; }
};

/// Throws Error(something_missing): the library could not do `what`, as it says by `error_number`. Where memory could
/// not be locked, the limit of it stands there, too.
[[noreturn]] void throw_cannot(const std::string& what, int error_number);

/// Throws Error(something_missing): not even a list of devices can be read.
[[noreturn]] void throw_no_list(int error_number);

}  // namespace leadline::transport::verbs
