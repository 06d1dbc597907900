// SPDX-License-Identifier: Apache-2.0
// Opens a result and reads its head, checking shapes and types before anything is read.
#include "result/hdf5/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "result/file_kind.hpp"

namespace leadline::result::hdf5 {
namespace {

constexpr hsize_t max_ranks = 1 << 26;
constexpr std::int64_t places_at_once = 1 << 14;

}  // namespace

std::string read_benchmark(const Input& file, const std::string& path) {
  if (!file.has_attribute("/", "format") || file.text_attribute("/", "format") != "leadline") {
    throw Error(ExitStatus::bad_command_line, "cannot read '" + path + "'", "HDF5, but not a result of leadline",
                "A result of leadline or LinkTest is wanted");
  }
  return file.text_attribute("/", "benchmark");
}

void RunReader::open(const char* benchmark, RunHeader& header, const std::function<void()>& read_header,
                     const std::function<void()>& touch) {
  const auto read = [&] {
    reading(path_, [&] {
      file_.emplace(path_);
      read_run_part(benchmark, header);
      read_header();
    });
  };
  try {
    expect_readable(path_, [&] {
      read();
      (void)placement(0);
      touch();
      file_.reset();
    });
    read();
  } catch (const Error& error) {
    if (error.status() != ExitStatus::run_failed || header.format_version <= rounds_format_version) throw;
    throw Error(error.status(), error.problem(),
                fmt::format("format version {}; this program knows up to {}: {}", header.format_version,
                            rounds_format_version, error.why()),
                "Use a newer leadline");
  }
}

void RunReader::read_run_part(const char* benchmark, RunHeader& header) {
  if (const std::string found = read_benchmark(*file_, path_); found != benchmark) {
    throw Error(ExitStatus::bad_command_line, "cannot read '" + path_ + "'",
                fmt::format("a result of leadline {}, not of leadline {}", found, benchmark),
                "Use 'leadline info' or 'leadline report' for it");
  }
  header.format_version = static_cast<std::int32_t>(file_->whole_attribute("/", "format_version"));
  header.nonce = file_->text_attribute("/", "nonce");
  const Shape ranks = file_->shape_of("ranks/host");
  if (ranks.size() != 1 || ranks[0] == 0 || ranks[0] > max_ranks || ranks[0] > file_->size_bytes()) {
    file_->fail("/ranks/host is no list of ranks");
  }
  header.num_ranks = num_ranks_ = static_cast<std::int64_t>(ranks[0]);

  header.provenance.clear();
  for (const std::string& name : file_->attribute_names("/provenance")) {
    if (name == "end_utc") {
      header.end_utc = file_->text_attribute("/provenance", name);
    } else {
      header.provenance.emplace_back(name, file_->attribute("/provenance", name));
    }
  }
  header.options.clear();
  for (const std::string& name : file_->attribute_names("/options")) {
    header.options.emplace_back(name, file_->text_attribute("/options", name));
  }
  const Shape sizes = file_->shape_of("message_size_bytes");
  if (sizes.size() != 1 || sizes[0] > file_->size_bytes()) file_->fail("/message_size_bytes is no list");
  header.message_sizes_bytes = file_->numbers<std::uint64_t>("message_size_bytes", {sizes[0]}, {{0}, {sizes[0]}});
  if (header.message_sizes_bytes.empty()) file_->fail("there is no message size");
  header.complete = file_->numbers<std::int32_t>("status/complete", {}, {{}, {}})[0] != 0;
  header.incomplete_reason = file_->text("status/reason", {}, {});
  if (file_->has("network")) header.network = file_->text("network", {}, {});
  if (file_->has("summary")) header.summary = file_->text("summary", {}, {});
}

RankPlacement RunReader::placement(std::int64_t rank) const {
  const auto num_read = static_cast<std::int64_t>(places_.size());
  if (rank < first_place_ || rank >= first_place_ + num_read) {
    const std::int64_t first = rank - rank % places_at_once, num = std::min(places_at_once, num_ranks_ - first);
    places_ = reading(path_, [&] { return read_places(first, num); });
    first_place_ = first;
  }
  return places_[static_cast<std::size_t>(rank - first_place_)];
}

std::vector<RankPlacement> RunReader::read_places(std::int64_t first, std::int64_t num) const {
  const Shape all{static_cast<hsize_t>(num_ranks_)};
  const Box box{{static_cast<hsize_t>(first)}, {static_cast<hsize_t>(num)}};
  std::vector<RankPlacement> places(static_cast<std::size_t>(num));
  const auto read_texts = [&](const char* name, std::string RankPlacement::*text) {
    auto texts = file_->texts(std::string("ranks/") + name, all, box);
    for (std::size_t index = 0; index < places.size(); ++index) places[index].*text = std::move(texts[index]);
  };
  const auto read_numbers = [&](const char* name, std::int32_t RankPlacement::*number) {
    const auto numbers = file_->numbers<std::int32_t>(std::string("ranks/") + name, all, box);
    for (std::size_t index = 0; index < places.size(); ++index) places[index].*number = numbers[index];
  };
  read_texts("host", &RankPlacement::host);
  read_texts("device", &RankPlacement::device);
  read_texts("cpus", &RankPlacement::cpus);
  read_numbers("pid", &RankPlacement::pid);
  read_numbers("num_cpus", &RankPlacement::num_cpus);
  read_numbers("numa_node", &RankPlacement::numa_node);
  if (file_->has("ranks/adapter")) read_texts("adapter", &RankPlacement::adapter);  // older files lack it
  return places;
}

}  // namespace leadline::result::hdf5
