// SPDX-License-Identifier: Apache-2.0
// The words stop, quiet, go and farewell.
#include "transport/portals4/door.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace leadline::transport::portals4 {

Door::Door(Endpoint& endpoint, std::list<Way>& ways) : endpoint_(endpoint), ways_(ways) {
  ptl_me_t anybody = quiet_entry();
  anybody.options |= PTL_ME_OP_PUT;
  anybody.match_id.phys.nid = PTL_NID_ANY;
  anybody.match_id.phys.pid = PTL_PID_ANY;
  anybody.ignore_bits = ~ptl_match_bits_t{0};
  ptl_handle_me_t posted{};
  require("listen for words",
          PtlMEAppend(endpoint.interface.get(), endpoint.words.index(), &anybody, PTL_PRIORITY_LIST, nullptr, &posted));
}

void Door::shut() {
  is_shut_ = true;
  for (const Way& way : ways_) say(Word::stop, ear_of(way));
}

bool Door::may_open() const {
  return is_shut_ &&
         std::all_of(ways_.begin(), ways_.end(), [](const Way& way) { return way.is_quiet || way.has_left; });
}

void Door::open() {
  check("taking messages again", PtlPTEnable(endpoint_.interface.get(), endpoint_.messages.index()));
  is_shut_ = false;
  for (const Ear& stranger : strangers_) say(Word::go, stranger);
  strangers_.clear();
  for (Way& way : ways_) {
    if (!way.is_quiet) continue;
    way.is_quiet = false;
    say(Word::go, ear_of(way));
  }
}

void Door::meet(Way& way) {
  const auto known = std::find_if(strangers_.begin(), strangers_.end(),
                                  [&](const Ear& stranger) { return is_same(stranger.id, way.to.id); });
  if (known != strangers_.end()) {
    way.is_quiet = true;
    strangers_.erase(known);
  } else if (is_shut_) {
    say(Word::stop, ear_of(way));
  }
}

void Door::settle(Way& way) {
  if (way.num_under_way > 0 || way.has_said_quiet) return;
  way.has_said_quiet = true;
  say(Word::quiet, ear_of(way));
}

void Door::heard(const ptl_event_t& event) {
  if (event.ni_fail_type != PTL_NI_OK) {
    throw Error(ExitStatus::run_failed, "Portals 4 failed (a word of another rank)",
                words_of_failure(event.ni_fail_type));
  }
  const Ear from{event.initiator, static_cast<ptl_pt_index_t>(event.hdr_data >> 8)};
  Way* const way = way_to(event.initiator);
  switch (static_cast<Word>(event.hdr_data & 0xff)) {
    case Word::stop:
      return heard_stop(way, from);
    case Word::quiet:
      return heard_quiet(way, from);
    case Word::go:
      return heard_go(way);
    case Word::farewell:
      if (way != nullptr) way->has_left = true;
      return;
  }
}

/// Where there is no way yet, at most a greeting will be under way before both have one.
void Door::heard_stop(Way* way, const Ear& from) {
  if (way == nullptr) return say(Word::quiet, from);
  way->is_held = true;
  settle(*way);
}

void Door::heard_quiet(Way* way, const Ear& from) {
  if (!is_shut_) return say(Word::go, from);
  if (way != nullptr) {
    way->is_quiet = true;
  } else {
    strangers_.push_back(from);
  }
}

void Door::heard_go(Way* way) {
  if (way != nullptr) way->is_held = way->has_said_quiet = false;
}

void Door::say_farewell(const Way& way) { say(Word::farewell, ear_of(way), PTL_ACK_REQ); }

void Door::say(Word word, const Ear& to, ptl_ack_req_t ack) {
  const ptl_hdr_data_t header = ptl_hdr_data_t{endpoint_.words.index()} << 8 | static_cast<std::uint8_t>(word);
  check("a word to another rank", PtlPut(endpoint_.nothing.get(), 0, 0, ack, to.id, to.words, 0, 0, nullptr, header));
}

Way* Door::way_to(ptl_process_t id) {
  const auto found = std::find_if(ways_.begin(), ways_.end(), [&](const Way& way) { return is_same(way.to.id, id); });
  return found == ways_.end() ? nullptr : &*found;
}

}  // namespace leadline::transport::portals4
