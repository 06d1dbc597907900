// SPDX-License-Identifier: Apache-2.0
// How fast this host copies memory.
#pragma once

namespace leadline::memory {

/// Local: what one thread copies from one buffer to another, each as large as the last-level cache, so that neither
/// comes out of it; the best of some dozen pieces. Takes the time of a few hundred megabytes, 0.5 s at most. 0 where
/// there is no memory for it.
double copy_bytes_per_s();

}  // namespace leadline::memory
