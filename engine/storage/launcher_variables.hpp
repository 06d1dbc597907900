// SPDX-License-Identifier: Apache-2.0
// Which variables of the environment tie a process to the launcher that started it.
#pragma once

#include <string_view>

namespace leadline::storage {

/// Whether a child that is to be on its own must lose this variable. Settings of libraries that users make stay.
bool is_of_launcher(std::string_view variable);

}  // namespace leadline::storage
