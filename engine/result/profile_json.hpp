// SPDX-License-Identifier: Apache-2.0
// A site profile in JSON, written and read again.
#pragma once

#include <string>
#include <string_view>

#include "model/profile.hpp"
#include "result/json_parts.hpp"

namespace leadline::result {

/// The document of `leadline profile`, with a line end.
std::string profile_document(const Profile& profile);

Json profile_schema();

/// Throws Error(bad_command_line) that names the file: it is no such document, or is of a later format.
Profile profile_of_text(const std::string& path, std::string_view text);

}  // namespace leadline::result
