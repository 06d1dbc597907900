// SPDX-License-Identifier: Apache-2.0
// GPU memory over a fake driver, and the reason that is given where there is no driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/dynamic_library.hpp"
#include "core/error.hpp"
#include "memory/buffer.hpp"

namespace leadline::memory {
namespace {

/// Ends the process with status 1 where `condition` does not hold.
void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(1);
}

/// Each in processes of its own, started anew, since a driver once open stays open.
class Cuda : public testing::Test {
 protected:
  Cuda() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

using FakeDriver = DynamicLibrary;

int ask(const FakeDriver& driver, const char* what) { return driver.function<int()>(what)(); }

[[noreturn]] void keeps_what_is_copied_in() {
  const FakeDriver driver(FAKE_CUDA);  // the loader then takes it for libcuda.so.1, its name inside
  const Allocator& cuda = allocator_named("cuda");
  {
    Buffer buffer(cuda, 1000);
    std::vector<std::byte> out(1000, std::byte{7});
    cuda.copy_out(out, buffer.data());
    require(out == std::vector<std::byte>(1000), "fresh memory is zero");
    const std::vector<std::byte> in(600, std::byte{9});
    cuda.copy_in(buffer.data(), in);
    cuda.copy_out(out, buffer.data());
    require(out[599] == std::byte{9} && out[600] == std::byte{0}, "what was copied in comes out");
    cuda.copy_in(buffer.data(), {});
    cuda.copy_out({}, buffer.data());
    Buffer moved = std::move(buffer);
    require(ask(driver, "fake_num_allocations") == 1, "there is one allocation");
  }
  require(ask(driver, "fake_num_allocations") == 0, "it is released");
  std::_Exit(0);
}

TEST_F(Cuda, keeps_what_is_copied_in_and_gives_it_back) {
  EXPECT_EXIT(keeps_what_is_copied_in(), testing::ExitedWithCode(0), "");
}

[[noreturn]] void device_of_local_rank(const char* variable, const char* rank, int device) {
  for (const char* other :
       {"LEADLINE_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK", "SLURM_LOCALID"}) {
    unsetenv(other);
  }
  setenv(variable, rank, 1);
  const FakeDriver driver(FAKE_CUDA);
  const Buffer buffer(allocator_named("cuda"), 8);
  require(ask(driver, "fake_current_device") == device, "the device is the local rank's");
  std::_Exit(0);
}

TEST_F(Cuda, spreads_the_ranks_of_a_host_over_its_devices) {
  EXPECT_EXIT(device_of_local_rank("NOTHING", "1", 0), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(device_of_local_rank("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(device_of_local_rank("MPI_LOCALRANKID", "2", 2), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(device_of_local_rank("LEADLINE_LOCAL_RANK", "3", 3), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(device_of_local_rank("SLURM_LOCALID", "5", 1), testing::ExitedWithCode(0), "");
}

[[noreturn]] void fails_with_the_drivers_words() {
  const FakeDriver driver(FAKE_CUDA);
  const Allocator& cuda = allocator_named("cuda");
  const auto what_of = [](const auto& attempt) -> std::string {
    try {
      attempt();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const auto too_much = what_of([&] { Buffer(cuda, std::size_t{2} << 30); });
  require(too_much == "allocator 'cuda' cannot provide 2 GiB (cuMemAlloc: out of memory (2))", too_much.c_str());
  Buffer buffer(cuda, 8);
  const std::vector<std::byte> longer(9);
  const auto wrong = what_of([&] { cuda.copy_in(buffer.data(), longer); });
  require(wrong == "the CUDA driver reports an error (cuMemcpyHtoD: invalid argument (1))", wrong.c_str());
  std::_Exit(0);
}

TEST_F(Cuda, fails_with_the_drivers_words) {
  EXPECT_EXIT(fails_with_the_drivers_words(), testing::ExitedWithCode(0), "");
}

TEST_F(Cuda, says_why_where_there_is_no_driver) {
  try {
    const DynamicLibrary there("libcuda.so.1");
    GTEST_SKIP() << "this machine has a CUDA driver";
  } catch (const Error&) {
  }
  try {
    Buffer(allocator_named("cuda"), 4096);
    FAIL() << "allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.what(), testing::StartsWith("allocator 'cuda' cannot provide 4 KiB (libcuda.so.1: cannot open"));
  }
}

}  // namespace
}  // namespace leadline::memory
