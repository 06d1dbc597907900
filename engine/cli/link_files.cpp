// SPDX-License-Identifier: Apache-2.0
// Looks which test a file is a result of.
#include "cli/link_files.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "result/link_result_reader.hpp"

namespace leadline::cli {

void expect_link_test(const std::string& path, const std::string& verb) {
  const std::string benchmark = result::benchmark_of(path, result::kind_of_file(path));
  if (benchmark == "link") return;
  throw Error(ExitStatus::bad_command_line, fmt::format("cannot {} '{}'", verb, path),
              fmt::format("a result of leadline {}: only the link test measures single pairs", benchmark),
              "Choose a result of leadline link");
}

}  // namespace leadline::cli
