// SPDX-License-Identifier: Apache-2.0
// Writes what changed, what became slower first.
#include "output/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t most_components = 20;

/// "+12.3 %".
std::string percent_change(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

std::string classes_text(const Comparison& comparison) {
  std::vector<double> times;
  for (const ComparedClass& one : comparison.classes) times.push_back(one.after_ns);
  const Unit unit = time_unit(middle_of(times));
  Table table({{"pairs", Align::left},
               {"number"},
               {fmt::format("before {}", unit.name)},
               {fmt::format("after {}", unit.name)},
               {"time"},
               {"95 % interval"},
               {"", Align::left}});
  for (const ComparedClass& one : comparison.classes) {
    table.add_row({one.name, std::to_string(one.num_pairs), in_unit(one.before_ns, unit), in_unit(one.after_ns, unit),
                   percent_change(one.ratio),
                   fmt::format("{} to {}", percent_change(one.ratio_low), percent_change(one.ratio_high)),
                   one.change == Change::none ? "" : name_of(one.change)});
  }
  return table.text();
}

std::string components_text(const std::vector<Fault>& components, const char* change) {
  std::string text;
  for (std::size_t index = 0; index < std::min(components.size(), most_components); ++index) {
    const Fault& component = components[index];
    text += fmt::format("  {} is {} beyond the change of its class: {:.3g} times ({:.3g} to {:.3g}), {}\n",
                        component.name, change, component.ratio, component.ratio_low, component.ratio_high,
                        counted(component.num_pairs, "ordered pair"));
  }
  if (components.size() > most_components)
    text += fmt::format("  ... and {} more\n", components.size() - most_components);
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("message size {}, {} in both results\n", format_bytes(comparison.message_size_bytes),
                                 counted(comparison.num_pairs, "ordered pair"));
  text += classes_text(comparison);
  const auto num_classes = [&](Change change) {
    return static_cast<std::size_t>(
        std::ranges::count_if(comparison.classes, [&](const ComparedClass& one) { return one.change == change; }));
  };
  const auto changed = [&](Change change, const std::vector<Fault>& components) {
    const std::size_t num = num_classes(change);
    return fmt::format("{} class{} and {} {}", num, num == 1 ? "" : "es", counted(components.size(), "component"),
                       name_of(change));
  };
  text += fmt::format("verdict: {}: {}, {}\n", is_worse(comparison) ? "worse" : "not worse",
                      changed(Change::slower, comparison.slower), changed(Change::faster, comparison.faster));
  text += components_text(comparison.slower, "slower");
  text += components_text(comparison.faster, "faster");
  for (const std::string& note : comparison.notes) text += fmt::format("note: {}\n", note);
  return text;
}

std::string comparisons_text(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& one : comparisons) text += (text.empty() ? "" : "\n") + comparison_text(one);
  return text;
}

}  // namespace leadline::output
