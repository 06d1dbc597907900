// SPDX-License-Identifier: Apache-2.0
// Looks for the numbers of message sizes in a summary that is not trusted.
#include "result/bisection/kept_sizes.hpp"

#include <limits>
#include <stdexcept>

#include "result/json_parts.hpp"
#include "result/link_result_reader.hpp"

namespace leadline::result::bisection {

namespace {

Interval interval_of(const Json& its, const char* mean, const char* half_width) {
  return {its.at("num").get<std::uint64_t>(), number_or_nan(its.at(mean)), number_or_nan(its.at(half_width))};
}

}  // namespace

std::vector<std::optional<KeptSize>> kept_sizes(const Header& header, const std::string& path) {
  std::vector<std::optional<KeptSize>> sizes(header.message_sizes_bytes.size());
  if (!header.summary) return sizes;
  try {
    const Json summary = Json::parse(*header.summary);
    for (const Json& its : summary.at("sizes").elements()) {
      sizes.at(its.at("size_index").get<std::size_t>()) = KeptSize{
          its.at("stopped_by").get<std::string>(),
          interval_of(its.at("ebb"), "bytes_per_s_mean", "bytes_per_s_half_width"),
          interval_of(its.at("relative"), "mean", "half_width"), number_or_nan(its.at("bytes_per_s_harmonic"))};
    }
  } catch (const JsonError&) {
    throw_damaged(path, "/summary is not one of a bisection test");
  } catch (const std::out_of_range&) {
    throw_damaged(path, "/summary has a message size that the file does not have");
  }
  return sizes;
}

}  // namespace leadline::result::bisection
