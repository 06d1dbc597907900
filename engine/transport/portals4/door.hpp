// SPDX-License-Identifier: Apache-2.0
// How a rank that had no room for messages takes messages again, without any order being lost.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "transport/portals4/endpoint.hpp"
#include "transport/portals4/message.hpp"

namespace leadline::transport::portals4 {

/// The library shuts a rank's entry for messages when there is no room, and refuses what comes. If it were opened while
/// messages are under way, one of them might get in before an earlier one that was refused and has to be sent again.
/// So the rank says "stop" to all; each holds its sends, and says "quiet" when none of them is under way; when all are
/// quiet the rank opens the entry and says "go", and everybody sends first what was refused. Whoever is refused holds
/// and becomes quiet by itself. Words go through an entry of their own, which nothing shuts.
class Door {
 public:
  /// `ways`: those that are open.
  Door(Endpoint& endpoint, std::list<Way>& ways);

  bool is_shut() const { return is_shut_; }

  /// The library has shut the entry.
  void shut();

  /// Whether it is shut, and everybody is quiet.
  bool may_open() const;
  void open();

  /// To be called for a way before anything is sent to it.
  void meet(Way& way);

  /// To be called whenever a way is held: says that it is quiet when that is so.
  void settle(Way& way);

  /// A word has come.
  void heard(const ptl_event_t& event);

  /// Says that nothing more will come this way, and asks for an answer, which PTL_EVENT_ACK without user_ptr is.
  void say_farewell(const Way& way);

 private:
  enum class Word : std::uint8_t { stop, quiet, go, farewell };

  /// Where words for a rank go to.
  struct Ear {
    ptl_process_t id{};
    ptl_pt_index_t words = 0;
  };

  static Ear ear_of(const Way& way) { return {way.to.id, way.to.words}; }
  void say(Word word, const Ear& to, ptl_ack_req_t ack);
  void say(Word word, const Ear& to) { say(word, to, PTL_NO_ACK_REQ); }
  Way* way_to(ptl_process_t id);
  void heard_stop(Way* way, const Ear& from);
  void heard_quiet(Way* way, const Ear& from);
  void heard_go(Way* way);

  Endpoint& endpoint_;
  std::list<Way>& ways_;
  std::vector<Ear> strangers_;  ///< that are quiet; there is no way to them yet, or no longer
  bool is_shut_ = false;
};

}  // namespace leadline::transport::portals4
