// SPDX-License-Identifier: Apache-2.0
// Libraries open, symbols are found, and what is not there has a reason.
#include "core/dynamic_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "core/error.hpp"

namespace leadline {
namespace {

using testing::HasSubstr;

TEST(dynamic_library, calls_a_function_of_a_library) {
  const DynamicLibrary library("libm.so.6");
  EXPECT_EQ(library.path(), "libm.so.6");
  EXPECT_EQ(library.function<double(double)>("floor")(3.5), 3.0);
}

TEST(dynamic_library, stays_open_when_moved) {
  DynamicLibrary first("libm.so.6");
  DynamicLibrary second(std::move(first));
  EXPECT_EQ(second.function<double(double)>("floor")(2.5), 2.0);
  DynamicLibrary third("libc.so.6");
  third = std::move(second);
  EXPECT_EQ(third.path(), "libm.so.6");
  EXPECT_EQ(third.function<double(double)>("floor")(1.5), 1.0);
}

TEST(dynamic_library, missing_library_has_the_loaders_reason) {
  try {
    DynamicLibrary library("libleadline_is_not_here.so.7");
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.problem(), HasSubstr("libleadline_is_not_here.so.7"));
    EXPECT_THAT(error.why(), HasSubstr("cannot open shared object file"));
  }
}

TEST(dynamic_library, file_that_is_no_library_has_the_loaders_reason) {
  try {
    DynamicLibrary library("/proc/self/status");
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_FALSE(error.why().empty());
  }
}

TEST(dynamic_library, empty_name_is_not_the_program_itself) { EXPECT_THROW(DynamicLibrary(""), Error); }

TEST(dynamic_library, missing_symbol_is_named) {
  const DynamicLibrary library("libm.so.6");
  try {
    library.symbol("sounding_line");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.problem(), HasSubstr("sounding_line"));
    EXPECT_THAT(error.why(), HasSubstr("undefined symbol"));
  }
}

}  // namespace
}  // namespace leadline
