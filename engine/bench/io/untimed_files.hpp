// SPDX-License-Identifier: Apache-2.0
// What happens to files outside any timing: before and after phases, and whether a file that several hosts write is
// one file.
#pragma once

#include <optional>
#include <string>

#include "bench/io/contents.hpp"
#include "bench/io/measure.hpp"
#include "bench/io/plan.hpp"
#include "cluster/cluster.hpp"

namespace leadline::bench::io {

struct Share;

/// Local: an existing ordinary file has no bytes any more. Throws Error(run_failed) naming it.
void truncate_file(const std::string& path);

/// Local: throws Error(run_failed) naming the file; one that is not there is fine.
void remove_file(const std::string& path);

/// Local: who wrote the file, as its first block says; nothing where it does not.
std::optional<Writing> writing_of_file(const std::string& path);

/// Collective: who wrote the files that a run reads without writing them, as that of the lowest opener says which is
/// there; `otherwise` where it says nothing.
Writing writing_of_earlier_run(const IoRequest& request, const Plan& plan, const std::vector<std::string>& files,
                               cluster::Cluster& cluster, const Writing& otherwise);

/// Local, before this share of a file is read that this run does not write. Throws Error(bad_command_line) where blocks
/// that lie where they were written are of other objects than are to be read there.
void require_same_layout(const Stage& stage, const Share& share, const Writing& writing);

/// Collective, before anything is written; the files may hold a block of this run behind it. Looks only at files whose
/// openers are on several hosts. Throws AgreedError(something_missing) that names the file and two hosts.
void require_same_files(const Stage& stage);

}  // namespace leadline::bench::io
