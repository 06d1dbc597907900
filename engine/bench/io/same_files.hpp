// SPDX-License-Identifier: Apache-2.0
// Whether a file that several hosts write is one file, or a file of the same name on the own disk of each.
#pragma once

#include "bench/io/measure.hpp"

namespace leadline::bench::io {

/// Collective, before anything is written; the files may hold a block of this run behind it. Looks only at files whose
/// openers are on several hosts. Throws AgreedError(something_missing) that names the file and two hosts.
void require_same_files(const Stage& stage);

}  // namespace leadline::bench::io
