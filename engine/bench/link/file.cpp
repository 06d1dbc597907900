// SPDX-License-Identifier: Apache-2.0
// Picks the kind of result file, and its name.
#include "bench/link/file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "bench/link/hdf5_store.hpp"
#include "bench/link/json.hpp"
#include "bench/link/sion_output.hpp"
#include "core/error.hpp"
#include "core/units.hpp"

namespace leadline::bench::link {

namespace {

class NoLinkFile final : public result::NoFile<LinkFile, LinkResult> {
 public:
  void reserve_repeats(int) override {}
  void write(const Slice&, const PairRow&) override {}
};

}  // namespace

void check_format_holds(ResultFormat format, const LinkRequest& request) {
  if (format != ResultFormat::sion) return;
  constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  if (request.message_sizes_bytes.front() > max) {
    throw Error(
        ExitStatus::bad_command_line,
        fmt::format("a SION file cannot hold the message size {}", format_bytes(request.message_sizes_bytes.front())),
        "LinkTest's record has 32 bits for it", "Use a --message-size below 2 GiB, or another --format");
  }
  if (request.num_messages > max) {
    throw Error(ExitStatus::bad_command_line, fmt::format("a SION file cannot hold {} messages", request.num_messages),
                "LinkTest's record has 32 bits for them", "Use fewer --messages, or another --format");
  }
}

std::unique_ptr<LinkFile> open_link_file(cluster::Cluster& cluster, const LinkResult& so_far, LinkFileSetup setup) {
  check_format_holds(setup.format, so_far.request);
  switch (setup.format) {
    case ResultFormat::hdf5:
      return std::make_unique<Hdf5Store>(cluster, so_far, std::move(setup));
    case ResultFormat::sion:
      return std::make_unique<SionStore>(cluster, so_far, std::move(setup));
    case ResultFormat::json:
      return std::make_unique<JsonStore>(cluster, so_far, setup);
    case ResultFormat::none:
      break;
  }
  return std::make_unique<NoLinkFile>();
}

}  // namespace leadline::bench::link
