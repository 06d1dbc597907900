// SPDX-License-Identifier: Apache-2.0
// Whether UCX, as it has been started here, reaches the memory of GPUs.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace leadline::transport::ucx {

/// Remembers which memory the context reaches: it follows from the transports that were chosen for it, and whoever asks
/// afterwards has no context.
void ask_about_memory(ucp_context_h context);

/// The reason why messages cannot lie in GPU memory, or empty. UCX would take such an address for one of ordinary
/// memory and end the process.
std::string why_no_gpu_memory();

}  // namespace leadline::transport::ucx
