// SPDX-License-Identifier: Apache-2.0
// Asks the address sanitizer, where it is built in, not to look for leaks: the MPI libraries have some of their own.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"  // the sanitizer's name
#endif
extern "C" const char* __asan_default_options();

extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
