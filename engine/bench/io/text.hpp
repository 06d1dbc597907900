// SPDX-License-Identifier: Apache-2.0
// A parallel file test as text for people: its plan, its progress, its summary, and what a file has of it.
#pragma once

#include <memory>
#include <string>

#include "bench/io/hdf5_reader.hpp"
#include "bench/io/output.hpp"
#include "bench/io/plan.hpp"
#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::bench::io {

/// The phase that stands for an operation: of the complete ones that whose rate is nearest to the median of all; null
/// where there is none.
const PhaseSummary* phase_for(const IoResult& result, IoOperation operation);

/// All rates go in one unit.
Unit unit_of_rates(const IoResult& result);

/// "write: 2.345 GiB/s, the median of 5 (2.100 to 2.500; mean 2.300 ± 0.120, 95 %)" and below it where the bytes came
/// from, or whether they are on the storage; for each operation.
std::string io_headlines(const IoResult& result);

/// Every phase with all its rates, and what these are; without those of metadata.
std::string io_rates_table(const IoResult& result);

/// Every phase of metadata with its rate, and the latencies of its operations.
std::string io_metadata_table(const IoResult& result);

/// "12345", "0.1234"; "-" where it is not known.
std::string per_second(double operations_per_s);

/// Operations on files and directories as a whole have operations_per_s, others bytes_per_s.
double rate_of(const PhaseSummary& phase);

/// For standard output, at the end: what was done; the rate of each operation and what it includes; times of ranks,
/// latencies, throughput over time; where reads came from and whether writes are durable; what is slow; hints; wrong
/// data; findings. `path`: where the result lies, empty = nowhere.
std::string io_summary(const IoResult& result, const std::string& path);

/// On standard error; mute with --quiet.
std::unique_ptr<Progress> make_io_progress(const IoRequest& request);

/// For --dry-run.
std::string io_plan_text(const IoRequest& request, const Plan& plan);

/// "N-M-1, strided", "N-M-1 without files".
std::string movement_description(const IoRequest& request);

/// "blocking collective calls, O_DIRECT".
std::string calls_description(const IoRequest& request);

/// "1 directory", "12 directories".
std::string directories_description(std::uint64_t num);

/// "1000 directories, then 1000 files of 4 KiB".
std::string items_description(const IoRequest& request, std::uint64_t num_items);

/// "64 objects of 1 MiB".
std::string objects_description(std::uint64_t num_objects, std::uint64_t object_size_bytes);

/// For `leadline info`; reads as much of the result as that takes.
output::ResultInfo info_of(const Hdf5Reader& reader);

/// Lines, a second apart, for what is no terminal.
std::unique_ptr<Progress> make_io_lines(const IoRequest& request, output::ProgressOutlet outlet);

/// One line that is redrawn.
std::unique_ptr<Progress> make_io_bar(const IoRequest& request, output::ProgressOutlet outlet);

}  // namespace leadline::bench::io
