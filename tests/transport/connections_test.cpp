// SPDX-License-Identifier: Apache-2.0
// What opening links costs is kept, and what finds its link open costs nothing.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <map>

#include "transport/transport.hpp"

namespace leadline::transport {
namespace {

/// Takes as many milliseconds to open a link as the partner's number says.
class SlowTransport final : public Transport {
 public:
  TransportInfo info() const override { return {}; }
  void run(const kernel::Exchange&, int, const kernel::Buffers&, std::span<Sample>) override {}
  std::optional<kernel::Mismatch> verify(const kernel::Exchange&, int, const kernel::Buffers&, Fill) override {
    return std::nullopt;
  }
  void all_to_all(const kernel::AllToAllSteps&, const kernel::Buffers&, std::span<Sample>) override {}
  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange&,
                                                                    const kernel::NeighbourBuffers&,
                                                                    const kernel::NeighbourTask&) override {
    return std::nullopt;
  }
  std::unique_ptr<Messages> messages(std::span<const std::int32_t>, std::size_t) override { return nullptr; }

 private:
  Connected open_link(int partner, Deadline) override {
    if (!is_open_.emplace(partner, true).second) return Connected::again;
    ::poll(nullptr, 0, partner);
    return Connected::anew;
  }

  std::map<int, bool> is_open_;
};

TEST(ConnectionTimes, CountWhatWasOpenedAnew) {
  SlowTransport transport;
  EXPECT_EQ(transport.connection_times().num_opened, 0U);
  EXPECT_EQ(transport.connection_times().longest_partner, -1);
  for (const int partner : {1, 20, 3, 20, 20}) transport.connect(partner, Deadline::after(std::chrono::seconds(9)));
  const ConnectionTimes& times = transport.connection_times();
  EXPECT_EQ(times.num_opened, 3U);
  EXPECT_GE(times.total_ns, 24'000'000U);
  EXPECT_GE(times.longest_ns, 20'000'000U);
  EXPECT_LE(times.longest_ns, times.total_ns);
}

}  // namespace
}  // namespace leadline::transport
