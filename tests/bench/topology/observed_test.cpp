// SPDX-License-Identifier: Apache-2.0
// Which topologies and which of their messages are judged.
#include "bench/topology/observed.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "bench/topology/result_fixture.hpp"
#include "output/diagnosis_text.hpp"

namespace leadline::test::topology_observed_test {
namespace {

using bench::topology::JudgedMessages;
using bench::topology::TopologyRequest;
using bench::topology::why_untested;
using schedule::ChannelMode;
using schedule::Shape;
using testing::HasSubstr;

TEST(JudgedMessages, AreAllOfFew) {
  const JudgedMessages judged(JudgedMessages::most);
  for (std::uint32_t rank = 1; rank < 1000; ++rank) EXPECT_TRUE(judged.has(rank - 1, rank));
}

TEST(JudgedMessages, AreSoManyOfManyAndBothDirectionsOfAPair) {
  constexpr std::uint32_t num_ranks = 4096;
  const JudgedMessages judged(std::uint64_t{num_ranks} * (num_ranks - 1));
  std::uint64_t num = 0;
  std::vector<std::uint32_t> of_rank(num_ranks);
  for (std::uint32_t from = 0; from < num_ranks; ++from) {
    for (std::uint32_t to = 0; to < num_ranks; ++to) {
      if (from == to || !judged.has(from, to)) continue;
      ++num;
      ++of_rank[to];
      EXPECT_TRUE(judged.has(to, from));
    }
  }
  EXPECT_NEAR(static_cast<double>(num), static_cast<double>(JudgedMessages::most), 0.02 * JudgedMessages::most);
  EXPECT_THAT(of_rank, testing::Each(testing::AllOf(testing::Gt(150U), testing::Lt(370U)))) << "256 on average";
}

std::string why(Shape shape, ChannelMode mode, const TopologyRequest& request = {}) {
  return why_untested(request, {.name = "any", .shape = shape, .mode = mode});
}

TEST(WhyUntested, IsKnownBeforeTheRun) {
  EXPECT_EQ(why(Shape::complete, ChannelMode::both_ways), "");
  EXPECT_EQ(why(Shape::torus, ChannelMode::both_ways), "");
  EXPECT_EQ(why(Shape::edges, ChannelMode::both_ways), "");
  for (const ChannelMode mode : {ChannelMode::answered, ChannelMode::phased, ChannelMode::one_way}) {
    EXPECT_THAT(why(Shape::complete, mode), HasSubstr("both ways at once"));
  }
  for (const Shape shape : {Shape::star, Shape::ring, Shape::tree, Shape::halves, Shape::incast, Shape::outcast}) {
    EXPECT_THAT(why(shape, ChannelMode::both_ways), HasSubstr("fewer than 3 partners"));
  }
  TopologyRequest limited, untraced;
  limited.max_outstanding = 2;
  untraced.num_traced = 0;
  EXPECT_THAT(why(Shape::complete, ChannelMode::both_ways, limited), HasSubstr("--max-outstanding"));
  EXPECT_THAT(why(Shape::complete, ChannelMode::both_ways, untraced), HasSubstr("--traced 0"));
}

TEST(WhyUntested, SaysOfAFileWhatTheRunSaid) {
  bench::topology::TopologyResult result = topology_so_far(topologies_of_5());
  result.request.num_traced = 0;
  result.topologies.push_back({"complete2", Shape::complete, ChannelMode::both_ways, 10, 4, {}});
  const bench::topology::Header header = header_of(result);
  for (std::size_t topology = 0; topology < result.topologies.size(); ++topology) {
    const auto& facts = result.topologies[topology];
    EXPECT_EQ(why_untested(header, topology), why(facts.shape, facts.mode, result.request));
    EXPECT_NE(why_untested(header, topology), "");
  }
}

DiagnosedSlice slice(const char* pattern, const char* untested) {
  DiagnosedSlice one;
  one.message_size_bytes = 1024;
  one.pattern = pattern;
  one.diagnosis.num_measured = one.diagnosis.num_pairs = 12;
  one.diagnosis.untested = untested;
  return one;
}

TEST(DiagnosesText, SaysInALineWhatCouldNotBeTested) {
  const std::string text =
      output::diagnoses_text({slice("star", "it waits"), slice("star", "it waits"), slice("complete2", ""),
                              slice("ring", "it waits"), slice("ring2", "few partners")});
  EXPECT_THAT(text, testing::StartsWith("star, ring could not be tested: it waits\n"
                                        "ring2 could not be tested: few partners\n\n"
                                        "message size 1 KiB, complete2\nverdict: no fault found"));
}

TEST(DiagnosesText, FindsNoFaultOnlyWhereSomethingWasTested) {
  EXPECT_EQ(output::diagnoses_text({slice("star2", "few partners")}), "verdict: could not be tested: few partners\n");
  EXPECT_EQ(output::diagnoses_text({slice("star2", "few partners"), slice("ring2", "few partners")}),
            "star2, ring2 could not be tested: few partners\n");
}

TEST(DiagnosesText, TellsOfASizeThatAloneCouldNotBeTested) {
  EXPECT_THAT(output::diagnoses_text({slice("random", "few partners"), slice("random", "")}),
              testing::AllOf(HasSubstr("random\nverdict: could not be tested: few partners\n"),
                             HasSubstr("random\nverdict: no fault found")));
}

}  // namespace
}  // namespace leadline::test::topology_observed_test
