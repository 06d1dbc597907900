// SPDX-License-Identifier: Apache-2.0
// What the fake driver tells others of its kind, beside what a real one has.
#pragma once

#include <cstddef>

#define FAKE_GPU_SYMBOL extern "C" __attribute__((visibility("default")))

/// Where the bytes of device memory really are; null where these bytes are not all of one allocation.
FAKE_GPU_SYMBOL std::byte* fake_contents(const std::byte* address, std::size_t bytes);

/// Behind everything else in the stream: `step(state)` is called at each look at the stream until it returns true.
FAKE_GPU_SYMBOL int fake_enqueue(void* stream, bool (*step)(void* state), void* state);

/// Of the calling thread; -1 = none.
FAKE_GPU_SYMBOL int fake_current_device();

FAKE_GPU_SYMBOL int fake_num_allocations();
