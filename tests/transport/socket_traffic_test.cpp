// SPDX-License-Identifier: Apache-2.0
// Many messages over few sockets: whole, in order, both ways at once, and with an error where the other end is gone.
#include "transport/socket_traffic.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "core/descriptor.hpp"
#include "core/error.hpp"

namespace leadline::transport {
namespace {

using Bytes = std::vector<std::byte>;

/// Two ends of a stream whose buffers hold next to nothing.
struct Stream {
  Stream() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    const int few = 4096;
    for (const int fd : fds) {
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &few, sizeof few);
      ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
    }
    here = Descriptor(fds[0]);
    there = Descriptor(fds[1]);
  }
  Descriptor here, there;
};

Bytes message(std::size_t size, int value) { return Bytes(size, static_cast<std::byte>(value)); }

class Traffic : public testing::TestWithParam<WaitMode> {};

std::string name_of_mode(const testing::TestParamInfo<WaitMode>& tried) { return name_of(tried.param); }

INSTANTIATE_TEST_SUITE_P(Descriptor, Traffic, testing::Values(WaitMode::block, WaitMode::yield, WaitMode::spin),
                         name_of_mode);

/// Sends each of `sizes` to all peers and receives as many from them.
void exchange(SocketTraffic& traffic, std::size_t num_peers, const std::vector<std::size_t>& sizes, int value) {
  const std::size_t num = num_peers * sizes.size();
  std::vector<Bytes> out(num), in(num);
  for (std::size_t i = 0; i < num; ++i) {
    const std::size_t size = sizes[i / num_peers];
    out[i] = message(size, value + static_cast<int>(i));
    in[i] = message(size, 0xee);
    traffic.post_send(i % num_peers, i, out[i].data(), size);
    traffic.post_receive(i % num_peers, i, in[i].data(), size);
  }
  traffic.complete_posted();
  for (std::size_t i = 0; i < num; ++i) EXPECT_EQ(in[i], out[i]) << "message " << i;
}

TEST_P(Traffic, KeepsMessagesOfOneSocketWholeAndInOrder) {
  Stream left, right;
  const std::vector<std::size_t> sizes{1, 300'000, 7, 50'000};
  std::thread others([&] {
    // Each of them alone: message i of a stream is the same on both ends.
    for (int twice = 0; twice < 2; ++twice) {
      SocketTraffic ends(std::array{0, 1}, std::array{left.there.fd(), right.there.fd()}, 8, GetParam());
      exchange(ends, 2, sizes, 10 * twice);
    }
  });
  SocketTraffic traffic(std::array{1, 2}, std::array{left.here.fd(), right.here.fd()}, 8, GetParam());
  for (int twice = 0; twice < 2; ++twice) exchange(traffic, 2, sizes, 10 * twice);
  others.join();
}

TEST_P(Traffic, HandsOutWhatArrivesAsItArrives) {
  Stream early, late;
  Bytes first = message(10, 1), second = message(10, 2);
  SocketTraffic traffic(std::array{1, 2}, std::array{late.here.fd(), early.here.fd()}, 2, GetParam());
  Bytes from_late(10), from_early(10);
  traffic.post_receive(0, 0, from_late.data(), 10);
  traffic.post_receive(1, 1, from_early.data(), 10);
  ASSERT_EQ(::send(early.there.fd(), first.data(), 10, 0), 10);
  EXPECT_EQ(traffic.await_any(), 1u);
  EXPECT_EQ(from_early, first);
  ASSERT_EQ(::send(late.there.fd(), second.data(), 10, 0), 10);
  EXPECT_EQ(traffic.await_any(), 0u);
  EXPECT_EQ(from_late, second);
  traffic.complete_posted();
}

TEST_P(Traffic, GoesOnSendingWhileItAwaitsAMessage) {
  Stream stream;
  constexpr std::size_t size = 300'000;
  const Bytes out = message(size, 5);
  std::thread other([&] {
    Bytes in(size);
    EXPECT_EQ(::recv(stream.there.fd(), in.data(), size, MSG_WAITALL), static_cast<ssize_t>(size));
    EXPECT_EQ(in, out);
    EXPECT_EQ(::send(stream.there.fd(), in.data(), 1, 0), 1);
  });
  SocketTraffic traffic(std::array{1}, std::array{stream.here.fd()}, 1, GetParam());
  Bytes answer(1);
  traffic.post_send(0, 0, out.data(), size);
  traffic.post_receive(0, 0, answer.data(), 1);
  EXPECT_EQ(traffic.await_any(), 0u);
  traffic.complete_posted();
  other.join();
}

TEST_P(Traffic, NamesTheRankThatIsGone) {
  Stream here, gone;
  SocketTraffic traffic(std::array{3, 8}, std::array{here.here.fd(), gone.here.fd()}, 2, GetParam());
  Bytes in(20);
  traffic.post_receive(0, 0, in.data(), 10);
  traffic.post_receive(1, 1, in.data() + 10, 10);
  gone.there = Descriptor();
  try {
    traffic.complete_posted();
    ADD_FAILURE() << "nothing can come";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed);
    EXPECT_THAT(error.what(), testing::HasSubstr("rank 8"));
  }
}

/// Where the others go on, what a broken link has not brought counts as done, and so does what comes later.
TEST_P(Traffic, GoesOnWithoutALinkThatBreaks) {
  Stream here, gone;
  SocketTraffic traffic(std::array{3, 8}, std::array{here.here.fd(), gone.here.fd()}, 3, GetParam(),
                        SocketTraffic::Completions::receives, AtLoss::completes);
  const Bytes out = message(300'000, 7);
  Bytes in(out.size()), lost(out.size());
  std::thread other([&] {
    SocketTraffic end(std::array{0}, std::array{here.there.fd()}, 2, GetParam());
    Bytes first(out.size()), second(out.size());
    end.post_send(0, 0, out.data(), out.size());
    end.post_receive(0, 0, first.data(), first.size());
    end.post_receive(0, 1, second.data(), second.size());
    end.complete_posted();
    EXPECT_EQ(first, out);
    EXPECT_EQ(second, out);
  });
  traffic.post_send(1, 1, out.data(), out.size());
  traffic.post_receive(1, 1, lost.data(), lost.size());
  traffic.post_send(0, 0, out.data(), out.size());
  traffic.post_receive(0, 0, in.data(), in.size());
  gone.there = Descriptor();
  EXPECT_THAT((std::array{traffic.await_any(), traffic.await_any()}), testing::UnorderedElementsAre(0u, 1u));
  traffic.complete_posted();
  EXPECT_EQ(in, out);

  traffic.post_receive(1, 2, lost.data(), 1);
  EXPECT_EQ(traffic.await_any(), 2u);
  traffic.post_send(1, 1, out.data(), out.size());
  traffic.post_send(0, 0, out.data(), out.size());
  traffic.complete_posted();
  bool was_done = false;
  traffic.on_link(1, [&] { was_done = true; });
  EXPECT_FALSE(was_done);
  traffic.on_link(0, [&] { was_done = true; });
  EXPECT_TRUE(was_done);
  ASSERT_EQ(traffic.lost_links().size(), 1u);
  EXPECT_EQ(traffic.lost_links().front().partner(), 8);
  other.join();
}

TEST_P(Traffic, GoesOnWithStreamsWhereOneBreaks) {
  Stream here, gone;
  SocketTraffic traffic(std::array{3, 8}, std::array{here.here.fd(), gone.here.fd()}, 2, GetParam(),
                        SocketTraffic::Completions::everything, AtLoss::completes);
  const Bytes out = message(100'000, 7);
  gone.there = Descriptor();
  std::thread other([&] {
    Bytes in(out.size());
    EXPECT_EQ(::recv(here.there.fd(), in.data(), in.size(), MSG_WAITALL), static_cast<ssize_t>(in.size()));
  });
  traffic.post_send(0, 0, out.data(), out.size());
  for (int again = 0; again < 3; ++again) {
    traffic.post_send(1, 1, out.data(), out.size());
    if (again == 0) traffic.move();
    std::size_t done = traffic.await_any();
    if (done == 0) done = traffic.await_any();
    EXPECT_EQ(done, 1u);
  }
  traffic.complete_posted();
  EXPECT_EQ(traffic.lost_links().size(), 1u);
  other.join();
}

TEST(SocketTraffic, CountsALinkThatIsNotOpenAsBroken) {
  const SocketTraffic traffic(std::array{3}, std::array{-1}, 1, WaitMode::block, SocketTraffic::Completions::receives,
                              AtLoss::completes);
  ASSERT_EQ(traffic.lost_links().size(), 1u);
  EXPECT_STREQ(traffic.lost_links().front().what(), "the link to rank 3 is not open");
}

}  // namespace
}  // namespace leadline::transport
