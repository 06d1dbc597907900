// SPDX-License-Identifier: Apache-2.0
// The transport cuda: GPU memory of one host, copied by the GPUs' own engines.
#include <memory>
#include <string>
#include <vector>

#include "memory/cuda/driver.hpp"
#include "transport/cuda/cuda_port.hpp"
#include "transport/tagged/tagged_transport.hpp"

namespace leadline::transport::cuda {
namespace {}  // namespace

extern constexpr Module module{
    .settings = {},
    .load = [] { memory::cuda::functions(); },
    .facts =
        [] {
          std::vector<Fact> facts;
          for (auto& [name, value] : memory::cuda::facts(memory::cuda::driver())) facts.push_back({name, value});
          return facts;
        },
    .refuses_wait = [](WaitMode mode) -> std::string {
      return mode == WaitMode::block ? "a copy that another process has begun wakes nobody" : "";
    },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::gpu ? "" : "messages of this transport lie in GPU memory: --allocator cuda";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      return std::make_unique<tagged::TaggedTransport<CudaPort>>(context, std::make_unique<CudaPort>(context));
    },
};

}  // namespace leadline::transport::cuda
