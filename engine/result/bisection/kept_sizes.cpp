// SPDX-License-Identifier: Apache-2.0
// Looks for the numbers of message sizes in a summary that is not trusted.
#include "result/bisection/kept_sizes.hpp"

#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "result/reader.hpp"

namespace leadline::result::bisection {

namespace {

using nlohmann::json;

double number_of(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Interval interval_of(const json& its, const char* mean, const char* half_width) {
  return {its.at("num").get<std::uint64_t>(), number_of(its.at(mean)), number_of(its.at(half_width))};
}

}  // namespace

std::vector<std::optional<KeptSize>> kept_sizes(const Header& header, const std::string& path) {
  std::vector<std::optional<KeptSize>> sizes(header.message_sizes_bytes.size());
  if (!header.summary) return sizes;
  try {
    const json summary = json::parse(*header.summary);
    for (const json& its : summary.at("sizes")) {
      sizes.at(its.at("size_index").get<std::size_t>()) =
          KeptSize{its.at("stopped_by").get<std::string>(),
                   interval_of(its.at("ebb"), "bytes_per_s_mean", "bytes_per_s_half_width"),
                   interval_of(its.at("relative"), "mean", "half_width"), number_of(its.at("bytes_per_s_harmonic"))};
    }
  } catch (const json::exception&) {
    throw_damaged(path, "/summary is not one of a bisection test");
  } catch (const std::out_of_range&) {
    throw_damaged(path, "/summary has a message size that the file does not have");
  }
  return sizes;
}

}  // namespace leadline::result::bisection
