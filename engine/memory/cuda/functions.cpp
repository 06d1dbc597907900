// SPDX-License-Identifier: Apache-2.0
// Finds the CUDA driver's library.
#include "memory/cuda/functions.hpp"

#include "core/error.hpp"

namespace leadline::memory::cuda {

DynamicLibrary Functions::open() {
  try {
    return DynamicLibrary("libcuda.so.1");
  } catch (const Error& error) {
    throw Error(error.status(), "there is no CUDA driver here", error.why(), "libcuda.so.1 comes with NVIDIA's driver");
  }
}

}  // namespace leadline::memory::cuda
