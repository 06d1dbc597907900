// SPDX-License-Identifier: Apache-2.0
// Reads what IOR prints (github.com/hpc/ior, versions 3.0 to 4.0), and makes a result of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/result.hpp"

namespace leadline::bench::io {

/// The first test of a text.
struct IorText {
  std::string program;  ///< as the text calls it: "IOR-4.0.0"
  IoResult result;      ///< request, number of ranks and hosts, backend, file and phases: all that is known
  std::string host;     ///< that of rank 0; empty = the text does not name it
  std::int64_t num_ranks_per_host = 1;
  /// Options by their names in files: those that the text does not tell, and values that no option of ours has.
  std::vector<std::string> unknown_options;
  std::vector<std::pair<std::string, std::string>> other_values;
  std::vector<std::string> left_out;  ///< what of the text is not here, in words
};

/// Whether IOR says in it who it is. Throws as kind_of_file does.
bool is_ior_text(const std::string& path);

/// Throws Error(bad_command_line) for a text that cannot be a result, Error(run_failed) for one that is cut off or of a
/// run that failed before it measured. Memory: the text.
IorText read_ior_text(const std::string& path);

/// Local: writes an HDF5 result that no rank has a row in. `host_names`: of all hosts, which have the ranks in order;
/// empty = those that the text names, and "host1", "host2" for the others. Returns what of the text is not in it.
/// Throws Error(bad_command_line) for names that do not fit, Error(run_failed) where it cannot be written.
std::vector<std::string> write_hdf5(const IorText& text, const std::vector<std::string>& host_names,
                                    const std::string& path);

}  // namespace leadline::bench::io
