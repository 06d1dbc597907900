// SPDX-License-Identifier: Apache-2.0
// Two ends of a socket tell each other addresses: of any length, in time, and no byte more.
#include "transport/address_exchange.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "transport/tagged/port.hpp"

namespace leadline::transport::address_exchange_test {
namespace {

struct TwoEnds {
  TwoEnds() {
    std::array<int, 2> fds{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    one = Descriptor(fds[0]);
    other = Descriptor(fds[1]);
  }
  Descriptor one, other;
};

Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }

TEST(AddressExchange, CarriesAnyLengthBothWays) {
  const TwoEnds ends;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{200}, std::size_t{1} << 16}) {
    const std::string own(size, 'a'), others(size / 2 + 1, '\0');
    std::string seen_by_other;
    std::thread other([&] { seen_by_other = exchange_addresses(ends.other.fd(), 0, others, soon()); });
    EXPECT_EQ(exchange_addresses(ends.one.fd(), 1, own, soon()), others);
    other.join();
    EXPECT_EQ(seen_by_other, own);
  }
}

TEST(AddressExchange, LeavesWhatStandsBehindIt) {
  const TwoEnds ends;
  const std::string message("\x02\0\0\0hiX", 7);
  ASSERT_EQ(::send(ends.other.fd(), message.data(), message.size(), 0), 7);
  EXPECT_EQ(exchange_addresses(ends.one.fd(), 1, "", soon()), "hi");
  char next = 0;
  EXPECT_EQ(::recv(ends.one.fd(), &next, 1, MSG_DONTWAIT), 1);
  EXPECT_EQ(next, 'X');
}

TEST(AddressExchange, NamesAPartnerThatIsGoneOrLate) {
  TwoEnds ends;
  try {
    exchange_addresses(ends.one.fd(), 7, "a", Deadline::after(std::chrono::milliseconds(20)));
    ADD_FAILURE() << "nobody has answered";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed);
    EXPECT_NE(error.problem().find("rank 7"), std::string::npos);
  }
  ends.other = {};
  EXPECT_THROW(exchange_addresses(ends.one.fd(), 7, "a", soon()), Error);
}

TEST(AddressExchange, RefusesALengthThatNoAddressHas) {
  const TwoEnds ends;
  ASSERT_EQ(::send(ends.other.fd(), "\xff\xff\xff\xff", 4, 0), 4);
  EXPECT_THROW(exchange_addresses(ends.one.fd(), 1, "a", soon()), Error);
}

TEST(AddressExchange, SignsAreSeenOnceAndInOrder) {
  TwoEnds ends;
  EXPECT_FALSE(has_sign(ends.one.fd(), 1));
  send_ready(ends.other.fd(), 0);
  EXPECT_TRUE(has_sign(ends.one.fd(), 1));
  EXPECT_FALSE(has_sign(ends.one.fd(), 1));
  ends.other = {};
  EXPECT_THROW(has_sign(ends.one.fd(), 1), Error);
  EXPECT_THROW(send_ready(ends.one.fd(), 1), Error);
}

TEST(Introduction, KeepsItsPartsApart) {
  const std::string address("\x02\0\x11\0", 4);
  const std::string text = tagged::in_one({"tcp;ofi_rxm, FI_SOCKADDR_IN", address});
  EXPECT_EQ(tagged::in_two(text).protocol, "tcp;ofi_rxm, FI_SOCKADDR_IN");
  EXPECT_EQ(tagged::in_two(text).address, address);
  EXPECT_EQ(tagged::in_two("none").protocol, "");
}

}  // namespace
}  // namespace leadline::transport::address_exchange_test
