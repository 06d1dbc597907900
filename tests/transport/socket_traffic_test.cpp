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

}  // namespace
}  // namespace leadline::transport
