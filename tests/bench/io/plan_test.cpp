// SPDX-License-Identifier: Apache-2.0
// The parallel file test's plan: who does I/O, buffers, phases, names, what it costs and what it
// refuses.
#include "bench/io/plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/io/ranks.hpp"
#include "core/error.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::io {
namespace {

using schedule::Movement;
using test::refusal_of;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

IoRequest of(Movement movement) {
  IoRequest request;
  request.movement = movement;
  if (movement == Movement::n_m) request.num_files = 2;
  return request;
}

IoRequest funnel(Movement movement, std::vector<std::int64_t> io_ranks) {
  IoRequest request = of(movement);
  request.io_ranks = std::move(io_ranks);
  return request;
}

TEST(IoPlan, LetsEveryRankDoItsOwnUnlessItIsAFunnel) {
  const Ranks ranks(4, 2);
  for (const Movement movement : {Movement::n_n, Movement::n_1, Movement::n_m}) {
    EXPECT_THAT(ranks.plan(of(movement)).layout.io_ranks().ranks, ElementsAre(0, 1, 2, 3));
  }
  EXPECT_THAT(ranks.plan(of(Movement::n_m_m)).layout.io_ranks().ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ranks.plan(funnel(Movement::n_m_1, {2})).layout.io_ranks().ranks, ElementsAre(0, 2));
}

TEST(IoPlan, TakesIoRanksOnHosts) {
  const Ranks ranks(6, 2);
  IoRequest request = funnel(Movement::n_m_m, {1});
  request.io_hosts = {"node2", "node0"};
  EXPECT_THAT(ranks.plan(request).layout.io_ranks().ranks, ElementsAre(0, 4));
  request.io_ranks = {1, 2};
  EXPECT_THAT(ranks.plan(request).layout.io_ranks().ranks, ElementsAre(0, 1, 4));
  request.io_ranks = {};
  EXPECT_THAT(ranks.plan(request).layout.io_ranks().ranks, ElementsAre(0, 1, 4, 5));
}

TEST(IoPlan, HasPhasesOfMetadata) {
  IoRequest request;
  request.metadata = true;
  request.object_size_bytes = 0;
  request.repeat = 2;
  const auto operations_of = [&](MetadataItems items) {
    request.items = items;
    std::vector<std::string> names;
    for (const PhasePosition& phase : Ranks(4, 2).plan(request).phases) names.emplace_back(name_of(phase.operation));
    return names;
  };
  EXPECT_THAT(operations_of(MetadataItems::directories), ElementsAre("mkdir", "rmdir", "mkdir", "rmdir"));
  EXPECT_THAT(operations_of(MetadataItems::both), SizeIs(14));
  request.repeat = 1;
  EXPECT_THAT(operations_of(MetadataItems::files), ElementsAre("create", "stat", "open", "read_file", "unlink"));
  EXPECT_THAT(operations_of(MetadataItems::both),
              ElementsAre("mkdir", "rmdir", "create", "stat", "open", "read_file", "unlink"));
}

TEST(IoPlan, RefusesBlocksThatDoNotFit) {
  IoRequest request = of(Movement::n_1);
  request.order = schedule::Order::strided;
  request.object_size_bytes = 8192;
  request.num_objects = 10;
  request.block_size_bytes = 12288;
  EXPECT_THAT(Ranks(2, 2).refusal(request), AllOf(HasSubstr("--block-size"), HasSubstr("--object-size, 8 KiB")));
  request.block_size_bytes = 32768;
  EXPECT_THAT(Ranks(2, 2).refusal(request), AllOf(HasSubstr("--objects cannot be 10"), HasSubstr("example 12")));
  request.block_size_bytes = 40960;
  EXPECT_EQ(Ranks(2, 2).plan(request).layout.location(1, 0).offset_bytes, 40960u);
}

TEST(IoPlan, GoesOnWithoutAShiftOfAPresetThatCannotBeHad) {
  IoRequest request;
  request.read_shift = ReadShift::hosts;
  request.read_shift_by = 1;
  EXPECT_THAT(Ranks(4, 4).refusal(request), HasSubstr("--read-shift"));
  request.is_shift_optional = true;
  const Ranks one_host(4, 4), two_hosts(4, 2);
  EXPECT_EQ(reads_for(one_host.plan(request), request, 1), 1);
  EXPECT_EQ(reads_for(two_hosts.plan(request), request, 1), 3);
  request.read_shift = ReadShift::ranks;
  EXPECT_EQ(reads_for(Ranks(1, 1).plan(request), request, 0), 0);
  EXPECT_EQ(reads_for(one_host.plan(request), request, 3), 0);
}

TEST(IoPlan, RefusesIoRanksThatAreNotThere) {
  const Ranks ranks(6, 2);
  EXPECT_THAT(ranks.refusal(funnel(Movement::n_m_1, {7})), AllOf(HasSubstr("--io-ranks cannot be 7"), HasSubstr("6")));
  EXPECT_THAT(ranks.refusal(funnel(Movement::n_m_1, {1'000'000})), HasSubstr("--io-ranks cannot be 1000000"));
  EXPECT_THAT(ranks.refusal(funnel(Movement::n_m_1, {1, 1})), HasSubstr("--io-hosts"));
  IoRequest request = funnel(Movement::n_m_m, {1});
  request.io_hosts = {"node"};  // exactly, not as the beginning of a name
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("--io-hosts names node, which"), HasSubstr("node0 and 2 more")));
  request.io_hosts = {"node1", "node1"};
  EXPECT_THAT(ranks.refusal(request), HasSubstr("node1 twice"));
  request.io_hosts = {"node1"};
  request.io_ranks = {3};
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("--io-ranks cannot be 3 on node1"), HasSubstr("2 ranks")));
  request.io_ranks = {1, 1};
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--io-ranks has 2 numbers and --io-hosts 1 names"));
}

TEST(IoPlan, HasBuffersOfWholeObjects) {
  const Ranks ranks(4, 4);
  IoRequest request = funnel(Movement::n_m_m, {1});
  EXPECT_EQ(ranks.plan(request).buffer_size_bytes, 64 * mebi);
  EXPECT_EQ(ranks.plan(request).slots_per_buffer(request), 64U);
  EXPECT_EQ(ranks.plan(request).num_buffers, 2);
  request.object_size_bytes = 48 * mebi;
  EXPECT_EQ(ranks.plan(request).buffer_size_bytes, 48 * mebi);
  request.object_size_bytes = 65 * mebi;
  EXPECT_EQ(ranks.plan(request).buffer_size_bytes, 65 * mebi);
  request.object_size_bytes = 47008;
  EXPECT_EQ(ranks.plan(request).buffer_size_bytes, 64 * mebi / 47008 * 47008);
  request.buffer_size_bytes = 3 * 47008;
  request.num_ahead = 3;
  EXPECT_EQ(ranks.plan(request).slots_per_buffer(request), 3U);
  EXPECT_EQ(ranks.plan(request).num_buffers, 4);
  request.buffer_size_bytes = 100'000;
  EXPECT_THAT(ranks.refusal(request),
              AllOf(HasSubstr("--buffer-size"), HasSubstr("--object-size"), HasSubstr("94016B")));
}

TEST(IoPlan, RefusesSizesThatCannotBe) {
  const Ranks ranks(2, 2);
  IoRequest request;
  for (const std::uint64_t size : {0U, 4U, 12U}) {
    request.object_size_bytes = size;
    EXPECT_THAT(ranks.refusal(request), HasSubstr("--object-size"));
  }
  request = {};
  request.num_objects = 0;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--objects"));
  request = {};
  request.num_ahead = -1;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--ahead"));
  request = {};
  request.cache_path = storage::CachePath::direct;
  EXPECT_NO_THROW(ranks.plan(request));
  request.object_size_bytes = 4104;
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("--direct"), HasSubstr("--object-size")));
  request = of(Movement::n_1);
  request.num_objects = std::uint64_t{1} << 44;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("2^63 - 1"));
}

TEST(IoPlan, RefusesWhatHasNoEffect) {
  const Ranks ranks(4, 2);
  IoRequest request;
  request.order = schedule::Order::strided;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--strided has no effect"));
  request = of(Movement::n_1);
  request.no_file = true;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--no-file has no effect"));
  request = of(Movement::n_1);
  request.self_send = schedule::SelfSend::no;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--no-self-send has no effect"));
  EXPECT_THAT(ranks.refusal(funnel(Movement::n_n, {2})), HasSubstr("--io-ranks has no effect"));
  request = of(Movement::n_n);
  request.num_files = 2;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--files has no effect"));
}

TEST(IoPlan, RefusesFunnelsInWhichNobodySends) {
  const Ranks ranks(4, 2);
  IoRequest request = funnel(Movement::n_m_m, {4});
  EXPECT_NO_THROW(ranks.plan(request));
  request.self_send = schedule::SelfSend::no;
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("no rank has anything"), HasSubstr("--io-ranks")));
  request.self_send = schedule::SelfSend::yes;
  request.no_file = true;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--no-file leaves nothing to do"));
  request.io_ranks = {3};
  EXPECT_THAT(ranks.plan(request).templates, IsEmpty());
}

TEST(IoPlan, NeedsANumberOfFilesForGroups) {
  Ranks ranks(4, 2);
  IoRequest request = of(Movement::n_m);
  request.num_files = 0;
  EXPECT_THAT(ranks.refusal(request), HasSubstr("Add --files"));
  request.num_files = 5;
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("--files cannot be 5"), HasSubstr("4 ranks")));
  request.num_files = 3;
  EXPECT_EQ(ranks.plan(request).layout.num_files(), 3);
  request.num_files = 0;
  request.targets_file = "list";
  ranks.names.targets = {"a", "b"};
  EXPECT_THAT(ranks.plan(request).templates, ElementsAre("a", "b"));
  ranks.names.targets = {"a", "b", "c", "d", "e"};
  EXPECT_THAT(ranks.refusal(request), HasSubstr("--targets names 5 files"));
  request.num_files = 2;
  EXPECT_THAT(ranks.plan(request).templates, ElementsAre("a", "b"));
}

TEST(IoPlan, HasPhasesByRepetition) {
  const Ranks ranks(2, 2);
  IoRequest request;
  request.repeat = 2;
  const std::vector<PhasePosition> both = ranks.plan(request).phases;
  ASSERT_THAT(both, SizeIs(4));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(both[static_cast<std::size_t>(i)].index, i);
    EXPECT_EQ(both[static_cast<std::size_t>(i)].repeat, i / 2);
    EXPECT_EQ(both[static_cast<std::size_t>(i)].operation, i % 2 == 0 ? IoOperation::write : IoOperation::read);
  }
  request.operations = IoOperations::read;
  ASSERT_THAT(ranks.plan(request).phases, SizeIs(2));
  EXPECT_EQ(ranks.plan(request).phases[1].operation, IoOperation::read);
  request.operations = IoOperations::write;
  EXPECT_EQ(ranks.plan(request).phases[1].operation, IoOperation::write);
}

TEST(IoPlanNames, HaveDefaults) {
  const Ranks ranks(4, 2);
  EXPECT_THAT(ranks.plan(of(Movement::n_n)).templates, AllOf(SizeIs(4), Each("leadline-io.%r")));
  EXPECT_THAT(ranks.plan(of(Movement::n_1)).templates, ElementsAre("leadline-io"));
  EXPECT_THAT(ranks.plan(funnel(Movement::n_m_m, {2})).templates, AllOf(SizeIs(2), Each("leadline-io.%r")));
  EXPECT_THAT(ranks.plan(funnel(Movement::n_m_1, {2})).templates, ElementsAre("leadline-io"));
  EXPECT_THAT(ranks.plan(of(Movement::n_m)).templates, AllOf(SizeIs(2), Each("leadline-io.%r")));
}

TEST(IoPlanNames, OfRanksOwnFilesNeedAPartThatDiffers) {
  const Ranks ranks(4, 2), one_each(3, 1);
  IoRequest request;
  request.target = "file";
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("--target cannot be 'file'"), HasSubstr("Add %r")));
  request.target = "100%%r";
  EXPECT_THAT(ranks.refusal(request), HasSubstr("Add %r"));
  request.target = "file.%h";
  EXPECT_THAT(ranks.refusal(request), HasSubstr("Add %r"));
  EXPECT_NO_THROW(one_each.plan(request));
  request.target = "file.%p";
  EXPECT_NO_THROW(ranks.plan(request));
  request.target = "file";
  EXPECT_NO_THROW(Ranks(1, 1).plan(request));
  request.movement = Movement::n_m_m;
  request.io_ranks = {1};
  EXPECT_NO_THROW(ranks.plan(request));
  request.io_ranks = {2};
  EXPECT_THAT(ranks.refusal(request), HasSubstr("Add %r"));
}

TEST(IoPlanNames, OfSharedFilesAreTheSameForAll) {
  const Ranks two_hosts(4, 2), one_host(4, 4);
  for (const Movement movement : {Movement::n_1, Movement::n_m_1}) {
    IoRequest request = of(movement);
    request.target = "file.%r";
    EXPECT_THAT(one_host.refusal(request), AllOf(HasSubstr("open different"), HasSubstr("Leave out %r")));
    request.target = "file.%p";
    EXPECT_THAT(one_host.refusal(request), HasSubstr("Leave out %p"));
    request.target = "file.%h";
    EXPECT_NO_THROW(one_host.plan(request));
    EXPECT_THAT(two_hosts.refusal(request), HasSubstr("Leave out %h"));
  }
}

TEST(IoPlanNames, OfGroupsAreNumbered) {
  const Ranks ranks(4, 2);
  IoRequest request = of(Movement::n_m);
  request.target = "file";
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("2 files"), HasSubstr("number of the file")));
  request.target = "file.%r";
  EXPECT_THAT(ranks.plan(request).templates, Each("file.%r"));
  request.target = "file.%r.%p";
  EXPECT_THAT(ranks.refusal(request), HasSubstr("Leave out %p"));
  request.target = "file";
  request.num_files = 1;
  EXPECT_NO_THROW(ranks.plan(request));
}

TEST(IoPlanNames, HaveAForm) {
  const Ranks ranks(2, 2);
  IoRequest request;
  for (const char* name : {"file.%r.%x", "file.%r%", "dir.%r/"}) {
    request.target = name;
    EXPECT_THAT(ranks.refusal(request), HasSubstr("--target cannot be '" + std::string(name) + "'"));
  }
  request.target = "file.%r.%p";
  EXPECT_NO_THROW(ranks.plan(request));
  request.operations = IoOperations::read;
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("%p"), HasSubstr("--op read")));
}

TEST(IoPlanNames, ComeFromAList) {
  Ranks ranks(3, 3);
  IoRequest request;
  request.targets_file = "list";
  ranks.names.targets = {"a", "b", "c", "d"};
  EXPECT_THAT(ranks.plan(request).templates, ElementsAre("a", "b", "c"));
  ranks.names.targets = {"a", "b"};
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("--targets list is too short"), HasSubstr("2 names")));
  ranks.names.targets = {"a", "b", "a"};
  EXPECT_THAT(ranks.refusal(request), AllOf(HasSubstr("--targets"), HasSubstr("'a'"), HasSubstr("twice")));
  request.movement = Movement::n_1;
  ranks.names.targets = {"a.%r"};
  EXPECT_THAT(ranks.refusal(request), HasSubstr("Leave out %r"));
}

TEST(IoPlanEstimate, AddsUpFilesAndMessages) {
  const Ranks ranks(6, 2);
  IoRequest request = of(Movement::n_n);
  request.num_objects = 10;
  EXPECT_EQ(ranks.plan(request).estimate.file_bytes, 60 * mebi);
  EXPECT_EQ(ranks.plan(request).estimate.funnel_bytes, 0U);
  request.preallocate_bytes = 20 * mebi;
  EXPECT_EQ(ranks.plan(request).estimate.file_bytes, 120 * mebi);
  request = funnel(Movement::n_m_m, {2});
  request.num_objects = 10;
  EXPECT_EQ(ranks.plan(request).estimate.file_bytes, 60 * mebi);
  EXPECT_EQ(ranks.plan(request).estimate.funnel_bytes, 40 * mebi);
  request.self_send = schedule::SelfSend::no;
  EXPECT_EQ(ranks.plan(request).estimate.file_bytes, 40 * mebi);
  request.no_file = true;
  EXPECT_EQ(ranks.plan(request).estimate.file_bytes, 0U);
}

TEST(IoPlanEstimate, CountsTheBuffersOfTheFullestHost) {
  const Ranks ranks(6, 2);
  IoRequest request = funnel(Movement::n_m_m, {1});
  request.num_ahead = 3;
  request.buffer_size_bytes = 8 * mebi;
  const Estimate estimate = ranks.plan(request).estimate;
  EXPECT_EQ(estimate.io_rank_bytes, estimate.own_bytes - 4 * mebi + 4 * 8 * mebi);
  EXPECT_EQ(estimate.host_bytes, static_cast<double>(estimate.own_bytes + estimate.io_rank_bytes));
  EXPECT_GE(estimate.own_bytes, 4 * mebi);

  const Plan plan = ranks.plan(request);
  EXPECT_NO_THROW(check_memory(plan, 64 * mebi));
  const Error error = test::error_of([&] { check_memory(plan, 32 * mebi); });
  EXPECT_EQ(error.status(), ExitStatus::something_missing);
  EXPECT_THAT(error.what(), HasSubstr("--buffer-size"));
}

}  // namespace
}  // namespace leadline::bench::io
