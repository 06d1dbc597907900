// SPDX-License-Identifier: Apache-2.0
// Which hosts take part in a check with --sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leadline::check {

/// How many of `num_hosts` are meant by "5%" (rounded up) or "20": at least 2, at most all. Throws
/// Error(bad_command_line) where the text is neither.
std::uint64_t sample_size(const std::string& text, std::uint64_t num_hosts);

/// `size` of the hosts 0..num_hosts-1 in ascending order: host 0, which writes the answer, and others, of which every
/// choice is equally likely. A function of the seed; 1 <= size <= num_hosts.
std::vector<std::uint32_t> sampled_hosts(std::uint32_t num_hosts, std::uint64_t size, std::uint64_t seed);

}  // namespace leadline::check
