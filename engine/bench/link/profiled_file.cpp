// SPDX-License-Identifier: Apache-2.0
// Reads classes of pairs out of results, and profiles out of files.
#include "bench/link/profiled_file.hpp"

#include <vector>

#include "bench/link/matrix_rows.hpp"
#include "bench/link/reader.hpp"
#include "command/text_file.hpp"
#include "result/diagnosis_json.hpp"

namespace leadline::bench::link {

Profile conditions_of(const Header& header, const diagnosis::Layout& layout) {
  return diagnosis::conditions_of(result::provenance_text(header, "transport"),
                                  result::provenance_text(header, "direction"),
                                  result::option_text(header, "serial") == "true", layout);
}

Profile profile_of_file(ResultReader& reader, const std::string& topology) {
  const Header& header = reader.header();
  diagnosis::Layout layout = layout_of(header.num_ranks, [&](std::int64_t rank) { return reader.placement(rank); });
  layout.network = network_for(topology, reader, layout.host_names);
  std::vector<Profile> repeats;
  for (std::size_t repeat = 0; repeat < header.repeats.size(); ++repeat) {
    Profile& one = repeats.emplace_back(conditions_of(header, layout));
    for (std::size_t size = 0; size < header.message_sizes_bytes.size(); ++size) {
      SliceRows rows(reader, repeat, size, workers_on_file);
      const auto times = diagnosis::class_times(rows.of(Symptom::slow), layout, header.message_sizes_bytes[size]);
      one.classes.insert(one.classes.end(), times.begin(), times.end());
    }
  }
  Profile profile = diagnosis::joined(repeats);
  profile.num_runs = 1;
  return profile;
}

std::string text_of_profile(const std::string& path) {
  return command::read_text_file("--profile", path, "leadline profile writes one");
}

diagnosis::SiteProfile read_profile(const std::string& path, const Profile& conditions) {
  if (path.empty()) return {};
  return {path, result::profile_of_text(path, text_of_profile(path)), conditions};
}

}  // namespace leadline::bench::link
