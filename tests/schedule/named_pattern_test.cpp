// SPDX-License-Identifier: Apache-2.0
// Named patterns of all small sizes, the words for them, what is refused; and the samples that the analysis reads, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "schedule/pattern.hpp"

namespace leadline::schedule::named_pattern_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<std::int32_t> ranks_below(int num_ranks) {
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(num_ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::vector<std::int32_t> named(const std::string& word, int num_ranks) {
  const PatternSpec spec = parse_pattern("--pattern", word, num_ranks).at(0);
  return named_pattern(spec, num_ranks, ranks_below(num_ranks)).send_to;
}

std::string complaint(const std::string& word, int num_participants) {
  try {
    parse_pattern("--pattern", word, num_participants);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return {};
}

/// Nobody receives twice, nobody from itself, and who sends also receives.
void expect_permutation(const std::vector<std::int32_t>& send_to) {
  std::vector<bool> receives(send_to.size());
  for (std::size_t rank = 0; rank < send_to.size(); ++rank) {
    if (send_to[rank] == no_rank) continue;
    const auto to = static_cast<std::size_t>(send_to[rank]);
    ASSERT_LT(to, send_to.size());
    ASSERT_NE(to, rank);
    EXPECT_FALSE(receives[to]);
    receives[to] = true;
  }
  for (std::size_t rank = 0; rank < send_to.size(); ++rank) EXPECT_EQ(receives[rank], send_to[rank] != no_rank);
}

void expect_matching(const std::vector<std::int32_t>& send_to) {
  expect_permutation(send_to);
  for (std::size_t rank = 0; rank < send_to.size(); ++rank) {
    if (send_to[rank] == no_rank) continue;
    EXPECT_EQ(send_to[static_cast<std::size_t>(send_to[rank])], static_cast<std::int32_t>(rank));
  }
}

/// Who rests, ascending.
std::vector<int> resting(const std::vector<std::int32_t>& send_to) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < send_to.size(); ++rank) {
    if (send_to[rank] == no_rank) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

TEST(named_pattern, matchings_of_all_sizes_rest_one_of_an_odd_number) {
  for (int num = 2; num <= 33; ++num) {
    SCOPED_TRACE(num);
    const bool is_odd = num % 2 == 1;
    for (const auto& [word, rests] : {std::pair("halves", num - 1), {"reversal", num / 2}, {"neighbour", num - 1}}) {
      SCOPED_TRACE(word);
      const auto send_to = named(word, num);
      expect_matching(send_to);
      EXPECT_EQ(resting(send_to), is_odd ? std::vector{rests} : std::vector<int>{});
    }
    for (int rank = 0; rank < num / 2; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      EXPECT_EQ(named("halves", num)[at], rank + num / 2);
      EXPECT_EQ(named("reversal", num)[at], num - 1 - rank);
      EXPECT_EQ(named("neighbour", num)[2 * at], 2 * rank + 1);
    }
  }
}

TEST(named_pattern, bit_reversal_rests_palindromes_and_those_above_the_power_of_two) {
  EXPECT_THAT(named("bit-reversal", 8), ElementsAre(-1, 4, -1, 6, 1, -1, 3, -1));
  EXPECT_THAT(named("bit-reversal", 11), ElementsAre(-1, 4, -1, 6, 1, -1, 3, -1, -1, -1, -1));
  for (int num = 4; num <= 33; ++num) {
    SCOPED_TRACE(num);
    const auto send_to = named("bit-reversal", num);
    expect_matching(send_to);
    EXPECT_EQ(send_to[1], num < 8 ? 2 : num < 16 ? 4 : num < 32 ? 8 : 16);
  }
}

TEST(named_pattern, transpose_takes_the_matrix_nearest_to_a_square) {
  EXPECT_THAT(named("transpose", 4), ElementsAre(-1, 2, 1, -1));
  EXPECT_THAT(named("transpose", 9), ElementsAre(-1, 3, 6, 1, -1, 7, 2, 5, -1));
  // 0 1 2    0 3
  // 3 4 5 -> 1 4
  //          2 5
  EXPECT_THAT(named("transpose", 6), ElementsAre(-1, 2, 4, 1, 3, -1));
  for (int num = 2; num <= 33; ++num) {
    SCOPED_TRACE(num);
    int rows = 1;
    while ((rows + 1) * (rows + 1) <= num) ++rows;
    while (num % rows != 0) --rows;
    if (rows == 1) {
      EXPECT_THAT(complaint("transpose", num), HasSubstr("is prime"));
      continue;
    }
    const auto send_to = named("transpose", num);
    if (rows * rows == num) {
      expect_matching(send_to);
    } else {
      expect_permutation(send_to);
    }
    for (int rank = 0; rank < num; ++rank) {
      const int columns = num / rows, to = rank % columns * rows + rank / columns;
      EXPECT_EQ(send_to[static_cast<std::size_t>(rank)], to == rank ? no_rank : to);
    }
  }
}

TEST(named_pattern, shifts_of_all_distances) {
  for (int num = 2; num <= 33; ++num) {
    const auto specs = parse_pattern("--pattern", "shift-each", num);
    ASSERT_THAT(specs, SizeIs(num - 1));
    for (int distance = 1; distance < num; ++distance) {
      const PatternSpec& spec = specs[static_cast<std::size_t>(distance - 1)];
      EXPECT_EQ(spec.name, "shift:" + std::to_string(distance));
      const auto send_to = named_pattern(spec, num, ranks_below(num)).send_to;
      expect_permutation(send_to);
      for (int rank = 0; rank < num; ++rank) {
        EXPECT_EQ(send_to[static_cast<std::size_t>(rank)], (rank + distance) % num);
      }
      EXPECT_EQ(send_to, named(spec.name, num));
    }
  }
}

TEST(named_pattern, is_a_matching_where_all_receive_from_whom_they_send_to) {
  const auto is_matching = [](std::vector<std::int32_t> send_to) { return Pattern{std::move(send_to)}.is_matching(); };
  EXPECT_TRUE(is_matching({}));
  EXPECT_TRUE(is_matching({-1, 2, 1}));
  EXPECT_TRUE(is_matching(named("shift:4", 8)));
  EXPECT_FALSE(is_matching(named("shift:4", 9)));
  EXPECT_FALSE(is_matching({1, 0, 3, 4, 2}));
  EXPECT_FALSE(is_matching({1, -1}));
}

TEST(named_pattern, tornado_goes_nearly_half_the_groups_further) {
  for (int num = 2; num <= 33; ++num) {
    for (int group = 1; group <= num; ++group) {
      const std::string word = "tornado:" + std::to_string(group);
      if (num % group != 0 || num == group) {
        EXPECT_THAT(complaint(word, num), HasSubstr("cannot be split"));
        continue;
      }
      const int num_groups = num / group;
      const int further = num_groups == 2 ? 1 : (num_groups - 1) / 2;
      const auto send_to = named(word, num);
      expect_permutation(send_to);
      for (int rank = 0; rank < num; ++rank) {
        const int to_group = send_to[static_cast<std::size_t>(rank)] / group;
        EXPECT_EQ(to_group, (rank / group + further) % num_groups);
        EXPECT_EQ(send_to[static_cast<std::size_t>(rank)] % group, rank % group);
      }
    }
  }
}

TEST(named_pattern, counts_seats_of_participants_and_lets_others_rest) {
  const std::vector<std::int32_t> participants{1, 4, 5, 9};
  const PatternSpec shift = parse_pattern("--pattern", "shift:1", 4).at(0);
  EXPECT_THAT(named_pattern(shift, 11, participants).send_to, ElementsAre(-1, 4, -1, -1, 5, 9, -1, -1, -1, 1, -1));
}

TEST(named_pattern, without_anybody_to_send_is_refused) {
  const PatternSpec spec{"bit-reversal", NamedPattern::bit_reversal};
  try {
    named_pattern(spec, 3, ranks_below(3));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_STREQ(
        error.what(),
        "there is no pattern bit-reversal (with 3 participants no rank would send). Let at least 4 ranks take part");
  }
}

TEST(parse_pattern, knows_its_words) {
  for (const char* word : {"halves", "reversal", "neighbour", "bit-reversal", "transpose", "shift:3", "tornado:4"}) {
    for (const int num_participants : {1, 16}) {
      const auto specs = parse_pattern("--pattern", word, num_participants);
      ASSERT_THAT(specs, SizeIs(1));
      EXPECT_EQ(specs[0].name, word);
    }
  }
  EXPECT_EQ(parse_pattern("--pattern", "shift:3", 1).at(0).argument, 3);
  EXPECT_EQ(parse_pattern("--pattern", "shift:03", 8).at(0).name, "shift:3") << "one pattern has one name";
  ASSERT_THAT(parse_pattern("--pattern", "shift-each", 1), SizeIs(1));
  EXPECT_EQ(parse_pattern("--pattern", "shift-each", 1).at(0).name, "shift-each");
}

TEST(parse_pattern, says_what_is_wrong_with_a_word) {
  EXPECT_THAT(complaint("half", 8), AllOf(HasSubstr("--pattern cannot be 'half' (there is no such pattern)"),
                                          HasSubstr("bit-reversal"), HasSubstr("random")));
  for (const char* word : {"", ":", ":3", "shift-each:2", "Halves", "halves ", "shift-3"}) {
    for (const int num_participants : {1, 8})
      EXPECT_THAT(complaint(word, num_participants), HasSubstr("no such pattern"));
  }
  EXPECT_THAT(complaint("halves:2", 8), HasSubstr("nothing may follow 'halves'"));
  EXPECT_THAT(complaint("transpose:", 8), HasSubstr("nothing may follow 'transpose'"));
  for (const char* word : {"shift", "shift:", "shift:0", "shift:-1", "shift:1.5", "shift:2x", "shift: 2",
                           "shift:99999999999", "shift:1:2", "shift:+1"}) {
    EXPECT_THAT(complaint(word, 8), AllOf(HasSubstr("is no distance"), HasSubstr("Write for example shift:1"))) << word;
  }
  EXPECT_THAT(complaint("tornado", 8), AllOf(HasSubstr("participants in a group"), HasSubstr("tornado:16")));
  EXPECT_THAT(complaint("tornado:0", 1), HasSubstr("participants in a group"));
}

TEST(parse_pattern, says_what_so_many_participants_cannot_have) {
  EXPECT_THAT(complaint("shift:8", 8),
              AllOf(HasSubstr("8 participants have no shift by 8"), HasSubstr("Choose 1 to 7")));
  EXPECT_EQ(complaint("shift:8", 1), "");
  EXPECT_THAT(complaint("transpose", 7), HasSubstr("since 7 is prime"));
  EXPECT_THAT(complaint("bit-reversal", 3), HasSubstr("with 3 participants no rank would send"));
  EXPECT_THAT(complaint("tornado:5", 18),
              AllOf(HasSubstr("18 participants cannot be split into at least 2 full groups of 5"),
                    HasSubstr("for example tornado:3")));
  EXPECT_THAT(complaint("tornado:18", 18), HasSubstr("for example tornado:9"));
  EXPECT_THAT(complaint("tornado:2000000000", 7), HasSubstr("for example tornado:1"));
}

Pattern computed(const nlohmann::json& sample, const Participants& participants) {
  const std::vector<std::int32_t> ranks = participants_of(participants);
  if (sample.at("kind") == "named") {
    const auto specs = parse_pattern("--pattern", sample.at("name"), static_cast<int>(ranks.size()));
    return named_pattern(specs.at(0), participants.num_ranks, ranks);
  }
  const auto seed = sample.at("seed").get<std::uint64_t>();
  Pattern pattern = random_pattern(participants, ranks, seed, sample.at("index"));
  if (sample.at("kind") == "random") return pattern;
  return with_swapped_partners(pattern, participants, sample.at("share"), seed, sample.at("step"));
}

TEST(pattern_samples, are_what_is_computed) {
  std::ifstream file(SAMPLES "/patterns.json");
  const auto samples = nlohmann::json::parse(file);
  std::set<std::string> kinds;
  for (const auto& sample : samples) {
    SCOPED_TRACE(sample.dump());
    const auto hosts = sample.at("host_of").get<std::vector<std::uint32_t>>();
    const Participants participants{sample.at("num_ranks"), hosts, sample.at("per_host"), sample.at("within_hosts")};
    EXPECT_EQ(computed(sample, participants).send_to, sample.at("send_to").get<std::vector<std::int32_t>>());
    kinds.insert(sample.at("kind"));
  }
  EXPECT_THAT(kinds, ElementsAre("named", "random", "swapped"));
}

}  // namespace
}  // namespace leadline::schedule::named_pattern_test
