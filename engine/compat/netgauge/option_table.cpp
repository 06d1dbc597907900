// SPDX-License-Identifier: Apache-2.0
// Netgauge had one parser for what stands before -x and another for what stands behind it, and spelled some options
// differently in its help, its parser and its page: all of that is one table here, and the help follows from it.
#include "compat/netgauge/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compat/netgauge/options.hpp"
#include "compat/values.hpp"
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
    const OptionToken taken = taken_apart(argument);
    const Spellings* const spellings = spellings_of(taken.option, parser_);
    const bool is_glued_flag = spellings != nullptr && spellings->value == Value::none && taken.value;
    if (is_glued_flag && argument.starts_with("--")) refuse(taken.option + " takes no value", "one follows its =");
    if (spellings == nullptr || is_glued_flag) refuse_unknown(argument);

    const GivenOption given{taken.option, value_of(*spellings, taken)};
    const auto [earlier, is_first] = words_.try_emplace(spellings->option, given);
    if (!is_first) {
      refuse(fmt::format("{} is given twice", given.word),
             earlier->second.word == given.word ? "" : fmt::format("{} is the same", earlier->second.word),
             "Leave one of them out");
    }
    return goes_on_after(spellings->option, given);
  }

  std::string value_of(const Spellings& spellings, const OptionToken& taken) {
    if (taken.value) return *taken.value;
    const bool has_next = at_ < arguments_.size();
    switch (spellings.value) {
      case Value::none:
        return {};
      case Value::number_or_none:
        return has_next && is_number(arguments_[at_]) ? arguments_[at_++] : std::string();
      case Value::needed:
        break;
    }
    if (!has_next) refuse(taken.option + " needs a value", "the command line ends there");
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

std::string help() {
  return "Usage: netgauge [OPTIONS] -x ebb [OPTIONS OF ebb]\n"
         "Start it in parallel: mpirun -n 64 netgauge -s 1048576-1048576 -x ebb -r 100, srun netgauge ...\n\n"
         "This is the front end of Leadline for the command lines of Netgauge's effective bisection bandwidth: all\n"
         "ranks in random pairs, round after round of other pairs, each pair exchanging messages both ways at once.\n"
         "\"netgauge -x ebb --help\" lists the options of ebb.\n\n"
         "  -s, --size RANGE      message sizes in bytes: A-B, -B (from 1), or N; 1M is 1048576 (default: 1-131072)\n"
         "  -g, --grad N          sizes of the range: 1 doubles, 2 takes two an octave, 3 four ... (default: 2)\n"
         "  -x, --comm_pattern NAME\n"
         "                        ebb, which has to be given; Netgauge's other patterns are not here\n"
         "  -v, --verbosity N     0 to 3; without N it is 2 (default: 1)\n"
         "      --hostnames       list the host of each rank\n"
         "  -q, --sanity-check    say what the clock is\n"
         "  -w, --manpage         print this\n"
         "  -h, --help            print this\n"
         "  -V, --version         print the version\n\n"
         "These have no effect on ebb, as ever; a line says so:\n"
         "  -m, --mode NAME       mpi, tcp, udp, edp, esp, ib, ibv or dummy; ebb always calls MPI\n"
         "  -c, --tests N         -t, --time S            -i, --init-thread\n"
         "  -o, --output FILE     -f, --full-output FILE  -a, --server\n\n"
         "Exit status: 0 fine, 2 the command line is wrong, 3 something is missing here, 4 the run failed on the "
         "way.\n";
}

std::string pattern_help() {
  return "Usage: netgauge [OPTIONS] -x ebb [OPTIONS OF ebb]\n\n"
         "Options of ebb:\n"
         "  -r, --rounds N        random pairings of each message size (default: 100)\n"
         "  -n, --reps N          exchanges of a round, timed back to back (default: 20)\n"
         "  -b, --buckets N       buckets of the histogram of times; 0: neither these nor the last line (default: 1)\n"
         "  -p, --print_ptrn      print the pairs of each round\n"
         "  -h, --hostname        has no effect, as ever\n"
         "      --help            print this\n"
         "  -V, --version         print the version\n\n"
         "New with Leadline:\n"
         "      --seed N          of the pairings, which are the same for the same seed (default: 1)\n"
         "  -O, --output FILE     keep everything in FILE (.h5 or .json), for leadline report\n"
         "      --overwrite       replace FILE\n";
}

}  // namespace leadline::compat::netgauge
