// SPDX-License-Identifier: Apache-2.0
// One line for each of Netgauge's patterns.
#include "compat/netgauge/unsupported_pattern.hpp"

#include <fmt/format.h>

#include <array>

#include "core/error.hpp"

namespace leadline::compat::netgauge {
namespace {

struct UnsupportedPattern {
  const char* pattern;
  const char* why;
  const char* hint;
};

constexpr const char* nowhere = "Leadline has nothing like it";
constexpr const char* what_is_here = "netgauge -x ebb is what there is";

constexpr std::array<UnsupportedPattern, 15> others{{
    {"1toN", "it is one rank with all others, which answer",
     R"("leadline topology --pattern star" measures that, "--pattern outcast" the way there alone)"},
    {"Nto1", "it is all ranks to one", R"("leadline topology --pattern incast" measures that)"},
    {"loggp", "it is latency and bandwidth by message size",
     R"("leadline link --message-size 1B-1MiB" measures these, but fits no LogGP parameters)"},
    {"distrtt", "it is the spread of round trips between two ranks",
     R"("leadline link --messages 500 --batches 500" measures that for every two ranks)"},
    {"disk", "its writing destroys what is on the disk, and Leadline never does that", what_is_here},
    {"nbov", nowhere, what_is_here},
    {"noise", nowhere, what_is_here},
    {"collvsnoise", nowhere, what_is_here},
    {"synctest", nowhere, what_is_here},
    {"mprobe", nowhere, what_is_here},
    {"memory", nowhere, what_is_here},
    {"cpu", nowhere, what_is_here},
    {"func_args", nowhere, what_is_here},
    {"overlap", nowhere, what_is_here},
    {"beff", "Netgauge had none of that name, either", what_is_here},
}};

/// one_one and its variants.
UnsupportedPattern between_two_ranks(const std::string& pattern) {
  if (pattern == "one_one" || pattern == "one_one_all") {
    return {"", "it is ping-pongs between two ranks", R"("leadline link" measures that for every two ranks)"};
  }
  if (pattern.find("bidirect") != std::string::npos) {
    return {"", "it is two ranks that send to each other at once",
            R"("leadline link --direction bidirectional" measures that for every two ranks)"};
  }
  return {"", "it is a variant of ping-pongs between two ranks",
          R"("leadline link" measures plain ones for every two ranks)"};
}

UnsupportedPattern elsewhere(const std::string& pattern) {
  if (pattern.starts_with("one_one")) return between_two_ranks(pattern);
  for (const UnsupportedPattern& other : others) {
    if (pattern == other.pattern) return other;
  }
  return {"", "Netgauge had none of that name, either", what_is_here};
}

}  // namespace

void refuse_pattern(const std::string& option, const std::string& pattern) {
  const UnsupportedPattern place = elsewhere(pattern);
  const std::string problem = option.empty()
                                  ? fmt::format("netgauge has no pattern {}, which is meant without -x", pattern)
                                  : fmt::format("{} cannot be '{}'", option, pattern);
  throw Error(ExitStatus::bad_command_line, problem, place.why, place.hint);
}

}  // namespace leadline::compat::netgauge
