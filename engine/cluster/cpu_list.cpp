// SPDX-License-Identifier: Apache-2.0
// Sets of cores from the scheduler, and in text.
#include "cluster/cpu_list.hpp"

#include <sched.h>

#include <cerrno>
#include <vector>

namespace leadline::cluster {

CpuList::CpuList(const std::string& text) : CpuList() { hwloc_bitmap_list_sscanf(bits_.get(), text.c_str()); }

CpuList CpuList::of_this_thread() {
  CpuList cpus;
  // The kernel refuses a set smaller than its own, whose size it does not tell.
  for (std::size_t num_cpus = 1024; num_cpus <= (1U << 20); num_cpus *= 2) {
    std::vector<cpu_set_t> set(num_cpus / CPU_SETSIZE);
    const std::size_t size_bytes = set.size() * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, size_bytes, set.data()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    for (std::size_t cpu = 0; cpu < num_cpus; ++cpu) {
      if (CPU_ISSET_S(cpu, size_bytes, set.data())) hwloc_bitmap_set(cpus.bits_.get(), static_cast<unsigned>(cpu));
    }
    break;
  }
  return cpus;
}

std::string CpuList::text() const {
  std::string text(static_cast<std::size_t>(hwloc_bitmap_list_snprintf(nullptr, 0, bits_.get())), '\0');
  hwloc_bitmap_list_snprintf(text.data(), text.size() + 1, bits_.get());
  return text;
}

}  // namespace leadline::cluster
