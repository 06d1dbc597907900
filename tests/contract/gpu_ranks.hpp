// SPDX-License-Identifier: Apache-2.0
// Ranks whose messages lie in GPU memory, over a real driver or a fake one.
#pragma once

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "contract/forked_ranks.hpp"
#include "core/dynamic_library.hpp"
#include "memory/buffer.hpp"
#include "memory/cuda/driver.hpp"
#include "transport/module.hpp"

namespace leadline::contract {

/// A driver once started bears no fork, so every rank is a child.
class GpuRanks final : public Ranks {
 public:
  void run(int size, const std::string& transport, WaitMode wait, const Body& body) override {
    const auto on_rank = [&](ForkedRank& self) {
      ::setenv(memory::cuda::local_rank_variable, std::to_string(self.rank).c_str(), 1);
      self.run(transport, wait, body);
    };
    run_forked(size, on_rank, Caller::waits);
  }

  /// A GPU does not notice that a process has gone; the watch over the ranks does.
  bool may_lose_a_rank() const override { return false; }

  const memory::Allocator& allocator() const override { return memory::allocator_named("cuda"); }
};

/// Says which driver it is.
class SayDriver final : public testing::Environment {
  void SetUp() override {
    const DynamicLibrary driver("libcuda.so.1");
    Dl_info where{};
    ::dladdr(driver.symbol("cuInit"), &where);
    std::printf("driver: %s\n", where.dli_fname);
  }
};

inline const auto* const say_driver = testing::AddGlobalTestEnvironment(new SayDriver);

/// Both transports of GPU memory: what cannot be had, and where messages may lie.
inline void expect_gpu_memory_alone(const char* transport) {
  const auto module = transport::open_module(transport);
  EXPECT_NE(module->refuses_wait(WaitMode::block), "");
  EXPECT_EQ(module->refuses_memory(memory::Location::gpu), "");
  EXPECT_THAT(module->refuses_memory(memory::Location::host), testing::HasSubstr("--allocator cuda"));
}

}  // namespace leadline::contract
