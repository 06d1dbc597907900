// SPDX-License-Identifier: Apache-2.0
// Grades what was found, and decides.
#include "check/assess.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "bench/lost_pairs.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/fault_groups.hpp"
#include "diagnosis/seen_faults.hpp"
#include "network/hostlist.hpp"
#include "output/diagnosis_text.hpp"
#include "output/table.hpp"

namespace leadline::check {

constexpr Named<Grade> grade_names[] = {
    {Grade::bad, "bad"}, {Grade::warning, "warning"}, {Grade::untested, "untested"}, {Grade::note, "note"}};
std::span<const Named<Grade>> names_of(Grade /*any*/) { return grade_names; }
const char* name_of(Grade grade) { return name_in(grade_names, grade); }

constexpr Named<State> state_names[] = {
    {State::good, "good"}, {State::warning, "warning"}, {State::bad, "bad"}, {State::untested, "untested"}};
std::span<const Named<State>> names_of(State /*any*/) { return state_names; }
const char* name_of(State state) { return name_in(state_names, state); }

int exit_status(State state) {
  switch (state) {
    case State::good:
    case State::warning:
      return static_cast<int>(ExitStatus::ok);
    case State::bad:
      return static_cast<int>(ExitStatus::below_threshold);
    case State::untested:
      break;
  }
  return static_cast<int>(ExitStatus::something_missing);
}

namespace {

/// What is no time of messages.
Number rate(std::string name, double bytes_per_s) {
  Number number;
  number.name = std::move(name);
  number.bytes_per_s = bytes_per_s;
  return number;
}

/// A class of pairs as the table shows it.
void add_class(const std::string& name, double time_ns, const DiagnosedSlice& slice, Direction direction,
               Measure measure, std::vector<Number>& numbers) {
  Number number;
  number.name = name;
  if (measure == Measure::latency) {
    number.time_ns = time_ns;
  } else {
    number.bytes_per_s = bandwidth_bytes_per_s(time_ns, slice.message_size_bytes, direction);
  }
  const auto& profile = slice.diagnosis.profile;
  const auto known = std::ranges::find(profile, name, &ComparedClass::name);
  if (known != profile.end()) {
    number.yardstick = "profile";
    number.share = 1 / known->ratio;
  }
  numbers.push_back(std::move(number));
}

/// They stand beside the same classes of host memory.
void name_gpu_classes(std::vector<Number>& numbers) {
  const bool is_one = numbers.size() == 1;
  for (Number& one : numbers) one.name = is_one ? "gpu to gpu" : "gpu to gpu, " + one.name;
}

/// The farthest class is that of pairs which use the line fully.
void add_line_rate(const DiagnosedSlice& slice, std::vector<Number>& numbers) {
  const auto& line_rate = slice.diagnosis.line_rate;
  if (!line_rate || numbers.empty() || !numbers.back().yardstick.empty()) return;
  numbers.back().yardstick = "line rate";
  numbers.back().share = line_rate->share;
}

/// Of whom a finding about the machine says that they are at fault.
constexpr const char* ids_of_bad_hosts[] = {"ranks_lost", "ranks_absent", "slow_memory", "slower_adapters"};

bool is_of_bad_hosts(const Finding& finding) {
  return std::ranges::find(ids_of_bad_hosts, finding.id) != std::end(ids_of_bad_hosts);
}

Grade grade_of(const Finding& finding) {
  if (is_of_bad_hosts(finding) || bench::is_of_loss(finding)) return Grade::bad;
  return finding.severity == Severity::warning ? Grade::warning : Grade::note;
}

Grade grade_of(double share, const CheckRequest& request) {
  return share < request.fail ? Grade::bad : share < request.warn ? Grade::warning : Grade::note;
}

Grade grade_of(const Fault& fault, const CheckRequest& request) {
  switch (list_of(fault)) {
    case FindingList::persistent:
      return grade_of(1 / fault.ratio, request);
    case FindingList::only_under_load:
      return Grade::warning;
    case FindingList::untested:
      return Grade::untested;
    case FindingList::passed:
    case FindingList::note:
      break;
  }
  return Grade::note;
}

std::string seen_of(const Fault& fault, std::uint64_t num_pairs) {
  if (fault.phases) return fmt::format("{} of {} phases", fault.phases->num_slow, fault.phases->num_phases);
  std::string pairs = output::counted(num_pairs, "pair");
  if (list_of(fault) == FindingList::untested) return pairs + ", could not be tested";
  switch (fault.persistence) {
    case Persistence::not_retested:
      return pairs;
    case Persistence::persistent:
      return pairs + ", also alone";
    case Persistence::only_under_load:
      return pairs + ", only under load";
    case Persistence::transient:
      return pairs + ", passed";
  }
  return pairs;
}

/// A fault that messages between GPUs show, in their names. Which pairs are connected otherwise by design nobody knows
/// here: a pair that is bad is a warning.
void name_gpus(const std::vector<std::string>& pci_bus_ids, const Fault& fault, CheckFinding& finding) {
  std::vector<std::string> gpus;
  for (const auto* ranks : {&fault.ranks, &fault.other_ranks}) {
    for (const std::int32_t rank : *ranks) gpus.push_back(pci_bus_ids.at(static_cast<std::size_t>(rank)));
  }
  const std::string host = network::folded_hostlist(fault.host_names);
  finding.kind = "gpu";
  switch (fault.component.kind) {
    case ComponentKind::rank:
      finding.name = fmt::format("{} {} on {}", gpus.size() == 1 ? "GPU" : "GPUs", fmt::join(gpus, ", "), host);
      finding.advice = "Look at its clock, temperature, errors and link: nvidia-smi -q, nvidia-smi nvlink --status";
      break;
    case ComponentKind::pair:
      finding.name = fmt::format("GPUs {} on {}", fmt::join(gpus, " - "), host);
      finding.advice = "Look at how they are connected: nvidia-smi topo -m, nvidia-smi nvlink --status";
      if (finding.grade == Grade::bad) finding.grade = Grade::warning;
      break;
    default:
      finding.name = fault.name + ", between GPUs";
  }
}

/// Of the parts that measure between GPUs, or of the others: the same component is another one there.
enum class Memories : bool { of_hosts, of_gpus };

std::vector<CheckFinding> findings_of_faults(const CheckRequest& request, const std::vector<PartResult>& parts,
                                             Memories memories) {
  std::vector<DiagnosedSlice> slices;
  std::vector<const PartResult*> part_of_slice;
  for (const PartResult& part : parts) {
    if (part.pci_bus_ids.empty() == (memories == Memories::of_gpus)) continue;
    for (const DiagnosedSlice& slice : part.slices) {
      slices.push_back(slice);
      part_of_slice.push_back(&part);
    }
  }
  const auto grade = [&](const Fault& fault) { return static_cast<int>(grade_of(fault, request)); };
  std::vector<CheckFinding> findings;
  for (const diagnosis::FaultGroup& group : diagnosis::fault_groups(diagnosis::seen_faults(slices), grade)) {
    const Fault& all = group.fault;
    CheckFinding finding;
    finding.grade = grade_of(*group.places.front().worst, request);
    finding.kind = leadline::name_of(all.component.kind);
    finding.name = all.name;
    finding.ratio = group.is_single() ? all.ratio : all.ratio_low;
    finding.ratio_most = group.is_single() ? all.ratio : all.ratio_high;
    finding.num_pairs = all.num_pairs;
    finding.seen = seen_of(all, all.num_pairs);
    finding.advice = all.advice;
    const PartResult& part = *part_of_slice[static_cast<std::size_t>(group.places.front().slice - slices.data())];
    finding.part = part.part.name;
    finding.host_names = all.host_names;
    finding.other_host_names = all.other_host_names;
    finding.adapters = all.adapters;
    finding.ranks = all.ranks;
    finding.is_of_hosts = diagnosis::is_of_hosts(all.component.kind);
    if (memories == Memories::of_gpus) name_gpus(part.pci_bus_ids, all, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

/// Classes of pairs that are slower than the site profile says.
void add_classes(const CheckRequest& request, const std::vector<PartResult>& parts,
                 std::vector<CheckFinding>& findings) {
  for (const PartResult& part : parts) {
    for (const DiagnosedSlice& slice : part.slices) {
      for (const ComparedClass& one : slice.diagnosis.profile) {
        if (one.change != Change::slower) continue;
        CheckFinding finding;
        finding.grade = grade_of(1 / one.ratio, request);
        finding.kind = "class";
        finding.name = output::all_pairs_of(one);
        finding.ratio = finding.ratio_most = one.ratio;
        finding.num_pairs = one.num_pairs;
        finding.seen = fmt::format("{}, {} instead of {}", output::counted(one.num_pairs, "pair"),
                                   format_time_ns(one.after_ns), format_time_ns(one.before_ns));
        finding.advice = "Look at what all of them share: adapter speed and width, driver, clock frequency, settings";
        finding.part = part.part.name;
        findings.push_back(std::move(finding));
      }
    }
  }
}

std::string name_of_load(const bench::congestion::CongestionResult& result, const bench::congestion::Impact& impact) {
  return result.request.loads[static_cast<std::size_t>(impact.cell.load)];
}

struct ToldFactor {
  const char* quantile;
  bench::congestion::Factor factor;
};

/// That of the tail, where it is known; of a stream that of the mean, which is its rate.
ToldFactor told_factor(const bench::congestion::Impact& impact) {
  if (impact.test == bench::congestion::Test::bandwidth) return {"mean", impact.mean};
  if (std::isfinite(impact.p99.estimate)) return {"p99", impact.p99};
  return {"median", impact.median};
}

Number number_of(const bench::congestion::CongestionResult& result, const bench::congestion::Impact& impact) {
  const ToldFactor told = told_factor(impact);
  Number number;
  number.name =
      fmt::format("{} {}, {}", bench::congestion::name_of(impact.test), told.quantile, name_of_load(result, impact));
  if (std::isfinite(told.factor.estimate)) {
    number.yardstick = "alone";
    number.impact = told.factor;
  }
  return number;
}

/// Nothing where it is within the limits, or may be.
std::optional<CheckFinding> finding_of_load(const bench::congestion::CongestionResult& result,
                                            const bench::congestion::Worst& worst, const CheckRequest& request) {
  const bench::congestion::Factor& factor = worst.factor;
  const auto is_above = [&](double limit) { return limit > 0 && factor.low > limit; };
  if (!is_above(request.fail_above) && !is_above(request.warn_above)) return std::nullopt;
  CheckFinding finding;
  finding.grade = is_above(request.fail_above) ? Grade::bad : Grade::warning;
  finding.kind = "congestion";
  finding.name = fmt::format("{} {}, {}", bench::congestion::name_of(worst.impact->test), worst.quantile,
                             name_of_load(result, *worst.impact));
  finding.ratio = finding.ratio_most = factor.estimate;
  finding.seen = fmt::format("95 %: {:.3g} to {:.3g}", factor.low, factor.high);
  finding.advice =
      "Look at congestion control, adaptive routing and the buffers of switches; leadline congestion --intensity "
      "10,25,50,75,100% shows where it begins";
  finding.part = "congestion";
  return finding;
}

CheckFinding finding_of_machine(const Finding& one) {
  CheckFinding finding;
  finding.grade = grade_of(one);
  finding.kind = one.id;
  finding.name = one.message;
  finding.seen = one.evidence;
  finding.advice = one.advice;
  finding.host_names = one.host_names;
  finding.ranks = one.ranks;
  for (const FoundAdapter& adapter : one.adapters) finding.adapters.push_back(adapter.name);
  finding.is_of_hosts = is_of_bad_hosts(one);
  return finding;
}

/// What is said about hosts and ranks, each once; later parts know of all that were lost.
void add_findings_of_machine(const std::vector<PartResult>& parts, std::vector<CheckFinding>& findings) {
  std::map<std::string, CheckFinding> by_id;
  std::vector<std::string> order;
  for (const PartResult& part : parts) {
    for (const Finding& one : part.run.findings) {
      if (!by_id.contains(one.id)) order.push_back(one.id);
      CheckFinding finding = finding_of_machine(one);
      finding.part = by_id.contains(one.id) ? by_id[one.id].part : part.part.name;
      by_id[one.id] = std::move(finding);
    }
  }
  for (const std::string& id : order) findings.push_back(std::move(by_id[id]));
}

std::vector<std::string> hosts_to_drain(const std::vector<CheckFinding>& findings) {
  std::set<std::string> hosts;
  for (const CheckFinding& finding : findings) {
    if (finding.grade == Grade::bad && finding.is_of_hosts) {
      hosts.insert(finding.host_names.begin(), finding.host_names.end());
    }
  }
  return {hosts.begin(), hosts.end()};
}

/// Why nobody could be judged by what was sent between ranks; empty where somebody was.
std::string why_nobody_was_judged(const std::vector<PartResult>& parts) {
  std::string why = "nothing was measured between ranks";
  for (const PartResult& part : parts) {
    if (part.part.benchmark == "io") continue;
    const bool are_few = part.run.provenance.num_ranks < static_cast<int>(diagnosis::fewest_to_compare);
    for (const DiagnosedSlice& slice : part.slices) {
      const Diagnosis& found = slice.diagnosis;
      const bool is_judged = found.untested.empty() && found.num_measured > 0 && !(are_few && found.profile.empty());
      if (is_judged) return "";
      if (!found.untested.empty()) why = found.untested;
      if (are_few) why = "of two ranks it cannot be decided which one is slow";
    }
  }
  return why;
}

void decide(const std::vector<PartResult>& parts, CheckResult& result) {
  const auto num_of = [&](Grade grade) {
    return static_cast<std::uint64_t>(std::ranges::count(result.problems, grade, &CheckFinding::grade));
  };
  const auto failed = std::ranges::find_if(result.parts, [](const Part& part) { return !part.why_not.empty(); });
  if (num_of(Grade::bad) > 0) {
    result.state = State::bad;
    result.why = fmt::format("{} found", output::counted(num_of(Grade::bad), "fault"));
  } else if (failed != result.parts.end()) {
    result.state = State::untested;
    result.why = fmt::format("{} was not measured: {}", failed->name, failed->why_not);
  } else if (const std::string why = why_nobody_was_judged(parts); !why.empty()) {
    result.state = State::untested;
    result.why = fmt::format("could not be tested: {}", why);
  } else if (num_of(Grade::warning) + num_of(Grade::untested) > 0) {
    result.state = State::warning;
    result.why = "no fault found";
    if (const auto num = num_of(Grade::warning); num > 0) result.why += ", " + output::counted(num, "warning");
    if (const auto num = num_of(Grade::untested); num > 0) {
      result.why += fmt::format(", {} could not be tested", output::counted(num, "suspect"));
    }
  } else {
    result.state = State::good;
    result.why = "no fault found";
  }
}

/// One row a name: time and bandwidth come from two parts. The lesser share counts.
void add_numbers(const std::vector<PartResult>& parts, std::vector<Number>& numbers) {
  for (const PartResult& part : parts) {
    for (const Number& one : part.numbers) {
      const auto known = std::ranges::find(numbers, one.name, &Number::name);
      if (known == numbers.end()) {
        numbers.push_back(one);
        continue;
      }
      if (std::isfinite(one.time_ns)) known->time_ns = one.time_ns;
      if (std::isfinite(one.bytes_per_s)) known->bytes_per_s = one.bytes_per_s;
      if (std::isfinite(one.share) && !(known->share <= one.share)) {
        known->share = one.share;
        known->yardstick = one.yardstick;
      }
    }
  }
}

}  // namespace

void take(const bench::link::LinkResult& result, Measure measure, PartResult& part) {
  part.run = result;
  for (const bench::link::SliceSummary& summary : result.slices) {
    const bench::link::Slice& slice = summary.slice;
    DiagnosedSlice told{slice.repeat, slice.size_index, slice.message_size_bytes, "", {}};
    if (summary.diagnosis) told.diagnosis = *summary.diagnosis;
    const Direction direction = result.request.direction;
    for (const DiagnosedClass& one : told.diagnosis.classes) {
      add_class(one.name, one.time_ns_median, told, direction, measure, part.numbers);
    }
    if (told.diagnosis.classes.empty()) {
      for (const auto& [name, pairs] :
           {std::pair{"same host", &summary.same_host}, std::pair{"between hosts", &summary.between_hosts}}) {
        if (pairs->num_pairs > 0) add_class(name, pairs->time_ns_median, told, direction, measure, part.numbers);
      }
    }
    if (measure == Measure::gpu) name_gpu_classes(part.numbers);
    if (measure == Measure::bandwidth) add_line_rate(told, part.numbers);
    part.slices.push_back(std::move(told));
  }
}

void take(const bench::bisection::BisectionResult& result, PartResult& part) {
  part.run = result;
  part.slices = result.diagnoses;
  for (const bench::bisection::BisectionSummary& size : result.sizes) {
    Number number = rate("bisection", size.ebb.mean);
    number.share = size.contention_share.mean;
    if (std::isfinite(number.share)) number.yardstick = "pairs alone";
    part.numbers.push_back(std::move(number));
  }
}

void take(const bench::congestion::CongestionResult& result, const CheckRequest& request, PartResult& part) {
  part.run = result;
  for (const bench::congestion::Impact& impact : result.impacts) {
    if (impact.shared != bench::congestion::Shared::all || impact.cell.load < 0) continue;
    part.numbers.push_back(number_of(result, impact));
  }
  const auto worst = bench::congestion::worst_of(result);
  if (worst) part.impact = finding_of_load(result, *worst, request);
  const bool is_known = std::ranges::any_of(result.impacts, [](const bench::congestion::Impact& impact) {
    return std::isfinite(impact.median.low) || std::isfinite(impact.p99.low);
  });
  if (!is_known) part.part.why_not = "it had too little time for an interval";
}

void take(const bench::io::IoResult& result, PartResult& part) {
  part.run = result;
  part.slices = result.diagnoses;
  for (const bench::io::OperationSummary& operation : result.operations) {
    part.numbers.push_back(
        rate(fmt::format("{} {}", bench::io::name_of(operation.operation), result.file_system), operation.median));
  }
}

CheckResult assessed(const CheckRequest& request, const std::vector<PartResult>& parts,
                     const std::optional<Sample>& sample) {
  CheckResult result;
  result.request = request;
  result.sample = sample;
  for (const PartResult& part : parts) {
    result.parts.push_back(part.part);
    if (part.run.provenance.num_ranks == 0 || !part.pci_bus_ids.empty()) continue;
    // Later parts know of all ranks that were lost; the first one says when it began.
    const std::string start = result.provenance.start_utc;
    result.provenance = part.run.provenance;
    if (!start.empty()) result.provenance.start_utc = start;
    result.hosts = part.run.hosts;
    result.connections = part.run.connections;
    result.verified_bytes += part.run.verified_bytes;
  }
  result.problems = findings_of_faults(request, parts, Memories::of_hosts);
  const auto of_gpus = findings_of_faults(request, parts, Memories::of_gpus);
  result.problems.insert(result.problems.end(), of_gpus.begin(), of_gpus.end());
  add_classes(request, parts, result.problems);
  for (const PartResult& part : parts) {
    if (part.impact) result.problems.push_back(*part.impact);
  }
  add_findings_of_machine(parts, result.problems);
  if (sample) {
    for (const Finding& one : sample->findings) result.problems.push_back(finding_of_machine(one));
  }
  std::ranges::stable_sort(result.problems, {}, &CheckFinding::grade);
  add_numbers(parts, result.numbers);
  if (const double copy = result.provenance.memory_copy.bytes_per_s; copy > 0) {
    result.numbers.push_back(rate("memory copy", copy));
  }
  result.drain = hosts_to_drain(result.problems);
  result.complete = std::ranges::all_of(result.parts, [](const Part& part) { return part.why_not.empty(); });
  decide(parts, result);
  if (!result.complete) result.incomplete_reason = result.why;
  return result;
}

}  // namespace leadline::check
