// SPDX-License-Identifier: Apache-2.0
// What users may say to a transport, and how nonsense is refused.
#include "transport/settings.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "core/error.hpp"

namespace leadline::transport {
namespace {

using testing::HasSubstr;

constexpr Setting known[] = {{"device", "NAME", "which"}, {"port", "N", "which"}, {"write", "yes|no", "how"}};

Settings given(const std::string& argument, const std::vector<std::string>& options) {
  return {"verbs", known, argument, options};
}

std::string refusal_of(const std::string& argument, const std::vector<std::string>& options) {
  try {
    given(argument, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  ADD_FAILURE() << "nothing is refused";
  return {};
}

TEST(Settings, NotGivenAreEmpty) {
  const Settings none = given("", {});
  EXPECT_EQ(none.text("device"), "");
  EXPECT_EQ(none.number("port", 1, 2), std::nullopt);
  EXPECT_FALSE(none.is_on("write"));
}

TEST(Settings, TakeWhatStandsBehindTheNameAsTheFirst) {
  const Settings settings = given("rxe0", {"port=2", "write=yes"});
  EXPECT_EQ(settings.text("device"), "rxe0");
  EXPECT_EQ(settings.number("port", 1, 2), 2U);
  EXPECT_TRUE(settings.is_on("write"));
}

TEST(Settings, KeepEqualsSignsAndCommasOfAValue) {
  EXPECT_EQ(given("", {"device=a=b,c"}).text("device"), "a=b,c");
  EXPECT_EQ(given("a=b,c;d", {}).text("device"), "a=b,c;d");
}

TEST(Settings, RefuseWhatTheTransportDoesNotHave) {
  EXPECT_THAT(refusal_of("", {"colour=red"}),
              HasSubstr("verbs has no setting \"colour\" (it has device, port, write)"));
  EXPECT_THAT(refusal_of("", {"port"}), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(refusal_of("", {"=2"}), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(refusal_of("", {"port="}), HasSubstr("it is empty"));
  EXPECT_THAT(refusal_of("rxe0", {"device=rxe1"}), HasSubstr("given twice (\"rxe0\" and \"rxe1\")"));
}

TEST(Settings, RefuseAnythingBehindTheNameOfATransportWithoutAny) {
  const std::vector<std::string> no_options;
  try {
    const Settings settings("tcp", {}, "eth0", no_options);
    FAIL() << settings.text("device");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the transport tcp takes no argument (\"eth0\" stands behind its name)"));
  }
}

TEST(Settings, RefuseValuesThatAreNoNumbersOrWords) {
  for (const char* text : {"port=0", "port=3", "port=two", "port=1x", "port=-1", "port=99999999999999999999"}) {
    EXPECT_THROW(given("", {text}).number("port", 1, 2), Error) << text;
  }
  EXPECT_THROW(given("", {"write=maybe"}).is_on("write"), Error);
  EXPECT_FALSE(given("", {"write=no"}).is_on("write"));
}

}  // namespace
}  // namespace leadline::transport
