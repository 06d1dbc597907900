// SPDX-License-Identifier: Apache-2.0
// What a site profile needs of a result of the link test.
#pragma once

#include <string>

#include "bench/link/reader.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/profile.hpp"
#include "model/diagnosis.hpp"

namespace leadline::bench::link {

/// What must be the same for times to be comparable; without classes.
Profile conditions_of(const Header& header, const diagnosis::Layout& layout);

/// All message sizes; of several repeats the median. `topology`: as for network_for().
Profile profile_of_file(ResultReader& reader, const std::string& topology);

/// What the file says. Throws Error(bad_command_line) that names it.
std::string text_of_profile(const std::string& path);

/// Empty path: none. `conditions`: of the run to judge. Throws Error(bad_command_line) that names the file.
diagnosis::SiteProfile read_profile(const std::string& path, const Profile& conditions);

}  // namespace leadline::bench::link
