// SPDX-License-Identifier: Apache-2.0
// Nothing: GoogleTest's headers are compiled with it, once for all test programs (see tests/CMakeLists.txt).
