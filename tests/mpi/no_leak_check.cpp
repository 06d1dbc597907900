// SPDX-License-Identifier: Apache-2.0
// Asks the address sanitizer, where it is built in, not to look for leaks: the MPI libraries have some of their own.
extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier): the sanitizer's name

extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
