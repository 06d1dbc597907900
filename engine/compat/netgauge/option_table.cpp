// SPDX-License-Identifier: Apache-2.0
// Netgauge had one parser for what stands before -x and another for what stands behind it, and spelled some options
// differently in its help, its parser and its page: all of that is one table here.
#include "compat/netgauge/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.hpp"

namespace leadline::compat::netgauge {
namespace {

constexpr const char* where_more_is = "See netgauge -h and netgauge -x ebb --help";

enum class Parser : std::uint8_t { before_x, behind_x };

enum class Value : std::uint8_t { none, needed, number_or_none };

struct Spellings {
  Option option;
  Parser parser;  ///< whose option it was; it counts only where both know the word
  Value value;
  std::vector<std::string> words;
};

const std::vector<Spellings>& table() {
  using enum Option;
  using enum Parser;
  static const std::vector<Spellings> all{
      {size, before_x, Value::needed, {"-s", "--size"}},
      {grad, before_x, Value::needed, {"-g", "--grad", "--gradation"}},
      {tests, before_x, Value::needed, {"-c", "--tests", "--testcount"}},
      {time, before_x, Value::needed, {"-t", "--time"}},
      {summary_file, before_x, Value::needed, {"-o", "--output"}},
      {full_output, before_x, Value::needed, {"-f", "--full-output", "--fulltestresults"}},
      {mode, before_x, Value::needed, {"-m", "--mode"}},
      {pattern, before_x, Value::needed, {"-x", "--comm_pattern", "--com_pattern", "--pattern"}},
      {verbosity, before_x, Value::number_or_none, {"-v", "--verbosity"}},
      {host_names, before_x, Value::none, {"--hostnames"}},
      {init_thread, before_x, Value::none, {"-i", "--init-thread"}},
      {sanity_check, before_x, Value::none, {"-q", "--sanity-check"}},
      {server, before_x, Value::none, {"-a", "--server", "--servermode"}},
      {manual_page, before_x, Value::none, {"-w", "--manpage", "--writemanpage"}},
      {help, before_x, Value::none, {"-h", "--help"}},
      {version, before_x, Value::none, {"-V", "--version"}},
      {rounds, behind_x, Value::needed, {"-r", "--rounds"}},
      {reps, behind_x, Value::needed, {"-n", "--reps"}},
      {buckets, behind_x, Value::needed, {"-b", "--buckets"}},
      {print_pairs, behind_x, Value::none, {"-p", "--print_ptrn"}},
      {host_name, behind_x, Value::none, {"-h", "--hostname"}},
      {pattern_help, behind_x, Value::none, {"--help"}},
      {seed, behind_x, Value::needed, {"--seed"}},
      {result, behind_x, Value::needed, {"-O", "--output"}},
      {overwrite, behind_x, Value::none, {"--overwrite"}},
  };
  return all;
}

[[noreturn]] void refuse(const std::string& problem, const std::string& why, const std::string& hint = where_more_is) {
  throw Error(ExitStatus::bad_command_line, problem, why, hint);
}

const Spellings* spellings_of(const std::string& word, Parser parser) {
  const Spellings* found = nullptr;
  for (const Spellings& one : table()) {
    if (std::find(one.words.begin(), one.words.end(), word) == one.words.end()) continue;
    if (found == nullptr || one.parser == parser) found = &one;
  }
  return found;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

[[noreturn]] void refuse_unknown(const std::string& word) {
  const std::string problem = fmt::format("netgauge knows no argument '{}'", word);
  if (word == "--nooutput") refuse(problem, "Netgauge's help had it, but not its parser");
  if (!word.starts_with("-")) refuse(problem, "it is no option, and no option before it takes a value");
  refuse(problem, "");
}

/// A word as typed: "--size=1", "-s1" and "-s" are all the option "-s" or "--size".
struct Taken {
  std::string word;
  std::optional<std::string> attached;
};

Taken taken_apart(const std::string& argument) {
  if (argument.starts_with("--")) {
    const auto equals = argument.find('=');
    if (equals == std::string::npos) return {argument, std::nullopt};
    return {argument.substr(0, equals), argument.substr(equals + 1)};
  }
  if (argument.size() < 3 || argument[0] != '-') return {argument, std::nullopt};
  return {argument.substr(0, 2), argument.substr(2)};
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  GivenOptions read() {
    while (at_ < arguments_.size() && take()) {
    }
    return std::move(words_);
  }

 private:
  /// False: the rest is for others.
  bool take() {
    const std::string& argument = arguments_[at_++];
    const Taken taken = taken_apart(argument);
    const Spellings* const spellings = spellings_of(taken.word, parser_);
    const bool is_glued_flag = spellings != nullptr && spellings->value == Value::none && taken.attached;
    if (is_glued_flag && argument.starts_with("--")) refuse(taken.word + " takes no value", "one follows its =");
    if (spellings == nullptr || is_glued_flag) refuse_unknown(argument);

    const GivenOption given{taken.word, value_of(*spellings, taken)};
    const auto [earlier, is_first] = words_.try_emplace(spellings->option, given);
    if (!is_first) {
      refuse(fmt::format("{} is given twice", given.word),
             earlier->second.word == given.word ? "" : fmt::format("{} is the same", earlier->second.word),
             "Leave one of them out");
    }
    return goes_on_after(spellings->option, given);
  }

  std::string value_of(const Spellings& spellings, const Taken& taken) {
    if (taken.attached) return *taken.attached;
    const bool has_next = at_ < arguments_.size();
    switch (spellings.value) {
      case Value::none:
        return {};
      case Value::number_or_none:
        return has_next && is_number(arguments_[at_]) ? arguments_[at_++] : std::string();
      case Value::needed:
        break;
    }
    if (!has_next) refuse(taken.word + " needs a value", "the command line ends there");
    return arguments_[at_++];
  }

  bool goes_on_after(Option option, const GivenOption& given) {
    switch (option) {
      case Option::pattern:
        parser_ = Parser::behind_x;
        return given.value == "ebb";
      case Option::help:
      case Option::pattern_help:
      case Option::manual_page:
      case Option::version:
        return false;
      default:
        return true;
    }
  }

  const std::vector<std::string>& arguments_;
  std::size_t at_ = 1;
  Parser parser_ = Parser::before_x;
  GivenOptions words_;
};

}  // namespace

GivenOptions given_options(const std::vector<std::string>& arguments) { return Reader(arguments).read(); }

}  // namespace leadline::compat::netgauge
