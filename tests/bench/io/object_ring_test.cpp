// SPDX-License-Identifier: Apache-2.0
// Objects are made ahead of calls and checked behind them, by a helper or by the rank: the same ones, in the same
// places.
#include "bench/io/object_ring.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/io/ranks.hpp"

namespace leadline::bench::io {
namespace {

/// The memory and contents of one rank with small objects.
struct Fixture {
  explicit Fixture(std::uint64_t num_objects, std::uint64_t object_size_bytes = 8192) {
    request.target = "file.%r";
    request.num_objects = num_objects;
    request.object_size_bytes = object_size_bytes;
    plan = Ranks(1, 1).plan(request);
  }

  std::vector<std::byte> expected(std::uint64_t number) const {
    std::vector<std::byte> object(request.object_size_bytes);
    const std::uint64_t offset_bytes = plan.layout.location(0, number).offset_bytes;
    memory::fill_object(object, {request.file_fill, request.touch, request.check}, {7, 0, 0, number, offset_bytes, 2});
    return object;
  }

  IoRequest request;
  Plan plan;
};

class EitherWorker : public ::testing::TestWithParam<ContentsBy> {};

TEST_P(EitherWorker, MakesEveryObjectBeforeItIsTaken) {
  for (const std::uint64_t num_objects : {1u, 3u, 64u, 65u, 500u}) {
    const Fixture fixture(num_objects);
    const Buffers buffers(fixture.request, fixture.plan, 0);
    Recorder recorder(0);
    Contents contents(fixture.request, fixture.plan.layout, {7, 2});
    ObjectRing ring(contents, buffers, {IoOperation::write, 0, num_objects}, recorder, {GetParam()});
    for (std::uint64_t number = 0; number < num_objects; ++number) {
      const std::span<std::byte> object = ring.take(number);
      const std::vector<std::byte> expected = fixture.expected(number);
      ASSERT_EQ(std::memcmp(object.data(), expected.data(), expected.size()), 0) << number << " of " << num_objects;
      ring.give_back(number, object.size());
    }
    ring.settle();
    EXPECT_GT(contents.making_ns(), 0);
  }
}

TEST_P(EitherWorker, ChecksEveryObjectThatIsGivenBack) {
  for (const std::uint64_t num_objects : {1u, 2u, 64u, 66u, 300u}) {
    const Fixture fixture(num_objects);
    const Buffers buffers(fixture.request, fixture.plan, 0);
    Recorder recorder(0);
    Contents contents(fixture.request, fixture.plan.layout, {7, 2});
    ObjectRing ring(contents, buffers, {IoOperation::read, 0, num_objects}, recorder, {GetParam()});
    for (std::uint64_t number = 0; number < num_objects; ++number) {
      const std::span<std::byte> object = ring.take(number);
      ASSERT_NE(std::memcmp(object.data(), fixture.expected(number).data(), object.size()), 0)
          << "what was there before";
      std::ranges::copy(fixture.expected(number), object.begin());
      if (number % 100 == 1) object[5000] ^= std::byte{1};
      ring.give_back(number, number + 1 == num_objects ? object.size() - 8 : object.size());
    }
    ring.settle();
    std::vector<std::uint64_t> wrong;
    for (std::uint64_t number = 0; number < num_objects; ++number) {
      if (number % 100 == 1 || number + 1 == num_objects) wrong.push_back(number);
    }
    EXPECT_EQ(contents.wrong_numbers(), wrong);
    EXPECT_EQ(contents.num_mismatches(), wrong.size());
    EXPECT_EQ(contents.verified_bytes(), (num_objects - wrong.size()) * fixture.request.object_size_bytes);
  }
}

TEST_P(EitherWorker, EndsInTheMiddle) {
  const Fixture fixture(1000);
  const Buffers buffers(fixture.request, fixture.plan, 0);
  Recorder recorder(0);
  Contents contents(fixture.request, fixture.plan.layout, {7, 2});
  for (const IoOperation operation : {IoOperation::write, IoOperation::read}) {
    ObjectRing ring(contents, buffers, {operation, 0, 1000}, recorder, {GetParam()});
    for (std::uint64_t number = 0; number < 10; ++number) {
      ring.take(number);
      if (number != 5) ring.give_back(number, 0);  // the call failed
    }
    ring.settle();
  }
  EXPECT_EQ(contents.num_mismatches(), 5u) << "nothing behind the failed one is known";
}

INSTANTIATE_TEST_SUITE_P(ObjectRing, EitherWorker, ::testing::Values(ContentsBy::rank, ContentsBy::helper),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST(ObjectRing, WithoutAHelperTheTimeIsTheRanks) {
  const Fixture fixture(200);
  const Buffers buffers(fixture.request, fixture.plan, 0);
  Recorder recorder(0);
  Contents contents(fixture.request, fixture.plan.layout, {7, 2});
  ObjectRing ring(contents, buffers, {IoOperation::write, 0, 200}, recorder, {});
  const double ahead_ns = contents.making_ns();
  for (std::uint64_t number = 0; number < 200; ++number) {
    ring.take(number);
    ring.give_back(number, 8192);
  }
  const double fill_ns = recorder.row().times_ns[static_cast<std::size_t>(IoTime::fill)];
  EXPECT_GE(fill_ns, contents.making_ns() - ahead_ns);
}

TEST(ObjectRing, HoldsFewObjectsOfWhateverSize) {
  IoRequest request;
  for (const std::uint64_t size_bytes : {std::uint64_t{8}, std::uint64_t{1} << 20, std::uint64_t{1} << 33}) {
    request.object_size_bytes = size_bytes;
    EXPECT_GE(ring_size(request), 2u);
    EXPECT_LE(ring_size(request), 65u);
    EXPECT_LE((ring_size(request) - 2) * size_bytes, std::uint64_t{8} << 20);
  }
  request.movement = schedule::Movement::n_m_1;
  EXPECT_EQ(num_beside_calls(request), 0u);
}

}  // namespace
}  // namespace leadline::bench::io
