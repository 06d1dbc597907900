// SPDX-License-Identifier: Apache-2.0
// Which ranks of two results are the same, which sizes both have, and what is said of how they differ otherwise.
#include "bench/link/matched_results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/error.hpp"

namespace leadline::bench::link {
namespace {

using diagnosis::Compared;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// ns of a pair of ranks; 0 = not measured.
using Times = std::function<double(std::size_t repeat, std::int64_t from, std::size_t to)>;

double by_rank(std::size_t, std::int64_t from, std::size_t to) {
  return 1000.0 + 10.0 * static_cast<double>(from) + static_cast<double>(to);
}

/// A result of these hosts, one for each rank, without a file.
class MadeUp final : public ResultReader {
 public:
  MadeUp(std::string path, std::vector<std::string> host_of, Times times = by_rank)
      : path_(std::move(path)), host_of_(std::move(host_of)), times_(std::move(times)) {
    header_.num_ranks = static_cast<std::int64_t>(host_of_.size());
    header_.message_sizes_bytes = {8, 1024};
    header_.repeats.resize(1);
    header_.complete = true;
    header_.provenance = {{"direction", "semidirectional"}, {"transport", "tcp"}, {"transport_library", "Linux 6"}};
    header_.options = {{"messages", "100"}, {"warmup", "10"}};
  }

  Header& changed() { return header_; }
  struct Stand {
    std::string cpus;
    std::int32_t numa_node = -1;
    std::string device;
  };
  /// By rank.
  void stand_on(std::vector<Stand> stands) { stands_ = std::move(stands); }
  const std::string& path() const override { return path_; }
  const Header& header() const override { return header_; }
  PairRow row(std::size_t repeat, std::size_t, std::int64_t rank) override {
    PairRow row(host_of_.size());
    for (std::size_t to = 0; to < host_of_.size(); ++to) {
      PairRecord record;
      record.time_ns_median = static_cast<std::size_t>(rank) == to ? 0 : times_(repeat, rank, to);
      row.set(to, record);
    }
    return row;
  }
  std::vector<double> all_to_all_ns(std::size_t, std::size_t, std::int64_t) override { return {}; }
  std::vector<std::int32_t> rounds(std::size_t, std::int64_t) override { return {}; }
  std::vector<std::int32_t> ranks_on_seat(std::int64_t) override { return {}; }
  RankPlacement placement(std::int64_t rank) override {
    RankPlacement placement;
    placement.host = host_of_[static_cast<std::size_t>(rank)];
    placement.numa_node = -1;
    if (stands_.empty()) return placement;
    const Stand& stand = stands_[static_cast<std::size_t>(rank)];
    placement.cpus = stand.cpus;
    placement.numa_node = stand.numa_node;
    placement.device = stand.device;
    return placement;
  }
  std::array<std::int32_t, 4> location(std::int64_t) override { return {}; }

 private:
  std::string path_;
  std::vector<std::string> host_of_;
  Times times_;
  std::vector<Stand> stands_;
  Header header_;
};

/// e to the values of a row, NaN as 0.
std::vector<double> row_of(MatchedResults& matched, Compared compared, std::uint32_t from) {
  const auto num = static_cast<std::uint32_t>(diagnosis::num_ranks(matched.layout()));
  diagnosis::DenseRows rows(num, 1, diagnosis::LogCode::of_ratios);
  matched.load(compared, 1024, rows);
  std::vector<double> values;
  rows.visit([&](std::size_t, const diagnosis::Row& row) {
    if (row.from != from) return;
    for (const float value : row.values) values.push_back(std::isnan(value) ? 0 : std::exp(static_cast<double>(value)));
  });
  return values;
}

testing::Matcher<double> about(double value) { return testing::DoubleNear(value, 0.001 * value); }

Error refusal_of(MadeUp& before, MadeUp& after) {
  try {
    const MatchedResults matched({&before}, after);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_THAT(error.problem(), AllOf(HasSubstr(before.path()), HasSubstr(after.path())));
    EXPECT_FALSE(error.hint().empty());
    return error;
  }
  ADD_FAILURE() << "they can be compared";
  return {ExitStatus::ok, ""};
}

TEST(matched_results, of_two_alike_are_all_ranks) {
  MadeUp before("a.h5", {"n0", "n0", "n1", "n1"}), after("b.h5", {"n0", "n0", "n1", "n1"});
  MatchedResults matched({&before}, after);
  EXPECT_THAT(matched.layout().host_of, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(matched.layout().host_names, ElementsAre("n0", "n1"));
  EXPECT_THAT(matched.layout().rank_numbers, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(matched.message_sizes_bytes(), ElementsAre(8, 1024));
  EXPECT_THAT(matched.notes(), IsEmpty());
  EXPECT_THAT(row_of(matched, Compared::slowdown, 1), ElementsAre(about(1), 0, about(1), about(1)));
  EXPECT_THAT(row_of(matched, Compared::before, 1), ElementsAre(about(1010), 0, about(1012), about(1013)));
}

TEST(matched_results, find_hosts_that_stand_in_another_order) {
  MadeUp before("a.h5", {"n0", "n0", "n1", "n1"}), after("b.h5", {"n1", "n0", "n1", "n0"});
  MatchedResults matched({&before}, after);
  EXPECT_THAT(matched.layout().host_names, ElementsAre("n1", "n0"));
  EXPECT_THAT(matched.layout().host_of, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(matched.notes(), IsEmpty());
  // Ranks of before in the order of after: 2, 0, 3, 1.
  EXPECT_THAT(row_of(matched, Compared::before, 0), ElementsAre(0, about(1020), about(1023), about(1021)));
  EXPECT_THAT(row_of(matched, Compared::after, 0), ElementsAre(0, about(1001), about(1002), about(1003)));
}

TEST(matched_results, know_a_host_by_its_short_name) {
  MadeUp before("a.h5", {"n0.cluster.org", "n1.cluster.org"}), after("b.h5", {"n1", "n0"});
  MatchedResults matched({&before}, after);
  EXPECT_THAT(matched.layout().host_names, ElementsAre("n1", "n0"));
  EXPECT_THAT(matched.notes(), IsEmpty());
  EXPECT_THAT(row_of(matched, Compared::before, 0), ElementsAre(0, about(1010)));
  MatchedResults back({&after}, before);
  EXPECT_THAT(back.notes(), IsEmpty());
}

TEST(matched_results, take_no_host_for_another_of_the_same_short_name) {
  MadeUp before("a.h5", {"10.0.0.1", "10.0.0.2", "10.0.0.3"}), after("b.h5", {"10.0.0.2", "10.0.0.9", "10.0.0.3"});
  MatchedResults matched({&before}, after);
  EXPECT_THAT(matched.layout().host_names, ElementsAre("10.0.0.2", "10.0.0.3"));
  MadeUp two_alike("c.h5", {"n0.east", "n0.west", "n1"}), one("d.h5", {"n0", "n1", "n2"});
  EXPECT_THAT(refusal_of(two_alike, one).why(), HasSubstr("no two ranks"));
}

TEST(matched_results, keep_the_hosts_and_ranks_that_both_have) {
  MadeUp before("a.h5", {"n0", "n0", "n1", "n1", "n2"}), after("b.h5", {"n3", "n0", "n0", "n2"});
  MatchedResults matched({&before}, after);
  EXPECT_THAT(matched.layout().host_names, ElementsAre("n0", "n2"));
  EXPECT_THAT(matched.layout().host_of, ElementsAre(0, 0, 1));
  EXPECT_THAT(matched.layout().rank_numbers, ElementsAre(1, 2, 3)) << "as after has them";
  EXPECT_THAT(matched.layout().host_numbers, ElementsAre(1, 2));
  EXPECT_THAT(matched.notes(), ElementsAre("1 host is only in 'a.h5': n1", "1 host is only in 'b.h5': n3",
                                           "3 ranks are compared, of 5 and 4"));
  EXPECT_THAT(row_of(matched, Compared::before, 2), ElementsAre(about(1040), about(1041), 0));
}

TEST(matched_results, name_hosts_in_short) {
  MadeUp before("a.h5", {"n0", "n0"}), after("b.h5", {"n0", "n0", "n1", "n2", "n3", "n4", "n5"});
  MatchedResults matched({&before}, after);
  EXPECT_THAT(matched.notes(), Contains("5 hosts are only in 'b.h5': n[1-5]"));
}

TEST(matched_results, without_a_host_in_common_are_refused) {
  MadeUp before("a.h5", {"n0", "n1", "n1"}), after("b.h5", {"m0", "m1", "m1"});
  EXPECT_THAT(refusal_of(before, after).why(), HasSubstr("no host has the same name in both: n[0-1], and m[0-1]"));
}

TEST(matched_results, match_ranks_by_socket_and_adapter_where_they_are_known) {
  MadeUp before("a.h5", {"n0", "n0", "n0", "n0"}), after("b.h5", {"n0", "n0", "n0", "n0"});
  before.stand_on({{"0", 0, "mlx0"}, {"1", 0, "mlx0"}, {"2", 1, "mlx1"}, {"3", 1, "mlx1"}});
  after.stand_on({{"2", 1, "mlx1"}, {"8", 0, "mlx0"}, {"9", 1, "mlx1"}, {"1", 0, "mlx0"}});
  MatchedResults matched({&before}, after);
  EXPECT_THAT(matched.layout().rank_numbers, ElementsAre(0, 1, 2, 3));
  // The same core first (2, 1), then the same socket (0, 3).
  EXPECT_THAT(row_of(matched, Compared::before, 0), ElementsAre(0, about(1020), about(1023), about(1021)));
  EXPECT_THAT(matched.notes(), IsEmpty());
  after.stand_on({{"4", 2, "mlx0"}, {"1", 0, "mlx0"}, {"5", 0, "mlx1"}, {"3", 1, "mlx1"}});
  MatchedResults moved({&before}, after);
  EXPECT_THAT(moved.layout().rank_numbers, ElementsAre(1, 3));
  EXPECT_THAT(moved.notes(), Contains("2 ranks have no rank at the same socket and adapter in 'a.h5': not compared"));
}

TEST(matched_results, of_fewer_ranks_a_host_have_no_classes) {
  MadeUp before("a.h5", {"n0", "n0", "n1", "n1", "n2", "n2"}), after("b.h5", {"n0", "n1", "n2"});
  MatchedResults matched({&before}, after);
  EXPECT_FALSE(matched.has_same_load());
  EXPECT_THAT(matched.notes(), Contains(HasSubstr("'a.h5' has 2 ranks a host and 'b.h5' 1")));
  for (MadeUp* const one : {&before, &after}) one->changed().options.emplace_back("serial", "true");
  EXPECT_TRUE(MatchedResults({&before}, after).has_same_load()) << "one pair at a time shares nothing";
  before.changed().options.back().second = "false";
  EXPECT_THAT(refusal_of(before, after).why(), HasSubstr("one by one"));
}

TEST(matched_results, leave_out_a_host_that_alone_has_another_number_of_ranks) {
  MadeUp before("a.h5", {"n0", "n0", "n1", "n1", "n2", "n2"}), after("b.h5", {"n0", "n0", "n1", "n2", "n2"});
  MatchedResults matched({&before}, after);
  EXPECT_TRUE(matched.has_same_load());
  EXPECT_THAT(matched.layout().host_names, ElementsAre("n0", "n2"));
  EXPECT_THAT(matched.notes(), Contains(HasSubstr("not compared: n1")));
}

TEST(matched_results, of_several_earlier_runs_are_their_mean_and_each) {
  const auto slower = [](std::size_t, std::int64_t, std::size_t) { return 4000.0; };
  const auto faster = [](std::size_t, std::int64_t, std::size_t) { return 1000.0; };
  MadeUp first("a.h5", {"n0", "n1", "n2"}, slower), second("b.h5", {"n1", "n0"}, faster), after("c.h5", {"n0", "n1"});
  MatchedResults matched({&first, &second}, after);
  EXPECT_EQ(matched.num_before(), 2U);
  EXPECT_THAT(matched.layout().host_names, ElementsAre("n0", "n1"));
  EXPECT_THAT(row_of(matched, Compared::before, 0), ElementsAre(0, about(2000)));
  diagnosis::DenseRows rows(2, 1, diagnosis::LogCode::of_ratios);
  for (const auto& [run, time_ns] : {std::pair{std::size_t{0}, 4000.0}, std::pair{std::size_t{1}, 1000.0}}) {
    matched.load_earlier(run, 1024, rows);
    rows.visit([&, expected = time_ns](std::size_t, const diagnosis::Row& row) {
      EXPECT_NEAR(std::exp(static_cast<double>(row.values[1 - row.from])), expected, 0.001 * expected);
    });
  }
}

TEST(matched_results, take_the_sizes_that_both_have) {
  MadeUp before("a.h5", {"n0", "n1"}), after("b.h5", {"n0", "n1"});
  after.changed().message_sizes_bytes = {1024, 65'536};
  EXPECT_THAT(MatchedResults({&before}, after).message_sizes_bytes(), ElementsAre(1024));
  after.changed().message_sizes_bytes = {65'536};
  EXPECT_THAT(refusal_of(before, after).why(), AllOf(HasSubstr("1 KiB"), HasSubstr("64 KiB")));
}

TEST(matched_results, of_another_direction_are_refused) {
  MadeUp before("a.h5", {"n0", "n1"}), after("b.h5", {"n0", "n1"});
  after.changed().provenance[0].second = std::string("bidirectional");
  EXPECT_THAT(refusal_of(before, after).why(), AllOf(HasSubstr("semidirectional"), HasSubstr("bidirectional")));
}

TEST(matched_results, of_another_transport_or_other_options_say_so) {
  MadeUp before("a.h5", {"n0", "n1"}), after("b.h5", {"n0", "n1"});
  after.changed().provenance[1].second = std::string("ucx");
  after.changed().options = {{"messages", "5"}, {"warmup", "10"}, {"batches", "20"}};
  EXPECT_THAT(MatchedResults({&before}, after).notes(),
              ElementsAre("the transport changed from tcp to ucx", "--messages was 100 and is 5"));
}

TEST(matched_results, that_are_not_complete_say_so_and_give_what_they_have) {
  const auto half = [](std::size_t, std::int64_t from, std::size_t to) { return from == 2 || to == 2 ? 0.0 : 1000.0; };
  MadeUp before("a.h5", {"n0", "n1", "n2"}), after("b.h5", {"n0", "n1", "n2"}, half);
  after.changed().complete = false;
  after.changed().incomplete_reason = "rank 2 died";
  MatchedResults matched({&before}, after);
  EXPECT_THAT(matched.notes(), ElementsAre("'b.h5' is not complete: rank 2 died"));
  EXPECT_THAT(row_of(matched, Compared::after, 0), ElementsAre(0, about(1000), 0));
  EXPECT_THAT(row_of(matched, Compared::before, 0), ElementsAre(0, about(1001), 0)) << "of pairs that both have";
  EXPECT_THAT(row_of(matched, Compared::speedup, 2), Each(0));
}

TEST(matched_results, of_several_repeats_are_their_geometric_mean) {
  const auto twice = [](std::size_t repeat, std::int64_t from, std::size_t) {
    if (repeat == 2 || (repeat == 1 && from == 1)) return 0.0;  // not measured
    return repeat == 0 ? 1000.0 : 4000.0;
  };
  MadeUp before("a.h5", {"n0", "n1"}, [](auto, auto, auto) { return 1000.0; }), after("b.h5", {"n0", "n1"}, twice);
  after.changed().repeats.resize(3);
  MatchedResults matched({&before}, after);
  EXPECT_THAT(row_of(matched, Compared::slowdown, 0), ElementsAre(0, about(2)));
  EXPECT_THAT(row_of(matched, Compared::slowdown, 1), ElementsAre(about(1), 0)) << "of those that have a value";
  EXPECT_THAT(row_of(matched, Compared::speedup, 0), ElementsAre(0, about(0.5)));
}

}  // namespace
}  // namespace leadline::bench::link
