// SPDX-License-Identifier: Apache-2.0
// Writes who and what was slow, hints, and wrong data by place.
#include "output/io_conspicuous.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/units.hpp"
#include "output/host_of_rank.hpp"
#include "output/io_rates.hpp"
#include "output/io_request_text.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t most_shown = 8;

/// "... and 4 more in the result file".
std::string the_others(std::size_t num) {
  return num > most_shown ? fmt::format("  ... and {} more in the result file\n", num - most_shown) : "";
}

struct OfPhase {
  const PhaseSummary* phase;
  const SlowCall* call;
};

std::vector<OfPhase> slow_calls_of(const IoResult& result) {
  std::vector<OfPhase> calls;
  for (const PhaseSummary& phase : result.phases) {
    for (const SlowCall& call : phase.slow_calls) calls.push_back({&phase, &call});
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const OfPhase& one, const OfPhase& other) { return one.call->time_ns > other.call->time_ns; });
  return calls;
}

const char* fate_of(const HintInForce& hint) {
  if (hint.granted.empty()) return "ignored";
  if (hint.granted != hint.asked) return hint.is_confirmed ? "another value is in force" : "echoed otherwise";
  return hint.is_confirmed ? "in force" : "echoed, not confirmed";
}

/// "wrong: FILE at 4198400: object 4 of rank 1, read by rank 2 (node3): bits differ ..."
std::string wrong_line(const WrongObject& wrong, bool has_hosts) {
  const memory::ObjectKey& expected = wrong.mismatch.expected;
  return fmt::format("wrong: {} at {}: object {} of rank {}, read by rank {}{}: {}\n", wrong.file,
                     expected.offset_bytes + wrong.mismatch.first_byte, expected.object, expected.rank, wrong.read_by,
                     has_hosts ? fmt::format(" ({})", wrong.host) : "", memory::words_of(wrong.mismatch));
}

}  // namespace

std::string io_stragglers_text(const IoResult& result) {
  const HostsOfRanks hosts(result.hosts);
  const Unit unit = unit_of_rates(result);
  Table table({{"rank", Align::left},
               {"phase", Align::left},
               {unit.name},
               {"of the median"},
               {"mostly", Align::left},
               {"file", Align::left}});
  std::size_t num = 0;
  for (const PhaseSummary& phase : result.phases) {
    for (const Straggler& straggler : phase.stragglers) {
      if (++num > most_shown) continue;
      table.add_row({hosts.with_host(straggler.rank),
                     fmt::format("{} {}", name_of(phase.place.operation), phase.place.repeat),
                     in_unit(straggler.bytes_per_s, unit), percent_text(straggler.relative), name_of(straggler.mostly),
                     straggler.file});
    }
  }
  if (num == 0) return "";
  return fmt::format("slow ranks: below {:g} % of the median rank's rate\n{}{}", 100 * (1 - result.request.threshold),
                     table.text(), the_others(num));
}

std::string io_slow_calls_text(const IoResult& result) {
  const std::vector<OfPhase> calls = slow_calls_of(result);
  if (calls.empty()) return "";
  const HostsOfRanks hosts(result.hosts);
  const Unit unit = time_unit(calls.front().call->time_ns), since = time_unit(calls.front().call->begin_ns);
  Table table({{unit.name},
               {"phase", Align::left},
               {"rank", Align::left},
               {fmt::format("began at {}", since.name)},
               {"bytes"},
               {"offset"},
               {"file", Align::left}});
  for (std::size_t index = 0; index < std::min(calls.size(), most_shown); ++index) {
    const auto& [phase, call] = calls[index];
    table.add_row({in_unit(call->time_ns, unit),
                   fmt::format("{} {}", name_of(phase->place.operation), phase->place.repeat),
                   hosts.with_host(call->rank), in_unit(call->begin_ns, since), format_bytes(call->size_bytes),
                   std::to_string(call->offset_bytes), call->file});
  }
  return fmt::format("slowest calls\n{}{}", table.text(), the_others(calls.size()));
}

std::string io_hints_text(const IoResult& result) {
  Table table({{"hint", Align::left}, {"asked", Align::left}, {"granted", Align::left}, {"", Align::left}});
  std::uint64_t num_others = 0;
  for (const HintInForce& hint : result.hints) {
    if (hint.asked.empty()) {
      ++num_others;
    } else {
      table.add_row({hint.key, hint.asked, hint.granted.empty() ? "-" : hint.granted, fate_of(hint)});
    }
  }
  if (!table.has_rows()) return "";
  std::string text = "hints\n" + table.text();
  if (num_others > 0) text += fmt::format("  {} of the library's own in the result file\n", num_others);
  return text;
}

std::string io_wrong_text(const IoResult& result) {
  const bool has_hosts = HostsOfRanks(result.hosts).has_several();
  std::string text;
  std::uint64_t num_wrong = 0;
  std::size_t num_shown = 0;
  for (const PhaseSummary& phase : result.phases) {
    num_wrong += phase.num_mismatches;
    for (const WrongObject& wrong : phase.wrong) {
      if (++num_shown <= most_shown) text += wrong_line(wrong, has_hosts);
    }
  }
  if (num_wrong == 0) return text;
  return text + fmt::format("{} with wrong data in all\n", counted(num_wrong, "object"));
}

}  // namespace leadline::output
