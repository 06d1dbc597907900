// SPDX-License-Identifier: Apache-2.0
// The parts of the control plane by themselves: tree, addresses, tokens, messages.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/address.hpp"
#include "cluster/bytes.hpp"
#include "cluster/connection.hpp"
#include "cluster/failure.hpp"
#include "cluster/handshake.hpp"
#include "cluster/process_identity.hpp"
#include "cluster/tcp_cluster.hpp"
#include "cluster/watch.hpp"
#include "core/deadline.hpp"

namespace leadline::cluster {
namespace {

TEST(Tree, every_rank_but_the_root_is_its_parents_child_once) {
  for (int size = 1; size <= 64; ++size) {
    std::vector<int> seen(static_cast<std::size_t>(size), 0);
    for (int rank = 0; rank < size; ++rank) {
      for (const int child : children_of(rank, size)) {
        EXPECT_EQ(parent_of(child), rank);
        ++seen[static_cast<std::size_t>(child)];
      }
    }
    EXPECT_EQ(seen[0], 0);
    EXPECT_TRUE(std::all_of(seen.begin() + 1, seen.end(), [](int count) { return count == 1; })) << size;
  }
}

TEST(Tree, has_no_children_beyond_the_largest_rank) { EXPECT_TRUE(children_of(2147483646, 2147483647).empty()); }

TEST(HostIdentity, who_cannot_read_the_boot_is_with_others_of_its_name_and_network) {
  const HostIdentity node1{1, 1, 11}, clone{1, 1, 12}, container{1, 5, 11}, blind{1, 1, 0}, node2{2, 2, 0};
  const auto hosts = [](std::vector<HostIdentity> processes) { return hosts_of(processes); };
  EXPECT_EQ(hosts({node1, clone, container, node1}), (std::vector<std::uint32_t>{0, 1, 2, 0}));
  EXPECT_EQ(hosts({blind, node1, blind}), (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_EQ(hosts({blind, node2, blind, node2}), (std::vector<std::uint32_t>{0, 1, 0, 1}));
  EXPECT_EQ(hosts({node1, clone, blind}), (std::vector<std::uint32_t>{0, 1, 2})) << "either of two";
}

TEST(Address, is_read_and_written) {
  const auto ipv4 = SocketAddress::parse("10.1.2.3", 60000);
  ASSERT_TRUE(ipv4);
  EXPECT_EQ(ipv4->text(), "10.1.2.3:60000");
  EXPECT_EQ(ipv4->port(), 60000);
  EXPECT_FALSE(ipv4->is_loopback());
  const auto ipv6 = SocketAddress::parse("fd00::1", 1);
  ASSERT_TRUE(ipv6);
  EXPECT_EQ(ipv6->text(), "[fd00::1]:1");
  EXPECT_TRUE(SocketAddress::parse("127.9.9.9", 0)->is_loopback());
  EXPECT_TRUE(SocketAddress::parse("::1", 0)->is_loopback());
  for (const char* text : {"", "localhost", "10.1.2", "10.1.2.256", "fe80::1%eth0", "[::1]"}) {
    EXPECT_FALSE(SocketAddress::parse(text, 0)) << text;
  }
}

TEST(Address, an_interface_is_meant_by_device_address_prefix_or_network) {
  const LocalAddress eth0{"eth0", *SocketAddress::parse("10.55.3.4", 0)};
  for (const char* wanted : {"eth0", "10.55.3.4", "10.55.", "10.", "10.55.0.0/16", "10.55.3.4/32", "0.0.0.0/0"}) {
    EXPECT_TRUE(matches(eth0, wanted)) << wanted;
  }
  for (const char* wanted : {"eth", "eth1", "", "10.5", "10.56.", "10.54.0.0/16", "10.55.3.5/32", "10.55.0.0/33",
                             "10.55.0.0/", "10.55.0.0/x", "/16", "fd00::/8"}) {
    EXPECT_FALSE(matches(eth0, wanted)) << wanted;
  }
  EXPECT_TRUE(matches({"eth0", *SocketAddress::parse("fd12::1", 0)}, "fd00::/8"));
}

TEST(Address, of_this_host_holds_the_loopback) {
  const auto all = local_addresses();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const auto& one) { return one.address.is_loopback(); }));
  EXPECT_EQ(address_between_hosts({"lo"}).host_text(), "127.0.0.1");
  EXPECT_THROW(address_between_hosts({"nosuch0"}), Error);
}

TEST(Listener, a_foreign_address_is_an_error_with_a_hint) {
  try {
    listen_on(*SocketAddress::parse("198.51.100.7", 60000));
    ADD_FAILURE() << "listens";
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "cannot listen on 198.51.100.7:60000");
    EXPECT_EQ(error.hint(), "that address is not one of this host");
  }
}

TEST(Handshake, opens_what_the_same_secret_sealed) {
  const RunKey key("secret");
  const Nonce of_called = new_nonce();
  const Hello hello{Purpose::peer, 3, 77, new_nonce()};
  const auto opened = RunKey("secret").open(key.seal(hello, of_called), of_called);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->purpose, Purpose::peer);
  EXPECT_EQ(opened->from, 3U);
  EXPECT_EQ(opened->to, 77U);
  EXPECT_TRUE(key.is_answer_to(hello, of_called, RunKey("secret").answer_to(*opened, of_called)));
}

TEST(Handshake, opens_nothing_else) {
  const RunKey key("secret");
  const Nonce of_called = new_nonce();
  const Hello hello{Purpose::watch, 3, 1, new_nonce()};
  const SealedHello sealed = key.seal(hello, of_called);
  EXPECT_FALSE(RunKey("secreu").open(sealed, of_called));
  EXPECT_FALSE(key.open(sealed, new_nonce())) << "a hello to another challenge";
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    SealedHello damaged = sealed;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(key.open(damaged, of_called)) << "byte " << at;
  }
  // A hello thrown back is no answer, nor is the answer to another hello, or to this one at another time.
  Answer echo;
  std::copy(sealed.end() - token_size_bytes, sealed.end(), echo.begin());
  EXPECT_FALSE(key.is_answer_to(hello, of_called, echo));
  EXPECT_FALSE(key.is_answer_to(hello, of_called, key.answer_to({Purpose::watch, 3, 2, hello.nonce}, of_called)));
  EXPECT_FALSE(key.is_answer_to(hello, of_called, key.answer_to({Purpose::watch, 3, 1, new_nonce()}, of_called)));
  EXPECT_FALSE(key.is_answer_to(hello, of_called, key.answer_to(hello, new_nonce())));
}

TEST(Handshake, another_version_is_not_understood) {
  const Nonce nonce = new_nonce();
  EXPECT_EQ(nonce_of(challenge_of(nonce)), nonce);
  for (std::size_t at = 0; at < magic_size_bytes; ++at) {
    Challenge other = challenge_of(nonce);
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(nonce_of(other)) << "byte " << at;
  }
}

TEST(ConnectionQueue, closes_the_oldest_of_a_caller_who_leaves_too_many) {
  ConnectionQueue queue;
  std::vector<int> left;
  const auto leave = [&](int from) {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    left.push_back(socket.fd());
    queue.leave(Purpose::peer, from, std::move(socket));
  };
  leave(7);
  for (std::size_t i = 0; i < ConnectionQueue::max_waiting_per_caller + 1; ++i) leave(3);
  const auto take = [&](int from) { return queue.take(Purpose::peer, from, Deadline::after(std::chrono::seconds(0))); };
  EXPECT_EQ(take(7).fd(), left[0]) << "of another caller";
  std::size_t num_taken = 0;
  while (take(3)) ++num_taken;
  EXPECT_EQ(num_taken, ConnectionQueue::max_waiting_per_caller);
}

TEST(Reader, never_reads_beyond_the_end) {
  std::string bytes;
  append_text(bytes, "abc");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Reader reader(std::string_view(bytes).substr(0, length));
    EXPECT_EQ(reader.text(), "");
    EXPECT_EQ(reader.is_short(), length != 0 || reader.is_short());
  }
  Reader reader(bytes);
  EXPECT_EQ(reader.text(), "abc");
  EXPECT_TRUE(reader.at_end());
  EXPECT_FALSE(reader.is_short());
}

TEST(FailureText, passes_between_ranks_unchanged) {
  const Failure failure{FailureKind::own_error, Error(ExitStatus::something_missing, "problem", "why", "hint")};
  const auto arrived = unpacked(packed(failure));
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->kind, FailureKind::own_error);
  EXPECT_EQ(arrived->error.status(), ExitStatus::something_missing);
  EXPECT_STREQ(arrived->error.what(), failure.error.what());
}

TEST(FailureText, damaged_bytes_are_no_failure) {
  const std::string bytes = packed(rank_died("rank 3 on node1", "round 1 of 2"));
  for (std::size_t length = 0; length < bytes.size(); ++length) EXPECT_FALSE(unpacked(bytes.substr(0, length)));
}

TEST(FailureText, a_long_text_still_fits_a_frame) {
  const std::string endless(1'000'000, 'x');
  EXPECT_LT(packed({FailureKind::own_error, Error(ExitStatus::run_failed, endless, endless, endless)}).size(), 65536U);
}

TEST(FailureText, without_a_current_step_reads_well) {
  EXPECT_EQ(rank_died("rank 3", "").error.problem(), "rank 3 died");
  EXPECT_EQ(rank_silent("rank 3", "", 60, {}).error.problem(), "rank 3 has been silent for 60 s");
  EXPECT_EQ(file_call_stuck("rank 3", "syncing f", 60).error.problem(),
            "rank 3 has waited for a file system for 60 s in syncing f");
  EXPECT_EQ(signal_to("rank 0 on a", "", SIGINT).error.why(), "rank 0 on a received SIGINT");
}

TEST(StallDetector, only_a_transport_without_beats_stands_still) {
  using namespace std::chrono_literals;
  StallDetector stall_detector;
  auto now = StallDetector::Clock::now();
  EXPECT_FALSE(stall_detector.standstill(now, 1s));
  EXPECT_FALSE(stall_detector.standstill(now + 60s, 1s));  // elsewhere: much more patience
  stall_detector.progress_counter.in_transport = true;
  EXPECT_FALSE(stall_detector.standstill(now + 61s, 1s));  // it has just begun
  EXPECT_TRUE(stall_detector.standstill(now + 63s, 1s));
  stall_detector.progress_counter.advance();
  EXPECT_FALSE(stall_detector.standstill(now + 64s, 1s));
  stall_detector.is_waiting = true;
  EXPECT_FALSE(stall_detector.standstill(now + 1000s, 1s));
}

TEST(StallDetector, each_call_into_a_file_system_has_the_patience_of_a_transport) {
  using namespace std::chrono_literals;
  StallDetector stall_detector;
  CurrentFileCall& file_call = stall_detector.progress_counter.file_call;
  auto now = StallDetector::Clock::now();
  stall_detector.is_waiting = true;  // for others, whose rows it writes
  {
    const InFileCall first(file_call, "writing", "f", {0, 4096});
    EXPECT_FALSE(stall_detector.standstill(now, 10s));
    EXPECT_FALSE(stall_detector.standstill(now + 9s, 10s));
  }
  {
    const InFileCall second(file_call, "writing", FileRange{4096, 4096}, FileCallKind::joint_call);
    EXPECT_FALSE(stall_detector.standstill(now + 11s, 10s)) << "a call that follows is progress";
    const auto time = stall_detector.standstill(now + 22s, 10s);
    ASSERT_TRUE(time);
    EXPECT_NEAR(seconds(*time), 11, 0.5);
  }
  EXPECT_FALSE(stall_detector.standstill(now + 1000s, 10s)) << "it waits for others";
  const InFileCall many(file_call, "completing", "f", {}, FileCallKind::many_calls);
  EXPECT_FALSE(stall_detector.standstill(now + 1001s, 10s));
  EXPECT_FALSE(stall_detector.standstill(now + 1100s, 10s)) << "a library may make any number of calls";
  EXPECT_TRUE(stall_detector.standstill(now + 1200s, 10s));
}

TEST(StallDetector, a_file_call_lasts_since_it_began_but_for_what_this_process_has_missed) {
  using namespace std::chrono_literals;
  StallDetector stall_detector;
  CurrentFileCall& file_call = stall_detector.progress_counter.file_call;
  const InFileCall call(file_call, "writing", "f");
  std::this_thread::sleep_for(20ms);
  auto now = StallDetector::Clock::now();
  EXPECT_FALSE(stall_detector.will_have_lasted(1s)) << "nobody has looked yet";
  const auto time = stall_detector.standstill(now, 10ms);
  ASSERT_TRUE(time) << "though it is seen for the first time";
  EXPECT_GE(*time, 20ms);
  ASSERT_TRUE(stall_detector.will_have_lasted(1s));
  EXPECT_EQ(*stall_detector.will_have_lasted(1s), now - *time + 1s);

  StallDetector stopped;
  const InFileCall other(stopped.progress_counter.file_call, "writing", "f");
  std::this_thread::sleep_for(20ms);
  now = StallDetector::Clock::now();
  stopped.forgive(20ms, now);
  EXPECT_FALSE(stopped.standstill(now, 10ms));
  EXPECT_EQ(stopped.standstill(now + 11ms, 10ms), 11ms);
}

TEST(StallDetector, each_of_many_short_calls_has_the_patience_of_one) {
  using namespace std::chrono_literals;
  StallDetector stall_detector;
  CurrentFileCall& file_call = stall_detector.progress_counter.file_call;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread measuring([&] {
    char bytes[2];
    const InFileCall in_calls(file_call, "creating", "f", {}, FileCallKind::many_short_calls);
    (void)!::read(ends[0], bytes, 1);
    (void)!::read(ends[0], bytes, 2);
  });
  const auto await_call_after = [&](const std::string& before) {
    const Deadline deadline = Deadline::after(10s);
    std::string call;
    while ((call.empty() || call == before) && !deadline.has_passed()) call = file_call.system_call();
    return call;
  };
  const std::string first = await_call_after("");
  const auto now = StallDetector::Clock::now();
  if (!first.empty()) {
    EXPECT_FALSE(stall_detector.standstill(now, 10s));
    EXPECT_FALSE(stall_detector.standstill(now + 9s, 10s));
    EXPECT_EQ(stall_detector.standstill(now + 11s, 10s), 11s);
  }
  (void)!::write(ends[1], "x", 1);
  if (!first.empty()) {
    EXPECT_NE(await_call_after(first), first);
    EXPECT_FALSE(stall_detector.standstill(now + 12s, 10s)) << "a call that follows is progress";
    EXPECT_EQ(stall_detector.standstill(now + 23s, 10s), 11s);
  }
  (void)!::write(ends[1], "x", 1);
  measuring.join();
  for (const int end : ends) ::close(end);
  if (first.empty()) GTEST_SKIP() << "the kernel does not show system calls";
}

TEST(FirstCause, a_rank_inside_a_file_call_goes_before_all_that_wait_for_it) {
  Stall writes{6, -1, false, 3, {}, "write phase 1 of 2"};
  writes.is_in_file_call = true;
  const Stall waits{4, 6, false, 9, {}, {}}, cut{7, 8, true, 9, "no answer", {}};
  EXPECT_EQ(first_cause({waits, writes, cut})->rank, 6);
  const auto arrived = unpacked_stall(packed(writes));
  ASSERT_TRUE(arrived);
  EXPECT_TRUE(arrived->is_in_file_call);
  EXPECT_EQ(stall_line("rank 6 on a", "", writes, 10),
            "rank 6 on a has waited for a file system for 3 s in write phase 1 of 2; the run ends after 10 s without "
            "progress");
  EXPECT_THAT(stall_line("rank 6 on a", "", writes, 10, 1),
              testing::HasSubstr("of 2; 1 other rank is in such a call, too; the"));
  EXPECT_EQ(file_call_stuck("rank 6 on a", "", 3, 2).error.why(),
            "it does not answer; 2 other ranks are in such calls, too");
}

TEST(FirstCause, a_rank_that_may_wait_for_others_in_a_file_call_is_none_where_another_does_not) {
  Stall collective{1, -1, false, 9, {}, {}}, inside{2, -1, false, 3, {}, {}};
  collective.is_in_file_call = inside.is_in_file_call = true;
  collective.awaits_others = true;
  const Stall waits{4, 6, false, 20, {}, {}}, cut{7, 8, true, 1, "no answer", {}};
  EXPECT_EQ(first_cause({collective, inside})->rank, 2);
  EXPECT_EQ(first_cause({collective, cut})->rank, 7);
  EXPECT_EQ(first_cause({waits, collective})->rank, 1);
  EXPECT_TRUE(unpacked_stall(packed(collective))->awaits_others);
}

TEST(FirstCause, two_that_do_not_reach_each_other_go_before_two_that_wait_for_each_other) {
  const Stall waits{4, 5, false, 9, {}, {}}, mutual{3, 2, false, 3, {}, {}}, other_side{2, 3, false, 2, {}, {}};
  const Stall cut{6, 7, true, 1, "no answer", {}}, several{8, -1, false, 20, {}, {}};
  EXPECT_FALSE(first_cause({}));
  EXPECT_FALSE(first_cause({several}));
  EXPECT_EQ(first_cause({several, waits})->rank, 4);
  EXPECT_EQ(first_cause({waits, mutual, several, other_side})->rank, 3);
  EXPECT_EQ(first_cause({waits, mutual, cut, other_side})->rank, 6);
}

TEST(FirstCause, is_the_one_that_began_first_also_where_another_has_told_since_how_long_it_lasts) {
  Stall first{1, -1, false, 1, {}, {}}, second{0, -1, false, 3.1, {}, {}};
  first.is_in_file_call = second.is_in_file_call = true;
  second.taken_at = first.taken_at + 2200ms;
  EXPECT_EQ(first_cause({second, first})->rank, 1);
  second.taken_at = first.taken_at + 2000ms;
  EXPECT_EQ(first_cause({first, second})->rank, 0);
}

TEST(FirstCause, passes_between_ranks_unchanged) {
  Stall stall{6, -1, true, 1.5, "no answer", "round 3"};
  const std::string bytes = packed(stall);
  const auto arrived = unpacked_stall(bytes);
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->rank, 6);
  EXPECT_EQ(arrived->partner, -1);
  EXPECT_TRUE(arrived->is_cut_off);
  EXPECT_EQ(arrived->lasts_s, 1.5);
  EXPECT_EQ(arrived->why, "no answer");
  EXPECT_EQ(arrived->step, "round 3");
  for (std::size_t length = 0; length < bytes.size(); ++length) EXPECT_FALSE(unpacked_stall(bytes.substr(0, length)));

  stall.lasts_s = 1e10;  // longer than any run
  EXPECT_FALSE(unpacked_stall(packed(stall)));
}

}  // namespace
}  // namespace leadline::cluster
