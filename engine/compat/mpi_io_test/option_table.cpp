// SPDX-License-Identifier: Apache-2.0
// Where the old program overlooked words that it did not know, this names them. Its help follows from the same table.
#include "compat/mpi_io_test/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "compat/mpi_io_test/options.hpp"
#include "core/error.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

constexpr std::array all_options{
    Option{"type"},
    Option{"collective", Follows::nothing},
    Option{"num_io"},
    Option{"nobj"},
    Option{"strided"},
    Option{"size"},
    Option{"csize"},
    Option{"ahead"},
    Option{"target"},
    Option{"targets"},
    Option{"deletefile", Follows::nothing},
    Option{"barrier", Follows::nothing},
    Option{"touch"},
    Option{"chkdata"},
    Option{"sync", Follows::nothing},
    Option{"sleep"},
    Option{"preallocate"},
    Option{"host"},
    Option{"lhosts", Follows::nothing},
    Option{"dio", Follows::nothing},
    Option{"hints", Follows::hints},
    Option{"op"},
    Option{"nofile", Follows::nothing},
    Option{"norsend", Follows::nothing},
    Option{"output"},
    Option{"errout"},
    Option{"verbose", Follows::nothing},
    Option{"help", Follows::nothing},
    Option{"setup"},
    Option{"print_setup", Follows::nothing},
    // Leadline's own
    Option{"backend"},
    Option{"allow_fragile", Follows::nothing},
    Option{"result"},
    Option{"overwrite", Follows::nothing},
    Option{"timeout"},
};

/// Dashes that a text program has made of the one that is meant.
constexpr std::array<std::string_view, 4> typographic_dashes{"\xE2\x80\x90", "\xE2\x80\x93", "\xE2\x80\x94",
                                                             "\xE2\x88\x92"};

[[noreturn]] void refuse_unknown(const std::string& word, const std::string& origin_text) {
  const std::string problem = fmt::format("mpi_io_test.x knows no argument '{}'{}", word, origin_text);
  for (const std::string_view dash : typographic_dashes) {
    if (word.starts_with(dash)) refuse(problem, "its dash is a typographic one", "Type -");
  }
  if (word == "-" || word == "--") refuse(problem, "a blank follows its dash", "Write for example -touch 3");
  if (!word.starts_with("-")) refuse(problem, "it is no option, and no option before it takes a value");
  refuse(problem, "");
}

const Option* option_named(std::string_view name) {
  const auto* const found = std::ranges::find_if(all_options, [&](const Option& one) { return name == one.name; });
  return found == all_options.end() ? nullptr : found;
}

class Reader {
 public:
  Reader(std::span<const std::string> words, const std::string& origin)
      : words_(words),
        origin_(origin.empty() ? "command line" : origin),
        origin_text_(origin.empty() ? std::string() : fmt::format(" ({})", origin)) {}

  std::vector<GivenOption> read() {
    std::vector<GivenOption> all;
    while (at_ < words_.size()) all.push_back(next());
    return all;
  }

 private:
  GivenOption next() {
    const std::string& word = words_[at_++];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::size_t num_dashes = name.starts_with("--") ? 2 : name.starts_with("-") ? 1 : 0;
    GivenOption given;
    if (num_dashes > 0) given.option = option_named(std::string_view(name).substr(num_dashes));
    if (name == "-h") given.option = option_named("help");
    if (given.option == nullptr) refuse_unknown(word, origin_text_);
    given.word = name + origin_text_;
    given.origin = origin_;
    if (given.option->follows == Follows::nothing) {
      given.value = equals == std::string::npos ? "1" : switch_of(given, word.substr(equals + 1));
      return given;
    }
    if (equals != std::string::npos) {
      refuse(given.word + " takes its value as the next word", fmt::format("'{}' is one word", word),
             fmt::format("Write {} {}", name, word.substr(equals + 1)));
    }
    if (given.option->follows == Follows::hints) {
      take_hints(given);
    } else {
      given.value = needed(given);
    }
    return given;
  }

  static std::string switch_of(const GivenOption& given, const std::string& text) {
    if (text == "0" || text == "1") return text;
    refuse(fmt::format("{} cannot be '{}'", given.word, text), "it is on or off",
           fmt::format("Write -{0}, or -{0}=0", given.option->name));
  }

  const std::string& needed(const GivenOption& given) {
    if (at_ == words_.size()) {
      refuse(given.word + " needs a value",
             origin_text_.empty() ? "the command line ends there" : "the line ends there");
    }
    return words_[at_++];
  }

  void take_hints(GivenOption& given) {
    while (at_ < words_.size() && !words_[at_].starts_with("-")) {
      const std::string& word = words_[at_++];
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos) {
        add_hint(given, word.substr(0, equals), word.substr(equals + 1));
      } else if (at_ < words_.size() && !words_[at_].starts_with("-")) {
        add_hint(given, word, words_[at_++]);
      } else {
        refuse(fmt::format("{} {} needs a value", given.word, word), "hints are pairs of words",
               fmt::format("Write {0} VALUE, or {0}=VALUE, whose value may begin with a dash", word));
      }
    }
    if (given.hints.empty()) refuse(given.word + " needs hints", "no word without a dash follows it");
  }

  static void add_hint(GivenOption& given, const std::string& key, const std::string& value) {
    if (key.empty()) refuse(fmt::format("{} cannot be '={}'", given.word, value), "a hint has a name", where_more_is);
    given.hints.emplace_back(key, value);
  }

  std::span<const std::string> words_;
  std::string origin_, origin_text_;
  std::size_t at_ = 0;
};

}  // namespace

std::span<const Option> options() { return all_options; }

std::vector<GivenOption> options_in(std::span<const std::string> words, const std::string& origin) {
  return Reader(words, origin).read();
}

std::string help() {
  return "Usage: mpi_io_test.x -type N -size SIZE [-nobj N] [-target FILE] [OPTIONS]\n"
         "Start it in parallel: mpirun -np 50 mpi_io_test.x -type 2 -nobj 20480 -size 64K -target FILE, srun ...\n\n"
         "This is the front end of Leadline for the command lines of the MPI-IO Test (user's guide 1.0, 2006): all\n"
         "processes write objects to files through MPI-IO, then read and check them. -name and --name are the same;\n"
         "the later one of two counts.\n\n"
         "How data moves:\n"
         "  -type N             1: N processes to N files, 2: N to 1 file, 3: N to M processes to M files,\n"
         "                      4: N to M processes to 1 file, 5: N processes to M files\n"
         "  -nobj N             objects of a process (default: 1)\n"
         "  -size SIZE          of an object, a multiple of 8 bytes\n"
         "  -strided 0|1        1: object 0 of all processes, then object 1 ...; types 2, 4, 5 (default: 0)\n"
         "  -num_io \"N ...\"     types 3, 4: processes that do I/O, with -host those on each host; type 5: files\n"
         "  -host \"NAME ...\"    types 3, 4: hosts whose lowest processes do I/O\n"
         "  -csize SIZE         types 3, 4: circular buffer of an I/O process (default: what fits into 64M)\n"
         "  -ahead N            types 3, 4: circular buffers beside the one in use (default: 0)\n"
         "  -nofile             types 3, 4: only the messages\n"
         "  -norsend            types 3, 4: I/O processes have no objects of their own\n"
         "  -collective         collective calls instead of independent ones\n"
         "  -barrier            a barrier before each write\n"
         "Files:\n"
         "  -target FILE        %r is the rank, %h the host, %p the process, %% a percent sign\n"
         "                      (default: ./test_file.out, for types 1 and 3 ./test_file.out.%r)\n"
         "  -targets FILE       a file with one such name in each line; needed by type 5\n"
         "  -deletefile         delete the files at the end\n"
         "  -preallocate SIZE   of each file before it is written (default: -1, nothing)\n"
         "  -hints KEY VALUE .. for MPI-IO, up to the next word with a dash; also KEY=VALUE\n"
         "  -dio                direct I/O, asked for by hints\n"
         "Phases and data:\n"
         "  -op write|read      only this (default: both)\n"
         "  -sync               sync before the file is closed after writing\n"
         "  -sleep S            seconds between writing and reading (default: 0)\n"
         "  -touch 1|2|3        never, the first element of each object, or of each page (default: 1)\n"
         "  -chkdata 0|1|2|3    check none, the first, the first two, or all elements of each object (default: 1)\n"
         "Output:\n"
         "  -output FILE        results go to FILE (default: standard output)\n"
         "  -errout FILE        errors go to FILE (default: standard error)\n"
         "  -lhosts             list the hosts\n"
         "  -verbose            also the times of each process\n"
         "  -setup FILE         options from FILE, one in each line; those of the command line go before them\n"
         "  -print_setup        print all settings as such a file, and end\n"
         "  -help               print this\n"
         "New with Leadline:\n"
         "  -backend NAME       mpi-io, mpi-io:ompio, mpi-io:romio or posix (default: mpi-io)\n"
         "  -allow_fragile      make collective calls also where a trial before the run has failed\n"
         "  -result FILE        keep everything in FILE (.h5 or .json), for leadline report\n"
         "  -overwrite          replace that FILE\n"
         "  -timeout S          seconds that a process may be silent, or stuck in one file call (default: 600)\n\n"
         "SIZE is a number, alone or with w (2), b (512), KB, MB, GB, TB (1000) or K, M, G, T, KiB ... (1024).\n"
         "Flags are undone by =0, as in -collective=0. Exit status: 0 fine, 255 otherwise.\n";
}

}  // namespace leadline::compat::mpi_io_test
