// SPDX-License-Identifier: Apache-2.0
// A set of cores, in the kernel's notation "0-3,8".
#pragma once

#include <hwloc/bitmap.h>

#include <memory>
#include <string>

namespace leadline::cluster {

class CpuList {
 public:
  CpuList() : bits_(hwloc_bitmap_alloc()) {}
  explicit CpuList(const std::string& text);
  /// Where the calling thread may run.
  static CpuList of_this_thread();

  void add(const CpuList& more) { hwloc_bitmap_or(bits_.get(), bits_.get(), more.bits_.get()); }
  bool contains(const CpuList& part) const { return hwloc_bitmap_isincluded(part.bits_.get(), bits_.get()) != 0; }
  bool operator==(const CpuList& other) const { return hwloc_bitmap_isequal(bits_.get(), other.bits_.get()) != 0; }
  int count() const { return hwloc_bitmap_weight(bits_.get()); }
  std::string text() const;

 private:
  struct Free {
    void operator()(hwloc_bitmap_t bits) const { hwloc_bitmap_free(bits); }
  };
  std::unique_ptr<hwloc_bitmap_s, Free> bits_;
};

}  // namespace leadline::cluster
