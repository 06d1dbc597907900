// SPDX-License-Identifier: Apache-2.0
// Words about a parallel file test that its plan and its summary share.
#pragma once

#include <string>

#include "model/io_request.hpp"
#include "model/io_result.hpp"

namespace leadline::output {

/// "N-M-1, strided", "N-M-1 without files".
std::string movement_description(const IoRequest& request);

/// "blocking collective calls, O_DIRECT".
std::string calls_description(const IoRequest& request);

/// "64 objects of 1 MiB".
std::string objects_description(std::uint64_t num_objects, std::uint64_t object_size_bytes);

/// "1.4 %" of a share; "-" for what is not a finite number.
std::string percent_text(double share);

}  // namespace leadline::output
