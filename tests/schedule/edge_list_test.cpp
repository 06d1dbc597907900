// SPDX-License-Identifier: Apache-2.0
// Names of topologies and lists of edges as people write them, and what they read where they wrote something wrong.
#include "schedule/edge_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"

namespace leadline::schedule {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TopologySpec one(const std::string& word, ChannelMode mode = ChannelMode::both_ways) {
  const auto specs = parse_topology("--pattern", word, mode, 8);
  EXPECT_THAT(specs, SizeIs(1)) << word;
  EXPECT_EQ(specs.at(0).name, word);
  return specs.at(0);
}

std::string complaint(const std::string& word) {
  try {
    parse_topology("--pattern", word, ChannelMode::both_ways, 8);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return {};
}

std::string edges_complaint(const std::string& text, int num_ranks = 4) {
  try {
    parse_edges("my.edges", text, num_ranks);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return {};
}

TEST(parse_topology, knows_the_six_old_names_with_their_modes) {
  for (const ChannelMode mode : {ChannelMode::one_way, ChannelMode::phased}) {
    EXPECT_EQ(one("star", mode).mode, ChannelMode::answered);
    EXPECT_EQ(one("complete", mode).mode, ChannelMode::answered);
    EXPECT_EQ(one("chaos", mode).mode, ChannelMode::answered);
    EXPECT_EQ(one("ring", mode).mode, ChannelMode::phased);
    for (const char* word : {"star2", "complete2", "chaos2", "ring2"}) {
      EXPECT_EQ(one(word, mode).mode, ChannelMode::both_ways) << word;
    }
  }
  EXPECT_EQ(one("star2").shape, Shape::star);
  EXPECT_EQ(one("complete2").shape, Shape::complete);
  EXPECT_EQ(one("chaos").shape, Shape::complete);
  EXPECT_EQ(one("chaos2").shape, Shape::complete);
  EXPECT_EQ(one("ring2").shape, Shape::ring);
}

TEST(parse_topology, takes_the_mode_of_those_that_have_none) {
  for (const char* word : {"torus-2d", "torus-3d", "torus:4x2", "hypercube", "tree", "halves"}) {
    for (const ChannelMode mode :
         {ChannelMode::answered, ChannelMode::phased, ChannelMode::both_ways, ChannelMode::one_way}) {
      EXPECT_EQ(one(word, mode).mode, mode) << word;
    }
    EXPECT_TRUE(takes_mode(word)) << word;
  }
  for (const char* word : {"star", "star2", "star:3", "star-each", "star2-each", "complete", "complete2", "chaos",
                           "chaos2", "ring", "ring2", "incast", "outcast:2", "no-such-word"}) {
    EXPECT_FALSE(takes_mode(word)) << word;
  }
}

TEST(parse_topology, reads_what_stands_behind_the_colon) {
  EXPECT_EQ(one("star").centre, 0);
  EXPECT_EQ(one("star:3").centre, 3);
  EXPECT_EQ(one("star2:7").centre, 7);
  EXPECT_EQ(one("star2:7").mode, ChannelMode::both_ways);
  EXPECT_THAT(one("torus:4x4x2").extents, ElementsAre(4, 4, 2));
  EXPECT_THAT(one("torus:8").extents, ElementsAre(8));
  EXPECT_THAT(one("torus-2d").extents, ElementsAre(0, 0));
  EXPECT_THAT(one("torus-3d").extents, ElementsAre(0, 0, 0));
  EXPECT_EQ(one("incast").num_hot, 1);
  EXPECT_EQ(one("incast:3").num_hot, 3);
  EXPECT_EQ(one("incast:3").shape, Shape::incast);
  EXPECT_EQ(one("incast:3", ChannelMode::both_ways).mode, ChannelMode::one_way);
  EXPECT_EQ(one("outcast:2").num_hot, 2);
  EXPECT_EQ(one("outcast:2").shape, Shape::outcast);
}

TEST(parse_topology, makes_every_rank_a_centre) {
  const auto specs = parse_topology("--pattern", "star2-each", ChannelMode::phased, 3);
  ASSERT_THAT(specs, SizeIs(3));
  for (int rank = 0; rank < 3; ++rank) {
    const TopologySpec& spec = specs[static_cast<std::size_t>(rank)];
    EXPECT_EQ(spec.name, "star2:" + std::to_string(rank));
    EXPECT_EQ(spec.centre, rank);
    EXPECT_EQ(spec.shape, Shape::star);
    EXPECT_EQ(spec.mode, ChannelMode::both_ways);
  }
  EXPECT_EQ(parse_topology("--pattern", "star-each", ChannelMode::phased, 2).at(1).mode, ChannelMode::answered);
}

TEST(parse_topology, lists_what_it_knows) {
  for (const char* word : {"mesh", "Star", "", "tree2", "ring3", ":", "-each", "torus-4d", "star -each"}) {
    EXPECT_THAT(complaint(word), AllOf(HasSubstr("--pattern cannot be '" + std::string(word) + "'"),
                                       HasSubstr("there is no such topology"), HasSubstr("star2:RANK"),
                                       HasSubstr("hypercube"), HasSubstr("outcast:K")))
        << word;
  }
}

TEST(parse_topology, names_the_part_that_is_wrong) {
  EXPECT_THAT(complaint("star:x"), HasSubstr("'x' is no rank"));
  EXPECT_THAT(complaint("star:-1"), HasSubstr("'-1' is no rank"));
  EXPECT_THAT(complaint("star:"), HasSubstr("'' is no rank"));
  EXPECT_THAT(complaint("star:99999999999"), HasSubstr("'99999999999' is no rank"));
  EXPECT_THAT(complaint("star-each:2"), HasSubstr("every rank"));
  EXPECT_THAT(complaint("ring-each"), HasSubstr("only a star"));
  EXPECT_THAT(complaint("torus"), HasSubstr("no extents"));
  EXPECT_THAT(complaint("torus:4x"), HasSubstr("'' is no extent"));
  EXPECT_THAT(complaint("torus:4x0"), HasSubstr("'0' is no extent"));
  EXPECT_THAT(complaint("torus:4*2"), HasSubstr("'4*2' is no extent"));
  EXPECT_THAT(complaint("torus-2d:4"), HasSubstr("nothing may follow 'torus-2d'"));
  EXPECT_THAT(complaint("complete:3"), HasSubstr("nothing may follow 'complete'"));
  EXPECT_THAT(complaint("incast:0"), HasSubstr("'0' is no number of hot ranks"));
  EXPECT_THAT(complaint("outcast:2x"), HasSubstr("'2x' is no number of hot ranks"));
}

TEST(parse_edges, reads_two_ranks_a_line) {
  EXPECT_THAT(parse_edges("my.edges", "0 1\n 2\t3 \n3,0\n1 , 2\r\n", 4),
              ElementsAre(Edge{0, 1}, Edge{2, 3}, Edge{3, 0}, Edge{1, 2}));
  EXPECT_THAT(parse_edges("my.edges", "# who with whom\n\n   \n0 1 # the first\n#2 3\n2 1", 4),
              ElementsAre(Edge{0, 1}, Edge{2, 1}));
}

TEST(parse_edges, names_file_line_and_token) {
  EXPECT_THAT(edges_complaint("0 1\n\n1 x\n"), AllOf(HasSubstr("my.edges line 3 "), HasSubstr("'x' is no rank")));
  EXPECT_THAT(edges_complaint("0 1.5"), AllOf(HasSubstr("my.edges line 1 "), HasSubstr("'1.5' is no rank")));
  EXPECT_THAT(edges_complaint("0 -1"), HasSubstr("'-1' is no rank"));
  EXPECT_THAT(edges_complaint("0,"), HasSubstr("'' is no rank"));
  EXPECT_THAT(edges_complaint("0,1,2"), HasSubstr("'1,2' is no rank"));
  EXPECT_THAT(edges_complaint("0 1\n2\n"), AllOf(HasSubstr("line 2"), HasSubstr("'2' is a single rank")));
  EXPECT_THAT(edges_complaint("0 1 2"), AllOf(HasSubstr("line 1"), HasSubstr("'2' is one too many")));
  EXPECT_THAT(edges_complaint("0 1\n1 4"), AllOf(HasSubstr("line 2"), HasSubstr("no rank 4"), HasSubstr("0 to 3")));
  EXPECT_THAT(edges_complaint("#\n2 2"), AllOf(HasSubstr("line 2"), HasSubstr("rank 2 with itself")));
}

TEST(parse_edges, refuses_an_edge_that_stands_twice_in_either_direction) {
  EXPECT_THAT(edges_complaint("0 1\n2 3\n0 1"), AllOf(HasSubstr("line 3"), HasSubstr("'0 1'"), HasSubstr("line 1")));
  EXPECT_THAT(edges_complaint("0 1\n2 3\n3,2"), AllOf(HasSubstr("line 3"), HasSubstr("'3 2'"), HasSubstr("line 2")));
}

TEST(parse_edges, refuses_a_file_without_any) {
  for (const char* text : {"", "\n\n", "# nothing", "  # 0 1\n"}) {
    EXPECT_THAT(edges_complaint(text), HasSubstr("my.edges has no edge in it")) << text;
  }
}

TEST(names, are_the_words_of_options_and_files) {
  EXPECT_STREQ(name_of(ChannelMode::answered), "answered");
  EXPECT_STREQ(name_of(ChannelMode::phased), "phased");
  EXPECT_STREQ(name_of(ChannelMode::both_ways), "both-ways");
  EXPECT_STREQ(name_of(ChannelMode::one_way), "one-way");
  EXPECT_STREQ(name_of(Shape::edges), "edges");
  EXPECT_EQ(num_ways(ChannelMode::one_way), 1);
  EXPECT_EQ(num_ways(ChannelMode::answered), 2);
}

}  // namespace
}  // namespace leadline::schedule
