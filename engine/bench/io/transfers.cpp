// SPDX-License-Identifier: Apache-2.0
// One call, its time, its count; then the next one where something is left.
#include "bench/io/transfers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.hpp"
#include "core/units.hpp"

namespace leadline::bench::io {

using StateTimer = Recorder::StateTimer;
using AgreementTimer = Recorder::AgreementTimer;

void refuse_nothing_written(const std::string& path, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  throw Error(ExitStatus::run_failed,
              fmt::format("writing {} at {} of {} failed", format_bytes(size_bytes), offset_bytes, path),
              "no byte was written, and no reason was given",
              "Look whether the file system is full or a quota is used up");
}

Transfers::Transfers(storage::File& file, std::string path, const TransferSetting& setting, Recorder& recorder,
                     CurrentFileCall& file_call)
    : file_(file),
      path_(std::move(path)),
      setting_(setting),
      recorder_(recorder),
      file_call_(file_call),
      started_(setting.calls == storage::FileCalls::non_blocking ? std::max<std::size_t>(setting.max_started, 1) : 0) {
  if (writes() || started_.empty()) return;
  const AgreementTimer timer(recorder_);
  const InFileCall in_call(file_call_, "asking for the size of");
  readable_bytes_ = file_.size_bytes();
}

std::uint64_t Transfers::once(std::uint64_t offset_bytes, std::span<std::byte> data, bool collective) {
  if (writes()) return collective ? file_.write_at_all(offset_bytes, data) : file_.write_at(offset_bytes, data);
  return collective ? file_.read_at_all(offset_bytes, data) : file_.read_at(offset_bytes, data);
}

const char* Transfers::doing(bool collective) const {
  if (writes()) return collective ? "writing collectively" : "writing";
  return collective ? "reading collectively" : "reading";
}

std::uint64_t Transfers::call(std::uint64_t offset_bytes, std::span<std::byte> data, bool collective) {
  const InFileCall in_call(file_call_, doing(collective), FileRange{offset_bytes, data.size()}, kind_of(collective));
  DoneCall done{offset_bytes, data.size(), 0, recorder_.elapsed_ns(), 0};
  {
    const StateTimer timer(recorder_, IoTime::call);
    done.moved_bytes = once(offset_bytes, data, collective);
  }
  done.end_ns = recorder_.elapsed_ns();
  recorder_.add_call(done);
  if (collective) note_joint(done.begin_ns);
  return done.moved_bytes;
}

void Transfers::note_joint(std::uint64_t begin_ns) {
  recorder_.add_joint_call({static_cast<double>(begin_ns), static_cast<double>(recorder_.elapsed_ns())});
}

std::uint64_t Transfers::go_on(std::uint64_t offset_bytes, std::span<std::byte> data, std::uint64_t moved) {
  if (moved == 0 && writes() && !data.empty()) refuse_nothing_written(path_, offset_bytes, data.size());
  while (moved > 0 && moved < data.size()) {
    recorder_.add_continued();
    const std::uint64_t more = call(offset_bytes + moved, data.subspan(moved), false);
    if (more == 0 && writes()) refuse_nothing_written(path_, offset_bytes + moved, data.size() - moved);
    if (more == 0) break;
    moved += more;
  }
  return moved;
}

std::uint64_t Transfers::move(std::uint64_t offset_bytes, std::span<std::byte> data) {
  const std::uint64_t moved = go_on(offset_bytes, data, call(offset_bytes, data, setting_.collective));
  if (setting_.syncs_each) {
    const InFileCall in_call(file_call_, "syncing");
    const StateTimer timer(recorder_, IoTime::sync);
    file_.sync();
  }
  return moved;
}

void Transfers::launch(storage::Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data) {
  const InFileCall in_call(file_call_, writes() ? "starting a write of" : "starting a read of",
                           FileRange{offset_bytes, data.size()}, kind_of(setting_.collective));
  const StateTimer spending(recorder_, IoTime::call);
  if (writes()) {
    file_.start_write(ticket, offset_bytes, data, setting_.collective);
  } else {
    file_.start_read(ticket, offset_bytes, data, setting_.collective);
  }
}

std::uint64_t Transfers::await(storage::Ticket ticket) {
  const Started& started = started_[ticket];
  const InFileCall in_call(file_call_, writes() ? "waiting for a write of" : "waiting for a read of",
                           FileRange{started.offset_bytes, started.data.size()}, kind_of(setting_.collective));
  const StateTimer spending(recorder_, IoTime::wait);
  // The watch ends the run after the timeout. Where this rank gave up first, the next wait would only begin.
  const std::chrono::duration<double> patience(2 * setting_.timeout_s);
  return file_.wait(ticket, Deadline::after(std::chrono::duration_cast<std::chrono::nanoseconds>(patience)));
}

void Transfers::start(storage::Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data) {
  if (!writes()) {
    const std::uint64_t there = readable_bytes_ - std::min(readable_bytes_, offset_bytes);
    data = data.first(std::min<std::size_t>(data.size(), there));
  }
  Started& started = started_[ticket];
  started = {offset_bytes, recorder_.elapsed_ns(), data, false};
  if (data.empty() && !setting_.collective) return;
  launch(ticket, offset_bytes, data);
  started.is_under_way = true;
}

std::uint64_t Transfers::finish(storage::Ticket ticket) {
  Started& started = started_[ticket];
  if (!std::exchange(started.is_under_way, false)) return 0;
  DoneCall done{started.offset_bytes, started.data.size(), await(ticket), started.begin_ns, 0};
  done.end_ns = recorder_.elapsed_ns();
  if (started.data.empty()) return 0;
  recorder_.add_call(done);
  return go_on(started.offset_bytes, started.data, done.moved_bytes);
}

void Transfers::move_nothing() {
  if (started_.empty()) {
    const InFileCall in_call(file_call_, doing(true), FileRange{}, kind_of(true));
    const StateTimer timer(recorder_, IoTime::call);
    const std::uint64_t begin_ns = recorder_.elapsed_ns();
    once(0, {}, true);
    note_joint(begin_ns);
    return;
  }
  // Nothing of this rank is under way when it has no data any more, so the first ticket is free.
  started_[0] = {};
  launch(0, 0, {});
  await(0);
}

}  // namespace leadline::bench::io
