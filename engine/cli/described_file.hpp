// SPDX-License-Identifier: Apache-2.0
// What result files have of described structs: for `leadline schema hdf5`, and through it for docs/formats/hdf5.md.
#pragma once

#include "core/json.hpp"

namespace leadline::result::hdf5 {

/// One object a group of a file, with `group`, and for each table or attribute its `name`, `kind`, `type`, `unit`,
/// `meaning`, and whether older files lack it.
Json described_groups();

}  // namespace leadline::result::hdf5
