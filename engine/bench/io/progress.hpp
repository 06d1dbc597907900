// SPDX-License-Identifier: Apache-2.0
// The two ways to show the progress of a parallel file test.
#pragma once

#include <memory>

#include "bench/io/output.hpp"
#include "model/io_request.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::output {

/// Lines, a second apart, for what is no terminal.
std::unique_ptr<bench::io::Progress> make_io_lines(const IoRequest& request, ProgressOutlet outlet);

/// One line that is redrawn.
std::unique_ptr<bench::io::Progress> make_io_bar(const IoRequest& request, ProgressOutlet outlet);

}  // namespace leadline::output
