// SPDX-License-Identifier: Apache-2.0
// What a check answers, from what its parts have found, in each form.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "check/assess.hpp"
#include "check/command.hpp"
#include "check/gpus.hpp"
#include "check/json.hpp"
#include "check/run.hpp"
#include "check/sample.hpp"
#include "check/text.hpp"
#include "core/error.hpp"

namespace leadline::check {
namespace {

Fault slow(ComponentKind kind, int number, double ratio, Persistence persistence = Persistence::persistent) {
  Fault fault;
  fault.component.kind = kind;
  fault.component.first = number;
  const std::string host = "node" + std::to_string(number);
  fault.name = std::string(name_of(kind)) + " of " + host;
  fault.host_names = {host};
  fault.ratio = fault.ratio_low = fault.ratio_high = ratio;
  fault.persistence = persistence;
  fault.num_pairs = 40;
  fault.advice = "Look";
  return fault;
}

PartResult part_with(const std::string& name, std::vector<Fault> faults) {
  PartResult part;
  part.part.name = name;
  part.part.benchmark = name == "bisection" ? "bisection" : "link";
  part.part.path = "folder/" + name + ".h5";
  part.run.provenance.num_ranks = 64;
  part.run.provenance.num_hosts = 32;
  part.run.provenance.transport.name = "tcp";
  for (int host = 0; host < 32; ++host) part.run.hosts.push_back({"node" + std::to_string(host), "0-1"});
  DiagnosedSlice slice;
  slice.message_size_bytes = 8;
  slice.diagnosis.num_measured = slice.diagnosis.num_pairs = 100;
  slice.diagnosis.faults = std::move(faults);
  part.slices.push_back(slice);
  return part;
}

Number number(const std::string& name, double time_ns, double bytes_per_s) {
  Number one;
  one.name = name;
  one.time_ns = time_ns;
  one.bytes_per_s = bytes_per_s;
  return one;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Check, WithoutAnyFindingItIsGood) {
  const CheckResult result = assessed({}, {part_with("latency", {}), part_with("bandwidth", {})});
  EXPECT_EQ(result.state, State::good);
  EXPECT_EQ(exit_status(result.state), 0);
  EXPECT_TRUE(screen_text(result).starts_with("GOOD  64 ranks on 32 hosts, tcp"));
  EXPECT_EQ(hostlist_text(result), "");
  EXPECT_EQ(slurm_text(result), "");
}

TEST(Check, ASlowHostIsToBeDrained) {
  const CheckResult result = assessed({}, {part_with("latency", {slow(ComponentKind::host, 2, 3)})});
  EXPECT_EQ(result.state, State::bad);
  EXPECT_EQ(exit_status(result.state), 1);
  EXPECT_EQ(result.drain, std::vector<std::string>{"node2"});
  EXPECT_EQ(hostlist_text(result), "node2\n");
  EXPECT_EQ(slurm_text(result), "scontrol update NodeName=node2 State=DRAIN Reason='leadline: host of node2 x3'\n");
  EXPECT_NE(screen_text(result).find("x3"), std::string::npos);
  EXPECT_NE(screen_text(result).find(" drain: node2\n"), std::string::npos);
  EXPECT_TRUE(nagios_text(result).starts_with("LEADLINE CRITICAL - host of node2 x3 |"));
  EXPECT_EQ(nagios_status(result.state), 2);
}

TEST(Check, ItSaysWhyAHostIsToBeDrained) {
  const CheckResult result =
      assessed({}, {part_with("latency", {slow(ComponentKind::host, 2, 3), slow(ComponentKind::link, 5, 3)})});
  EXPECT_EQ(why_drained(result, "node2"), "node2 is to be drained (host of node2 x3)");
  EXPECT_EQ(why_drained(result, "node5"), "") << "nobody is drained for a link";
  EXPECT_EQ(why_drained(result, "node20"), "");
}

TEST(Check, PlacesAlikeAreOneFinding) {
  std::vector<Fault> faults;
  for (int host = 24; host < 32; ++host) faults.push_back(slow(ComponentKind::port, host, 2 + 0.01 * host));
  const CheckResult result = assessed({}, {part_with("bandwidth", faults)});
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems.front().name, "ports of node[24-31]");
  EXPECT_NEAR(result.problems.front().ratio, 2.24, 1e-9);
  EXPECT_NEAR(result.problems.front().ratio_most, 2.31, 1e-9);
  EXPECT_EQ(result.problems.front().num_pairs, 320U);
  EXPECT_EQ(hostlist_text(result), "node[24-31]\n");
}

TEST(Check, WhatTwoPartsShowIsOneFinding) {
  const Fault passing = slow(ComponentKind::host, 2, 9, Persistence::transient);
  const CheckResult result =
      assessed({}, {part_with("latency", {passing}), part_with("bandwidth", {slow(ComponentKind::host, 2, 1.5)})});
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems.front().grade, Grade::bad) << "the one that needs action counts, not the greater one";
  EXPECT_EQ(result.problems.front().part, "bandwidth");
}

TEST(Check, LimitsDecideWhatIsBad) {
  CheckRequest request;
  request.fail = 0.5;
  request.warn = 0.8;
  const std::vector<PartResult> parts{part_with(
      "latency",
      {slow(ComponentKind::host, 1, 3), slow(ComponentKind::host, 2, 1.5), slow(ComponentKind::host, 3, 1.2)})};
  const CheckResult result = assessed(request, parts);
  std::vector<Grade> grades;
  for (const CheckFinding& one : result.problems) grades.push_back(one.grade);
  EXPECT_EQ(grades, (std::vector<Grade>{Grade::bad, Grade::warning, Grade::note}));
  EXPECT_EQ(result.drain, std::vector<std::string>{"node1"});
}

PartResult between_gpus(std::vector<Fault> faults) {
  PartResult part = part_with("gpu", std::move(faults));
  part.run.provenance.transport.name = "cuda";
  for (int rank = 0; rank < 64; ++rank) part.pci_bus_ids.push_back("0000:" + std::to_string(10 + rank) + ":00.0");
  return part;
}

Fault slow_ranks(ComponentKind kind, std::vector<std::int32_t> ranks, std::vector<std::int32_t> other_ranks = {}) {
  Fault fault = slow(kind, 1, 3);
  fault.ranks = std::move(ranks);
  fault.other_ranks = std::move(other_ranks);
  return fault;
}

TEST(Check, ASlowGpuIsNamedAndItsHostDrained) {
  const CheckResult result =
      assessed({}, {part_with("bandwidth", {}), between_gpus({slow_ranks(ComponentKind::rank, {3})})});
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems.front().name, "GPU 0000:13:00.0 on node1");
  EXPECT_EQ(result.problems.front().kind, "gpu");
  EXPECT_EQ(result.problems.front().part, "gpu");
  EXPECT_EQ(result.drain, std::vector<std::string>{"node1"});
  EXPECT_NE(screen_text(result).find("check clock and link"), std::string::npos);
  EXPECT_EQ(result.provenance.transport.name, "tcp") << "that of the check";
}

TEST(Check, ARankIsNotItsGpu) {
  const Fault rank = slow_ranks(ComponentKind::rank, {3});
  const CheckResult result = assessed({}, {part_with("bandwidth", {rank}), between_gpus({rank})});
  std::set<std::string> names;
  for (const CheckFinding& one : result.problems) names.insert(one.name);
  EXPECT_EQ(names, (std::set<std::string>{rank.name, "GPU 0000:13:00.0 on node1"}));
}

TEST(Check, APairOfGpusIsAWarningAndDrainsNobody) {
  const CheckResult result = assessed({}, {between_gpus({slow_ranks(ComponentKind::pair, {3}, {5})})});
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_EQ(result.problems.front().name, "GPUs 0000:13:00.0 - 0000:15:00.0 on node1");
  EXPECT_EQ(result.state, State::warning);
  EXPECT_TRUE(result.drain.empty());
}

TEST(Check, OfGpusItIsDecidedWhetherAndHowTheyAreMeasured) {
  const std::vector<std::string> ids{"0000:11:00.0", "0000:12:00.0"};
  const std::vector<OwnGpu> all{{ids[0], ids}, {ids[1], ids}};
  const std::vector<std::uint32_t> one_host{0, 0}, two_hosts{0, 1};
  EXPECT_EQ(gpu_links(all, one_host, "").transport, "cuda");
  EXPECT_EQ(gpu_links(all, one_host, "mpi").transport, "cuda");
  EXPECT_EQ(gpu_links(all, one_host, "").pci_bus_ids, ids);
  EXPECT_EQ(gpu_links(all, two_hosts, "mpi").transport, "mpi");
  EXPECT_NE(gpu_links(all, two_hosts, "").why_not.find("several hosts"), std::string::npos);

  const std::vector<OwnGpu> none(2), some{{ids[0], ids}, {}}, shared{{ids[0], ids}, {ids[0], ids}},
      apart{{ids[0], {ids[0]}}, {ids[1], {ids[1]}}};
  EXPECT_EQ(gpu_links(none, one_host, "mpi").transport + gpu_links(none, one_host, "mpi").why_not, "");
  EXPECT_EQ(gpu_links(some, one_host, "mpi").why_not, "only 1 of 2 ranks have one");
  EXPECT_NE(gpu_links(shared, one_host, "mpi").why_not.find("share"), std::string::npos);
  EXPECT_EQ(gpu_links(shared, two_hosts, "mpi").transport, "mpi") << "the same address on two hosts";
  EXPECT_NE(gpu_links(apart, one_host, "").why_not.find("no peer access to 0000:12:00.0"), std::string::npos);
  EXPECT_EQ(gpu_links(apart, one_host, "mpi").transport, "mpi");
  for (const auto* gpus : {&some, &shared, &apart}) EXPECT_EQ(gpu_links(*gpus, one_host, "").transport, "");
}

TEST(Check, OnlyUnderLoadIsAWarning) {
  const Fault under_load = slow(ComponentKind::uplink, 1, 3, Persistence::only_under_load);
  const CheckResult result = assessed({}, {part_with("bisection", {under_load})});
  EXPECT_EQ(result.state, State::warning);
  EXPECT_EQ(exit_status(result.state), 0);
  EXPECT_EQ(nagios_status(result.state), 1);
}

TEST(Check, NoHostIsDrainedForANetwork) {
  const CheckResult result = assessed({}, {part_with("latency", {slow(ComponentKind::uplink, 1, 3)})});
  EXPECT_EQ(result.state, State::bad);
  EXPECT_TRUE(result.drain.empty());
}

TEST(Check, APartThatWasNotMeasuredIsUntested) {
  PartResult failed;
  failed.part = {"files", "io", "", "cannot create '/scratch/x' (No space left on device)", 0};
  const CheckResult result = assessed({}, {part_with("latency", {}), failed});
  EXPECT_EQ(result.state, State::untested);
  EXPECT_EQ(exit_status(result.state), 3);
  EXPECT_NE(screen_text(result).find(" files was not measured: cannot create"), std::string::npos);
  EXPECT_NE(junit_text(result).find("<skipped message=\"cannot create"), std::string::npos);
}

TEST(Check, NobodyCouldBeJudged) {
  PartResult part = part_with("latency", {});
  part.slices.front().diagnosis.untested = "two ranks have nothing to be compared with";
  const CheckResult result = assessed({}, {part});
  EXPECT_EQ(result.state, State::untested);
  EXPECT_TRUE(nagios_text(result).starts_with("LEADLINE UNKNOWN - could not be tested: two ranks"));
  EXPECT_EQ(nagios_status(result.state), 3);
}

TEST(Check, LostRanksAreBadAndTheirHostsAreDrained) {
  PartResult part = part_with("latency", {});
  Finding finding{"ranks_absent", Severity::warning, "1 rank did not join the run: 5 (node5).", "", "Look"};
  finding.host_names = {"node5"};
  part.run.findings = {finding};
  const CheckResult result = assessed({}, {part, part});
  ASSERT_EQ(result.problems.size(), 1U) << "both parts say it";
  EXPECT_EQ(result.state, State::bad);
  EXPECT_EQ(result.drain, std::vector<std::string>{"node5"});
}

TEST(Check, TimeAndBandwidthOfAClassAreOneRow) {
  PartResult latency = part_with("latency", {}), bandwidth = part_with("bandwidth", {});
  latency.numbers = {number("same host", 420, not_measured), number("between hosts", 1520, not_measured)};
  bandwidth.numbers = {number("same host", not_measured, 19e9), number("between hosts", not_measured, 24e9)};
  latency.numbers[1].share = 0.97, latency.numbers[1].yardstick = "profile";
  bandwidth.numbers[1].share = 0.99, bandwidth.numbers[1].yardstick = "profile";
  const CheckResult result = assessed({}, {latency, bandwidth});
  ASSERT_EQ(result.numbers.size(), 2U);
  EXPECT_EQ(result.numbers[1].time_ns, 1520);
  EXPECT_EQ(result.numbers[1].bytes_per_s, 24e9);
  EXPECT_EQ(result.numbers[1].share, 0.97) << "the lesser one";
  EXPECT_NE(screen_text(result).find("profile: 97 %"), std::string::npos);
}

TEST(Check, TheScreenHasAtMostTwentyLinesOfEightyCharacters) {
  std::vector<Fault> faults;
  for (int number = 0; number < 100; ++number) {
    Fault fault = slow(ComponentKind::link, number, 2 + number);
    fault.component.second = number + 1;
    fault.name = "the link node1000000000000000000 - node" + std::to_string(number);
    faults.push_back(fault);
  }
  PartResult part = part_with("latency", faults);
  for (int index = 0; index < 20; ++index) part.numbers.push_back(number("class " + std::to_string(index), 1, 1));
  part.run.provenance.transport.library = std::string(100, 'l');
  const std::vector<std::string> lines = lines_of(screen_text(assessed({}, {part})));
  EXPECT_EQ(lines.size(), 20U);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) { return line.find(" more: ") != line.npos; }));
}

/// Under an incast without pauses the slowest hundredth of messages takes 12 times as long (9 to 16), the median twice.
PartResult under_load(const CheckRequest& request, double p99_low = 9) {
  bench::congestion::CongestionResult result;
  static_cast<RunResult&>(result) = part_with("congestion", {}).run;
  result.cells = {{0, 100}};
  bench::congestion::Impact latency, bandwidth;
  latency.cell = bandwidth.cell = {0, 100};
  latency.median = {2, 1.9, 2.1};
  latency.p99 = {12, p99_low, 16};
  bandwidth.test = bench::congestion::Test::bandwidth;
  bandwidth.mean = {1.5, 1.4, 1.6};
  result.impacts = {latency, bandwidth};
  PartResult part;
  part.part.name = part.part.benchmark = "congestion";
  take(result, request, part);
  return part;
}

CheckRequest with_limits(double warn_above, double fail_above) {
  CheckRequest request;
  request.congestion = true;
  request.warn_above = warn_above;
  request.fail_above = fail_above;
  return request;
}

TEST(Check, ALoadIsJudgedByWhatItSurelyDoes) {
  struct Case {
    double warn_above, fail_above;
    State state;
  };
  for (const Case& one : {Case{0, 8.9, State::bad}, Case{0, 9.1, State::good}, Case{8.9, 9.1, State::warning},
                          Case{3, 8, State::bad}, Case{0, 0, State::good}}) {
    const CheckRequest request = with_limits(one.warn_above, one.fail_above);
    const CheckResult result = assessed(request, {part_with("latency", {}), under_load(request)});
    EXPECT_EQ(result.state, one.state) << one.warn_above << " " << one.fail_above;
    EXPECT_TRUE(result.drain.empty());
    if (one.state == State::good) continue;
    ASSERT_EQ(result.problems.size(), 1U);
    EXPECT_EQ(result.problems.front().name, "latency p99, incast");
    EXPECT_EQ(result.problems.front().seen, "95 %: 9 to 16");
    EXPECT_EQ(result.problems.front().ratio, 12);
  }
}

TEST(Check, EachFormSaysWhatALoadDoes) {
  const CheckRequest request = with_limits(0, 5);
  const CheckResult result = assessed(request, {part_with("latency", {}), under_load(request)});
  const std::string screen = screen_text(result);
  EXPECT_NE(screen.find("alone: x12\n"), std::string::npos) << screen;
  EXPECT_NE(screen.find("alone: x1.5\n"), std::string::npos) << screen;
  EXPECT_NE(screen.find("x12  95 %: 9 to 16  check congestion control"), std::string::npos) << screen;
  EXPECT_NE(nagios_text(result).find("'impact latency p99, incast'=12 "), std::string::npos);
  EXPECT_NE(metrics_text(result, 0).find("leadline_check_impact_ratio{of=\"bandwidth mean, incast\"} 1.5\n"),
            std::string::npos);
  EXPECT_NE(junit_text(result).find("name=\"network and storage\"><failure message=\"latency p99, incast x12\"/>"),
            std::string::npos);
  const Json impact = Json::parse(json_text(result)).at("numbers").at(0).at("impact");
  EXPECT_EQ(impact.at("low").get<double>(), 9);
  EXPECT_EQ(metrics_text(assessed({}, {part_with("latency", {})}), 0).find("impact"), std::string::npos);
}

TEST(Check, ALoadWithoutAnIntervalIsUntested) {
  const CheckRequest request = with_limits(0, 5);
  bench::congestion::CongestionResult result;
  result.impacts.emplace_back().cell = {0, 100};
  PartResult part;
  part.part.name = "congestion";
  take(result, request, part);
  EXPECT_EQ(assessed(request, {part_with("latency", {}), part}).state, State::untested);
}

TEST(Check, LessTimeForALoadMeansShorterTestsThenFewerRounds) {
  const CheckRequest request = with_limits(0, 0);
  const auto minute = congestion_request(request, 16), seconds = congestion_request(request, 2),
             little = congestion_request(request, 0.5);
  EXPECT_EQ(minute.test_time_s, 0.1);
  EXPECT_GE(minute.rounds, 10U);
  EXPECT_LT(seconds.test_time_s, 0.1);
  EXPECT_GE(seconds.rounds, 6U);
  EXPECT_EQ(little.test_time_s, 0.01);
  EXPECT_EQ(little.rounds, 6U);
  EXPECT_EQ(minute.message_sizes_bytes, bench::congestion::CongestionRequest{}.message_sizes_bytes);
}

TEST(Check, MetricsAreOpenMetrics) {
  Fault fault = slow(ComponentKind::host, 2, 3);
  fault.name = "host \"a\\b\"";
  PartResult part = part_with("latency", {fault});
  part.numbers = {number("between hosts", 1500, not_measured)};
  const std::string text = metrics_text(assessed({}, {part}), 1e9);
  const std::vector<std::string> lines = lines_of(text);
  EXPECT_EQ(lines.back(), "# EOF");
  EXPECT_NE(text.find("leadline_check_state{state=\"bad\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("leadline_check_drain{host=\"node2\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("name=\"host \\\"a\\\\b\\\"\""), std::string::npos);
  EXPECT_NE(text.find("leadline_check_latency_seconds{between=\"between hosts\",message_size=\"8\"} 1.5e-06\n"),
            std::string::npos);
}

TEST(Check, JunitEscapesAndCounts) {
  Fault fault = slow(ComponentKind::host, 2, 3);
  fault.name = "host <2> & \"co\"";
  const std::string text = junit_text(assessed({}, {part_with("latency", {fault})}));
  EXPECT_NE(text.find("failures=\"1\""), std::string::npos);
  EXPECT_NE(text.find("host &lt;2&gt; &amp; &quot;co&quot; x3"), std::string::npos);
  EXPECT_NE(text.find("name=\"host node2\"><failure"), std::string::npos);
}

TEST(Check, ASampleSaysWhichHostsItTested) {
  CheckRequest request;
  request.seed = 7;
  Sample sample{420, {}, {"node40", "node41"}, {}};
  for (int host = 0; host < 32; ++host) sample.host_names.push_back("node" + std::to_string(host));
  Finding absent{"ranks_absent", Severity::warning, "1 rank did not join the run: 5 (node99).", "", "Look"};
  absent.host_names = {"node99"};
  const CheckResult good = assessed(request, {part_with("latency", {})}, sample);
  sample.findings = {absent};
  const CheckResult bad = assessed(request, {part_with("latency", {})}, sample);
  EXPECT_TRUE(screen_text(good).starts_with("GOOD  64 ranks on 32 of 420 hosts, tcp"));
  EXPECT_EQ(lines_of(screen_text(good)).at(1), " tested, chosen at random with --seed 7: node[0-31]");
  EXPECT_TRUE(nagios_text(good).starts_with("LEADLINE OK - no fault found, 32 of 420 hosts tested |"));
  EXPECT_NE(junit_text(good).find("name=\"host node40\"><skipped"), std::string::npos);
  EXPECT_NE(metrics_text(good, 0).find("leadline_check_hosts_started 420\n"), std::string::npos);
  EXPECT_NE(metrics_text(good, 0).find("leadline_check_tested{host=\"node31\"} 1\n"), std::string::npos);
  EXPECT_EQ(metrics_text(good, 0).find("node40"), std::string::npos);
  EXPECT_EQ(bad.state, State::bad);
  EXPECT_EQ(bad.drain, std::vector<std::string>{"node99"});
}

TEST(Check, HowManyHostsASampleHas) {
  EXPECT_EQ(sample_size("5%", 420), 21U);
  EXPECT_EQ(sample_size("7%", 100), 7U);
  EXPECT_EQ(sample_size("5%", 421), 22U) << "rounded up";
  EXPECT_EQ(sample_size("1%", 10), 2U) << "one host cannot be compared with any";
  EXPECT_EQ(sample_size("20", 100), 20U);
  EXPECT_EQ(sample_size("20", 6), 6U);
  EXPECT_EQ(sample_size("100%", 6), 6U);
}

TEST(Check, ASampleIsAnyChoiceWithHostZero) {
  for (std::uint32_t num_hosts = 1; num_hosts <= 6; ++num_hosts) {
    for (std::uint64_t size = 1; size <= num_hosts; ++size) {
      std::set<std::vector<std::uint32_t>> seen;
      for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const auto hosts = sampled_hosts(num_hosts, size, seed);
        ASSERT_EQ(hosts, sampled_hosts(num_hosts, size, seed));
        ASSERT_EQ(std::set(hosts.begin(), hosts.end()).size(), size);
        ASSERT_TRUE(std::ranges::is_sorted(hosts));
        ASSERT_EQ(hosts.front(), 0U);
        ASSERT_LT(hosts.back(), num_hosts);
        seen.insert(hosts);
      }
      std::size_t num_choices = 1;  // of size - 1 out of num_hosts - 1
      for (std::uint64_t one = 1; one < size; ++one) num_choices = num_choices * (num_hosts - one) / one;
      EXPECT_EQ(seen.size(), num_choices) << num_hosts << " hosts, " << size;
    }
  }
}

TEST(Check, CommandLinesThatMakeNoSense) {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"leadline", "check"});
    try {
      parse_check(words);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_NE(refused({"--warn", "0.5", "--fail", "0.8"}).find("--warn 0.5 is less than --fail 0.8"), std::string::npos);
  EXPECT_NE(refused({"--latency-size", "1MiB", "--bandwidth-size", "1MiB"}).find("--latency-size"), std::string::npos);
  EXPECT_NE(refused({"--budget", "1"}).find("--budget"), std::string::npos);
  EXPECT_NE(refused({"--target-size", "1GiB"}).find("--target"), std::string::npos);
  EXPECT_NE(refused({"--routes", "file"}).find("--topology"), std::string::npos);
  for (const char* sample : {"", "1", "0", "0.05", "0%", "101%", "5 hosts", "-3"}) {
    EXPECT_NE(refused({"--sample", sample}).find("--sample"), std::string::npos) << sample;
  }
  EXPECT_NE(refused({"--fail-above", "5"}).find("--congestion"), std::string::npos);
  EXPECT_NE(refused({"--congestion", "--fail-above", "0.5"}).find("from 1 on"), std::string::npos);
  EXPECT_NE(refused({"--congestion", "--fail-above", "5", "--warn-above", "6"}).find("--warn-above 6 is more"),
            std::string::npos);
  EXPECT_NE(refused({"--congestion", "--transport", "model:x.json"}).find("--congestion has no effect"),
            std::string::npos);
  EXPECT_EQ(refused({"--congestion", "--warn-above", "6"}), "taken");
  EXPECT_EQ(refused({"--fail", "0.8"}), "taken");
}

}  // namespace
}  // namespace leadline::check
