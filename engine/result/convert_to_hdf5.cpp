// SPDX-License-Identifier: Apache-2.0
// From any result to HDF5: the structure first, then row after row.
#include <fmt/format.h>

#include <algorithm>

#include "result/convert.hpp"
#include "result/hdf5/hdf5_file.hpp"
#include "result/output_file.hpp"
#include "result/shared_file.hpp"

namespace leadline::result {

namespace {

template <typename Value>
bool is_zero(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), [](Value value) { return value == Value{}; });
}

class ToHdf5 {
 public:
  ToHdf5(LinkResultReader& input, const OutputFile& output) : input_(input), header_(input.header()), output_(output) {}

  void known(const FixedOffsets& offsets);
  void repeat(std::size_t index, const RepeatOffsets& offsets);
  void status(const FixedOffsets& offsets);
  Losses losses() const;

 private:
  void rank(const FixedOffsets& offsets, std::int64_t rank);
  void slice(const RepeatOffsets& offsets, std::size_t repeat_index, std::size_t size_index, std::int64_t rank);
  std::string cut(const std::string& text, std::size_t size) {
    if (text.size() > size) has_cut_ = true;
    return padded(text, size);
  }

  /// A row of a table whose rows are all as long; holes stay holes.
  template <typename Value>
  void put(std::uint64_t table, std::int64_t row, const std::vector<Value>& values) {
    if (!is_zero(values))
      output_.write_at(table + static_cast<std::uint64_t>(row) * bytes_of(values).size(), bytes_of(values));
  }
  void put_text(std::uint64_t table, std::int64_t row, const std::string& text) {
    output_.write_at(table + static_cast<std::uint64_t>(row) * text.size(), text);
  }

  LinkResultReader& input_;
  const LinkResultHeader& header_;
  const OutputFile& output_;
  bool has_cut_ = false;
};

void ToHdf5::known(const FixedOffsets& offsets) {
  output_.write_at(offsets.message_size, bytes_of(header_.message_sizes_bytes));
  for (std::int64_t each = 0; each < header_.num_ranks; ++each) rank(offsets, each);
}

void ToHdf5::rank(const FixedOffsets& offsets, std::int64_t rank) {
  const RankPlacement place = input_.place(rank);
  put_text(offsets.host, rank, cut(place.host, host_size));
  put_text(offsets.device, rank, cut(place.device, device_size));
  put_text(offsets.cpus, rank, cut(place.cpus, cpus_size));
  put(offsets.pid, rank, std::vector{place.pid});
  put(offsets.num_cpus, rank, std::vector{place.num_cpus});
  put(offsets.numa_node, rank, std::vector{place.numa_node});
  if (header_.linktest) {
    const auto location = input_.location(rank);
    put(offsets.location, rank, std::vector(location.begin(), location.end()));
  }
  std::int64_t at = rank;
  for (const std::int32_t seated : input_.ranks_on_seat(rank)) {
    put(offsets.permutations, at, std::vector{seated});
    at += header_.num_ranks;
  }
}

void ToHdf5::repeat(std::size_t index, const RepeatOffsets& offsets) {
  for (std::int64_t rank = 0; rank < header_.num_ranks; ++rank) {
    if (header_.has_rounds) put(offsets.round, rank, input_.rounds(index, rank));
    for (std::size_t size = 0; size < header_.message_sizes_bytes.size(); ++size) slice(offsets, index, size, rank);
  }
}

void ToHdf5::slice(const RepeatOffsets& offsets, std::size_t repeat_index, std::size_t size_index, std::int64_t rank) {
  const std::int64_t row_index = static_cast<std::int64_t>(size_index) * header_.num_ranks + rank;
  const PairRow row = input_.row(repeat_index, size_index, rank);
  put(offsets.count, row_index, row.count);
  put(offsets.time_ns_min, row_index, row.time_ns_min);
  put(offsets.time_ns_median, row_index, row.time_ns_median);
  put(offsets.time_ns_mean, row_index, row.time_ns_mean);
  put(offsets.time_ns_p99, row_index, row.time_ns_p99);
  put(offsets.time_ns_max, row_index, row.time_ns_max);
  if (header_.num_all_to_all_slots == 0) return;
  put(offsets.all_to_all_time_ns, row_index, input_.all_to_all_ns(repeat_index, size_index, rank));
}

void ToHdf5::status(const FixedOffsets& offsets) {
  const std::uint8_t complete = header_.complete ? 1 : 0;
  output_.write_at(offsets.complete, std::as_bytes(std::span(&complete, 1)));
  output_.write_at(offsets.reason, padded(header_.incomplete_reason, reason_size));
}

Losses ToHdf5::losses() const {
  if (!has_cut_) return {};
  return {fmt::format("ends of names (hosts and devices beyond {} characters, cores beyond {})", host_size, cpus_size)};
}

}  // namespace

Losses write_hdf5(LinkResultReader& input, const std::string& path) {
  OutputFile output = OutputFile::create(path, ExistingFile::refuse);
  const LinkResultHeader& header = input.header();
  const FixedOffsets fixed = create_structure(path, header);
  const std::vector<RepeatOffsets> repeats = add_repeats(path, header, header.repeats);
  add_end(path, header);
  ToHdf5 conversion(input, output);
  conversion.known(fixed);
  for (std::size_t index = 0; index < repeats.size(); ++index) conversion.repeat(index, repeats[index]);
  output.sync();
  conversion.status(fixed);
  output.sync();
  output.close();
  return conversion.losses();
}

}  // namespace leadline::result
