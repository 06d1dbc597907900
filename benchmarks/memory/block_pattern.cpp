// SPDX-License-Identifier: Apache-2.0
// How fast one core makes objects for files and looks at them: the engine's own functions, timed run by run.
#include "memory/block_pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

using namespace leadline::memory;

/// What is timed waits for nothing, so this is elapsed time, less what other programs had of the core.
double core_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Returns whether all objects were as they should be.
bool run(std::size_t object_bytes, int num_objects, int num_runs) {
  std::vector<std::byte> object(object_bytes);
  const ObjectPattern pattern{BlockKind::blocks, Touch::full, Check::all};
  bool is_right = true;
  for (int index = 0; index < num_runs; ++index) {
    double fill_ns = 0, check_ns = 0;
    for (int number = 0; number < num_objects; ++number) {
      ObjectKey key;
      key.run = static_cast<std::uint64_t>(index);
      key.object = static_cast<std::uint64_t>(number);
      key.offset_bytes = key.object * object_bytes;
      const double begin_ns = core_time_ns();
      fill_object(object, pattern, key);
      const double filled_ns = core_time_ns();
      is_right = !check_object(object, object.size(), pattern, key) && is_right;
      fill_ns += filled_ns - begin_ns;
      check_ns += core_time_ns() - filled_ns;
    }
    const double bytes = static_cast<double>(object_bytes) * num_objects;
    std::printf("%.3f %.3f\n", bytes / fill_ns, bytes / check_ns);
  }
  return is_right;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s OBJECT_BYTES OBJECTS RUNS\nprints a line a run: GB/s of filling, of checking\n",
                 argv[0]);
    return 2;
  }
  const auto object_bytes = std::strtoull(argv[1], nullptr, 10) / word_size_bytes * word_size_bytes;
  if (!run(object_bytes, std::atoi(argv[2]), std::atoi(argv[3]))) {
    std::fprintf(stderr, "an object was not as it was filled\n");
    return 4;
  }
  return 0;
}
