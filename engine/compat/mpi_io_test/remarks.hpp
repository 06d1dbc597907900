// SPDX-License-Identifier: Apache-2.0
// Options that do nothing in a combination, or less than they say: the guide accepts them, so they are no mistakes.
#pragma once

#include <string>
#include <vector>

#include "compat/mpi_io_test/settings.hpp"
#include "model/io_request.hpp"

namespace leadline::compat::mpi_io_test {

/// One remark for each such option that was given, without line ends.
void add_remarks(const Settings& settings, const IoRequest& request, std::vector<std::string>& remarks);

}  // namespace leadline::compat::mpi_io_test
