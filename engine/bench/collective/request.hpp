// SPDX-License-Identifier: Apache-2.0
// What a user asked of `leadline collective`: one member per option, same names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "model/request.hpp"
#include "transport/collectives.hpp"

namespace leadline {
class OptionTable;
}
namespace leadline::bench::collective {

using Operation = transport::Collective;

/// Who does an operation.
enum class Algorithm : std::uint8_t {
  automatic,  ///< the library where it has collective operations, else our own
  ring,       ///< our own, out of the transport's messages
  library,    ///< the transport's library
};

std::span<const Named<Algorithm>> names_of(Algorithm any);
const char* name_of(Algorithm algorithm);

struct CollectiveRequest : RunRequest {
  CollectiveRequest() { message_sizes_bytes = {1 << 10, 4 << 20}; }

  std::vector<std::string> operations{"allreduce", "allgather", "reduce-scatter", "alltoall"};  ///< --operation
  Algorithm algorithm = Algorithm::automatic;
  std::uint32_t group_hosts = 0;      ///< hosts of a group; 0 = all hosts are one
  bool serial = false;                ///< groups one after another
  std::uint64_t seed = 1;             ///< of the groups
  std::uint32_t rounds = 3;           ///< so often everything, each time in other groups
  std::uint32_t num_batches = 10;     ///< timed by a reading of the clock at either end
  std::uint64_t num_iterations = 20;  ///< operations of a batch
  std::uint64_t num_warmup = 2;       ///< untimed ones before each batch
};

/// See bench/run_options.hpp.
void declare_options(OptionTable& options, CollectiveRequest& request, std::optional<ResultFormat>& format);

}  // namespace leadline::bench::collective
