// SPDX-License-Identifier: Apache-2.0
// Puts movement, calls and amounts into words.
#include "output/io_request_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {

std::string movement_description(const IoRequest& request) {
  std::string text = name_of(request.movement);
  if (request.order == schedule::Order::strided) text += ", strided";
  if (request.self_send == schedule::SelfSend::no) text += ", I/O ranks without objects of their own";
  if (request.no_file) text += ", messages only";
  return text;
}

std::string calls_description(const IoRequest& request) {
  std::string text = name_of(request.calls);
  if (request.collective) text += " collective";
  text += " calls";
  if (request.barrier) text += ", a barrier before each write";
  if (request.cache_path == CachePath::direct) text += ", round the page cache (O_DIRECT)";
  if (request.cache_path == CachePath::uncached) text += ", nothing left in the page cache (RWF_DONTCACHE)";
  return text;
}

std::string objects_description(std::uint64_t num_objects, std::uint64_t object_size_bytes) {
  return fmt::format("{} of {}", counted(num_objects, "object"), format_bytes(object_size_bytes));
}

std::string percent_text(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"; }

}  // namespace leadline::output
