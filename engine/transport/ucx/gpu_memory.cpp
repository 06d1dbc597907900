// SPDX-License-Identifier: Apache-2.0
// Asks a context for the kinds of memory that its transports know.
#include "transport/ucx/gpu_memory.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace leadline::transport::ucx {
namespace {

std::uint64_t memory_types = 0;  // bits by ucs_memory_type_t

}  // namespace

void ask_about_memory(ucp_context_h context) {
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  const bool has_answer = ucp_context_query(context, &attributes) == UCS_OK;
  memory_types = has_answer ? attributes.memory_types : 0;
}

std::string why_no_gpu_memory() {
  constexpr std::uint64_t cuda = std::uint64_t{1} << UCS_MEMORY_TYPE_CUDA;
  if ((memory_types & cuda) != 0) return {};
  return fmt::format("UCX {} knows no CUDA memory with the transports chosen here; 'ucx_info -d' lists all it has",
                     ucp_get_version_string());
}

}  // namespace leadline::transport::ucx
