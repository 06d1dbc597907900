// SPDX-License-Identifier: Apache-2.0
// The format of a result file from its name, and its name from the time.
#include "result/result_file.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace leadline::result {

namespace {

std::optional<ResultFormat> format_of_name(const std::string& path) {
  if (path.empty()) return std::nullopt;
  if (path == "-" || path.ends_with(".json")) return ResultFormat::json;
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) return ResultFormat::hdf5;
  if (path.ends_with(".sion")) return ResultFormat::sion;
  return std::nullopt;
}

const char* ending_of(ResultFormat format) {
  switch (format) {
    case ResultFormat::json:
      return "json";
    case ResultFormat::sion:
      return "sion";
    case ResultFormat::hdf5:
    case ResultFormat::none:
      break;
  }
  return "h5";
}

}  // namespace

ResultFormat format_for(const std::string& path, std::optional<ResultFormat> given) {
  if (given == ResultFormat::none && !path.empty()) {
    throw Error(ExitStatus::bad_command_line, "--format none leaves nothing to write to " + path, "",
                "Leave out one of --format and --output");
  }
  const auto named = format_of_name(path);
  if (given && named && *given != *named) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--format {} and --output {} contradict each other", name_of(*given), path),
                fmt::format("that name says {}", name_of(*named)), "Leave out --format, or choose another name");
  }
  if (given) return *given;
  if (named) return *named;
  if (path.empty()) return ResultFormat::hdf5;
  throw Error(ExitStatus::bad_command_line, "the name of the result file " + path + " does not say its format", "",
              "End it with .h5, .hdf5, .sion or .json, or add --format hdf5, sion or json");
}

std::string default_file_name(const std::string& benchmark, ResultFormat format, std::time_t now) {
  if (format == ResultFormat::none) return "";
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("leadline-{}-{:04}{:02}{:02}T{:02}{:02}{:02}Z.{}", benchmark, utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, ending_of(format));
}

}  // namespace leadline::result
