// SPDX-License-Identifier: Apache-2.0
// Two threads that write to one number without any order: what the thread sanitizer must report.
#include <thread>

int main() {
  int number = 0;
  std::thread other([&] { ++number; });
  ++number;
  other.join();
  return number == 0 ? 1 : 0;
}
