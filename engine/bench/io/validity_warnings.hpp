// SPDX-License-Identifier: Apache-2.0
// Validity warnings of a parallel file test, and findings about its ranks and files: a pure function of its result.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bench/io/plan.hpp"
#include "bench/io/result.hpp"
#include "bench/validity_warnings.hpp"
#include "cluster/cluster.hpp"

namespace leadline::bench::io {

/// Findings: stragglers and slow calls first, then what makes the numbers less than they seem: reads from cache, writes
/// that are not durable, more ranks than cores, calls that were continued, hints that are not confirmed.
std::vector<Finding> validity_warnings(const Conditions& conditions, const IoResult& result);

/// Ranks that are there, and whose I/O a lost rank did; nothing where there are none.
std::optional<Finding> left_out_senders(const Plan& plan, std::span<const cluster::LostRank> lost);

/// What is to be said of ranks that have lost the link to the rank that did their I/O; nothing where there are none.
std::optional<Finding> senders_without_link(const Plan& plan, const Losses& losses);

/// I/O ranks of a funnel that were to meet before each write and have lost the link between them; nothing where there
/// are none.
std::optional<Finding> barriers_without_link(const IoRequest& request, const Plan& plan, const Losses& losses);

}  // namespace leadline::bench::io
