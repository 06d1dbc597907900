// SPDX-License-Identifier: Apache-2.0
// Every rank reads some objects and writes others again, at random.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/io/object_loop.hpp"
#include "bench/io/passes.hpp"
#include "bench/io/transfers.hpp"

namespace leadline::bench::io {

class MixedLoop final : public ObjectLoop {
 public:
  /// `work` writes, `reads` reads the same file.
  MixedLoop(PhaseWork& work, Transfers& reads, std::int32_t owner);

  std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) override;

 private:
  void read(const ObjectInPass& which);
  void write(const ObjectInPass& which);

  PhaseWork& work_;
  Transfers& reads_;
  std::int32_t owner_;
};

/// Whether the object with this number is read, rather than written: the same in every run, at random over objects,
/// passes and ranks.
bool is_read_in_mix(const PhaseWork& work, std::int32_t owner, std::uint64_t number);

}  // namespace leadline::bench::io
