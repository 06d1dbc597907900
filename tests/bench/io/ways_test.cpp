// SPDX-License-Identifier: Apache-2.0
// The parallel file test with every movement and every kind of call.
#include "bench/io/documented_files.hpp"

namespace leadline::bench::io {
namespace {

std::vector<AccessMethod> all_ways() {
  std::vector<AccessMethod> ways;
  for (const Movement movement : {Movement::n_n, Movement::n_1, Movement::n_m_m, Movement::n_m_1, Movement::n_m}) {
    for (const Order order : {Order::segmented, Order::strided}) {
      if (movement == Movement::n_n && order == Order::strided) continue;
      for (const storage::FileCalls calls : {storage::FileCalls::blocking, storage::FileCalls::non_blocking}) {
        ways.push_back({movement, order, calls, false, false, 0});
        ways.push_back({movement, order, calls, false, true, 3});
        ways.push_back({movement, order, calls, true, false, 1});
      }
    }
  }
  return ways;
}

class EveryWay : public ::testing::TestWithParam<AccessMethod> {};

TEST_P(EveryWay, WritesWhereTheDocumentsSayAndReadsItAgain) {
  const AccessMethod& way = GetParam();
  const test::Folder folder;
  IoRequest request = request_in(folder, way.movement);
  request.order = way.order;
  request.calls = way.calls;
  request.collective = way.collective;
  request.barrier = way.barrier;
  request.num_ahead = way.num_ahead;
  // Room for 3 objects of 4 senders here and of 3 there: fills and runs are unequal on the two I/O ranks.
  if (schedule::is_funnel(way.movement)) request.buffer_size_bytes = 3 * request.object_size_bytes;
  run_and_expect_files(setting_for(request), folder);
}

INSTANTIATE_TEST_SUITE_P(IoMeasure, EveryWay, ::testing::ValuesIn(all_ways()), name_of_way);

}  // namespace
}  // namespace leadline::bench::io
