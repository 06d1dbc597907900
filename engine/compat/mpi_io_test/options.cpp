// SPDX-License-Identifier: Apache-2.0
// What the guide's options mean for the engine: doubles, blocking calls through MPI-IO, old files replaced.
#include "compat/mpi_io_test/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/io/options.hpp"
#include "compat/mpi_io_test/option_table.hpp"
#include "compat/mpi_io_test/settings.hpp"
#include "compat/values.hpp"
#include "core/error.hpp"
#include "memory/block_pattern.hpp"
#include "options/values.hpp"
#include "result/result_file.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

using schedule::Movement;

class Remarks {
 public:
  Remarks(const Settings& settings, std::vector<std::string>& remarks) : settings_(settings), remarks_(remarks) {}

  /// One for each of these that was given.
  void no_effect(std::initializer_list<const char*> names, std::string_view why) {
    for (const char* name : names) {
      if (settings_.has(name)) remarks_.push_back(fmt::format("-{} has no effect: {}", name, why));
    }
  }

 private:
  const Settings& settings_;
  std::vector<std::string>& remarks_;
};

/// One remark for each such option that was given, without line ends.
void add_remarks(const Settings& settings, const bench::io::IoRequest& request, std::vector<std::string>& remarks) {
  Remarks add(settings, remarks);
  if (!schedule::is_funnel(request.movement)) {
    add.no_effect({"ahead", "csize"}, "only types 3 and 4 have circular buffers");
    add.no_effect({"host"}, "only types 3 and 4 leave I/O to some processes");
  }
  if (request.movement == Movement::n_n && settings.value("strided") == "1") {
    add.no_effect({"strided"}, "a file of type 1 has the objects of one process");
  }
  if (request.no_file) {
    add.no_effect({"collective", "hints", "dio", "barrier", "preallocate", "target", "targets", "deletefile", "sync",
                   "sleep", "chkdata", "backend", "allow_fragile"},
                  "with -nofile nothing is opened");
    return;
  }
  if (request.operations == bench::io::IoOperations::read) {
    add.no_effect({"barrier", "preallocate", "sync", "sleep"}, "with -op read nothing is written");
  }
  if (request.operations == bench::io::IoOperations::write) {
    add.no_effect({"chkdata", "sleep"}, "with -op write nothing is read");
  }
  if (settings.has("dio") && request.cache_path != storage::CachePath::direct) {
    remarks.emplace_back(
        "-dio asks the MPI library by the hints direct_read and direct_write; whether it goes round the page cache is "
        "not confirmed. -backend posix does");
  }
}

struct Suffix {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array suffixes{
    Suffix{"", 1},
    Suffix{"w", 2},
    Suffix{"b", 512},
    Suffix{"KB", 1000},
    Suffix{"K", std::uint64_t{1} << 10},
    Suffix{"KiB", std::uint64_t{1} << 10},
    Suffix{"MB", 1'000'000},
    Suffix{"M", std::uint64_t{1} << 20},
    Suffix{"MiB", std::uint64_t{1} << 20},
    Suffix{"GB", 1'000'000'000},
    Suffix{"G", std::uint64_t{1} << 30},
    Suffix{"GiB", std::uint64_t{1} << 30},
    Suffix{"TB", 1'000'000'000'000},
    Suffix{"T", std::uint64_t{1} << 40},
    Suffix{"TiB", std::uint64_t{1} << 40},
};

constexpr const char* examples =
    "Write for example 65536, 64K (65536) or 64KB (64000); there are w (2), b (512), KB K MB M GB G TB T and KiB to "
    "TiB";

using schedule::Movement;

constexpr const char* program = "mpi_io_test.x";
constexpr const char* default_target = "./test_file.out";
constexpr std::uint64_t usual_buffer_bytes = 64 << 20;
constexpr std::uint64_t max_object_bytes = max_message_size_bytes;
constexpr std::uint64_t max_file_bytes = (std::uint64_t{1} << 63) - 1;
constexpr std::uint64_t max_ahead = 1024;
constexpr std::uint64_t max_io_ranks = 1u << 26;

/// The one way from a setting to a value: `convert(word, text)` where it was given.
template <class Convert>
void take(const Settings& settings, std::string_view name, Convert&& convert) {
  if (const GivenOption* const given = settings.find(name)) convert(given->word, given->value);
}

std::uint64_t number(const Settings& settings, std::string_view name, std::uint64_t otherwise, std::uint64_t min,
                     std::uint64_t max) {
  const GivenOption* const given = settings.find(name);
  return given == nullptr ? otherwise : whole_number(given->word, given->value, {min, max, program});
}

std::uint64_t size_within(const std::string& option, const std::string& text, std::uint64_t min, std::uint64_t max) {
  const std::uint64_t bytes = parse_size(option, text);
  if (bytes < min || bytes > max) {
    throw_bad_value(option, text, fmt::format("it must be from {} to {} bytes", min, max), where_more_is);
  }
  return bytes;
}

std::vector<std::string> words_in(const std::string& list) {
  std::istringstream in(list);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

void take_type(const Settings& settings, bench::io::IoRequest& request) {
  const GivenOption* const type = settings.find("type");
  if (type == nullptr) {
    refuse("-type is missing", "it says how data gets from processes to files",
           "Write -type 1 (N to N files), 2 (N to 1 file), 3 and 4 (through -num_io processes) or 5 (N to M files)");
  }
  request.movement = static_cast<Movement>(whole_number(type->word, type->value, {1, 5, program}));
}

void take_objects(const Settings& settings, bench::io::IoRequest& request) {
  request.num_objects = number(settings, "nobj", 1, 1, max_count);
  const GivenOption* const size = settings.find("size");
  if (size == nullptr) refuse("-size is missing", "it is the size of an object", "Write for example -size 64K");
  request.object_size_bytes = size_within(size->word, size->value, memory::word_size_bytes, max_object_bytes);
  if (request.object_size_bytes % memory::word_size_bytes != 0) {
    throw_bad_value(size->word, size->value, "objects are doubles, of 8 bytes each", "Choose a multiple of 8");
  }
  request.message_sizes_bytes = {request.object_size_bytes};
}

void take_order(const Settings& settings, bench::io::IoRequest& request) {
  if (number(settings, "strided", 0, 0, 1) == 0 || request.movement == Movement::n_n) return;
  if (request.movement == Movement::n_m_m) {
    refuse("-strided 1 and -type 3 do not go together", "a file of type 3 has one writer, and the guide leaves it open",
           "Leave it out, or use -type 4");
  }
  request.order = schedule::Order::strided;
}

/// Without their word for it, types 3 and 4 have as many I/O processes as processes.
void take_io_ranks(const Settings& settings, Command& command) {
  bench::io::IoRequest& request = command.request;
  std::vector<std::int64_t> numbers;
  take(settings, "num_io", [&](const std::string& option, const std::string& text) {
    for (const std::string& word : words_in(text)) {
      numbers.push_back(static_cast<std::int64_t>(whole_number(option, word, {1, max_io_ranks, program})));
    }
    if (numbers.empty()) throw_bad_value(option, text, "it names no number", where_more_is);
    command.shown.num_io = text;
  });
  if (!schedule::is_funnel(request.movement)) {
    if (numbers.size() > 1) {
      refuse(fmt::format("-num_io has {} numbers", numbers.size()), "only types 3 and 4 have one for each host",
             "Give one number");
    }
    if (numbers.empty()) return;
    if (request.movement == Movement::n_m) {
      request.num_files = static_cast<int>(numbers.front());
    } else {
      command.num_ranks_needed = static_cast<std::uint64_t>(numbers.front());
    }
    return;
  }
  request.io_ranks = std::move(numbers);
  take(settings, "host", [&](const std::string& option, const std::string& text) {
    request.io_hosts = words_in(text);
    if (request.io_hosts.empty()) throw_bad_value(option, text, "it names no host", where_more_is);
    if (request.io_ranks.empty()) {
      refuse(option + " needs -num_io", "it says how many processes of each host do I/O",
             "Add -num_io 1, or a number for each host: -num_io \"2 1\"");
    }
  });
  if (request.io_ranks.size() > 1 && request.io_ranks.size() != request.io_hosts.size()) {
    refuse(fmt::format("-num_io has {} numbers, and -host {} names", request.io_ranks.size(), request.io_hosts.size()),
           "each host has one number", "Give as many of both, or one number that counts for each host");
  }
}

void take_buffers(const Settings& settings, bench::io::IoRequest& request) {
  request.num_ahead = static_cast<int>(number(settings, "ahead", 0, 0, max_ahead));
  if (!schedule::is_funnel(request.movement)) {
    request.num_ahead = 0;
    return;
  }
  const std::uint64_t object = request.object_size_bytes;
  request.buffer_size_bytes = std::max<std::uint64_t>(usual_buffer_bytes / object, 1) * object;
  take(settings, "csize", [&](const std::string& option, const std::string& text) {
    request.buffer_size_bytes = size_within(option, text, object, max_object_bytes);
    if (request.buffer_size_bytes % object == 0) return;
    throw_bad_value(option, text, fmt::format("it is no multiple of -size, {} bytes", object),
                    fmt::format("Choose for example {}", request.buffer_size_bytes / object * object));
  });
}

/// A shared file has one name, that of the lowest process which opens it.
void take_targets(const Settings& settings, Command& command) {
  bench::io::IoRequest& request = command.request;
  const bool is_own = request.movement == Movement::n_n || request.movement == Movement::n_m_m;
  const GivenOption* const targets = settings.find("targets");
  const GivenOption* const target = settings.find("target");
  if (targets != nullptr && target != nullptr) {
    refuse(fmt::format("{} and {} do not go together", target->word, targets->word), "each says what files are named",
           "Leave one of them out");
  }
  if (request.movement == Movement::n_m && targets == nullptr) {
    refuse("-type 5 needs -targets", "it has a file for each group of processes", "Name a file with one name a line");
  }
  const auto named = [](const GivenOption& given) {
    if (given.value.empty()) throw_bad_value(given.word, given.value, "it must name a file", where_more_is);
    return given.value;
  };
  if (targets != nullptr) {
    if (!is_own && request.movement != Movement::n_m) {
      refuse(fmt::format("{} has no effect", targets->word), "with types 2 and 4 there is one file", "Use -target");
    }
    request.targets_file = named(*targets);
    return;
  }
  request.target = target != nullptr ? named(*target) : std::string(default_target) + (is_own ? ".%r" : "");
  if (is_own || !request.io_hosts.empty()) return;
  for (std::size_t at = 0; (at = request.target.find('%', at)) != std::string::npos; at += 2) {
    if (request.target.substr(at, 2) != "%r") continue;
    request.target.replace(at, 2, "0");
    command.shown.remarks.emplace_back("%r in -target is 0: processes that share a file find it by one name");
  }
}

void take_phases(const Settings& settings, bench::io::IoRequest& request) {
  take(settings, "op", [&](const std::string& option, const std::string& text) {
    constexpr Named<bench::io::IoOperations> operations[] = {{bench::io::IoOperations::write, "write"},
                                                             {bench::io::IoOperations::read, "read"}};
    request.operations = parse_choice<bench::io::IoOperations>(option, text, operations);
  });
  request.no_file = settings.has("nofile");
  if (settings.has("norsend")) request.self_send = schedule::SelfSend::no;
  if (!schedule::is_funnel(request.movement)) {
    for (const char* name : {"nofile", "norsend"}) {
      if (settings.has(name)) {
        refuse(fmt::format("-{} has no effect", name), "only types 3 and 4 send anything", "Leave it out");
      }
    }
  }
  if (request.no_file) {
    if (request.operations == bench::io::IoOperations::read) {
      refuse("-nofile and -op read do not go together", "without a file nothing can be read", "Leave one of them out");
    }
    request.operations = bench::io::IoOperations::write;
  }
  take(settings, "sleep", [&](const std::string& option, const std::string& text) {
    request.sleep_s = number_from(option, text, 0, program);
  });
  request.sync = settings.has("sync") ? bench::io::SyncTiming::inside : bench::io::SyncTiming::none;
  request.barrier = settings.has("barrier");
  request.delete_files = settings.has("deletefile");
}

void take_data(const Settings& settings, bench::io::IoRequest& request) {
  using memory::Check, memory::Touch;
  constexpr Touch touches[] = {Touch::never, Touch::object, Touch::page};
  constexpr Check checks[] = {Check::none, Check::first, Check::two, Check::all};
  request.file_fill = memory::BlockKind::doubles;
  request.touch = touches[number(settings, "touch", 1, 1, 3) - 1];
  request.check = checks[number(settings, "chkdata", 1, 0, 3)];
}

void take_calls(const Settings& settings, bench::io::IoRequest& request) {
  request.transport = "mpi";
  request.strict_ranks = true;  // as its MPI ends
  request.binding = Binding::none;
  request.calls = storage::FileCalls::blocking;
  request.collective = settings.has("collective") && !request.no_file;
  request.allow_fragile = settings.has("allow_fragile");
  request.backend = "mpi-io";
  take(settings, "backend", [&](const std::string& option, const std::string& text) {
    request.backend = bench::io::parse_backend(option, text);
  });
  if (request.no_file) request.backend = "posix";
  const bool is_posix = request.backend.starts_with("posix");
  if (settings.has("dio") && !request.no_file) {
    if (is_posix) request.cache_path = storage::CachePath::direct;
    if (!is_posix) request.hints = {{"direct_read", "true"}, {"direct_write", "true"}};
  }
  if (const GivenOption* const hints = settings.find("hints"); hints != nullptr && !request.no_file) {
    for (const auto& hint : hints->hints) request.hints.push_back(hint);
  }
  take(settings, "preallocate", [&](const std::string& option, const std::string& text) {
    if (text != "-1") request.preallocate_bytes = size_within(option, text, 0, max_file_bytes);
  });
}

void take_result(const Settings& settings, bench::io::IoRequest& request) {
  request.format = ResultFormat::none;
  request.overwrite = settings.has("overwrite");
  const GivenOption* const result = settings.find("result");
  if (result == nullptr) {
    if (request.overwrite) refuse("-overwrite has no effect", "there is no -result", "Leave it out");
    return;
  }
  constexpr const char* hint = "Choose a name ending in .h5 or .json";
  if (result->value.empty()) throw_bad_value(result->word, result->value, "it must name a file", hint);
  if (result->value == "-") throw_bad_value(result->word, result->value, "it must be a file", hint);
  request.output = result->value;
  request.format = result::format_for(request.output, std::nullopt);
  if (request.format == ResultFormat::sion) {
    throw_bad_value(result->word, result->value, "SION holds the matrices of link tests only", hint);
  }
}

void take_shown(const Settings& settings, Command& command) {
  command.shown.times_of_ranks = settings.has("verbose") ? Flag::on : Flag::off;
  command.shown.hosts = settings.has("lhosts") ? Flag::on : Flag::off;
  command.request.rank_times = settings.has("verbose");
  for (const auto& [name, path] : {std::pair("output", &command.shown.output), {"errout", &command.shown.errout}}) {
    const GivenOption* const given = settings.find(name);
    if (given == nullptr) continue;
    if (given->value.empty()) throw_bad_value(given->word, given->value, "it must name a file", where_more_is);
    *path = given->value;
  }
}

/// Of options that were not given, but for those whose default is that they are not there.
std::map<std::string, std::string> defaults_of(const bench::io::IoRequest& request) {
  std::map<std::string, std::string> defaults{{"nobj", "1"},  {"strided", "0"}, {"ahead", "0"},
                                              {"touch", "1"}, {"chkdata", "1"}, {"sleep", "0"}};
  if (request.targets_file.empty()) defaults.emplace("target", request.target);
  if (schedule::is_funnel(request.movement)) defaults.emplace("csize", std::to_string(request.buffer_size_bytes));
  return defaults;
}

}  // namespace

std::uint64_t parse_size(const std::string& option, const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc::result_out_of_range) throw_bad_value(option, text, "it is too large", examples);
  if (problem != std::errc{}) throw_bad_value(option, text, "it does not begin with a number", examples);
  const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  for (const Suffix& known : suffixes) {
    if (known.name != suffix) continue;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(number, known.factor, &bytes)) {
      throw_bad_value(option, text, "it is too large", examples);
    }
    return bytes;
  }
  throw_bad_value(option, text, "what follows the number is no unit", examples);
}

Command parse(const std::vector<std::string>& arguments, const ReadSetup& read_setup) {
  Command command;
  const auto is_help = [](const std::string& word) { return word == "-help" || word == "--help" || word == "-h"; };
  if (arguments.size() > 1 && std::any_of(arguments.begin() + 1, arguments.end(), is_help)) {
    command.action = Action::help;
    return command;
  }
  const Settings settings(arguments, read_setup);
  bench::io::IoRequest& request = command.request;
  request.command_line = arguments;
  request.timeout_s = bench::io::default_timeout_s;
  take(settings, "timeout", [&](const std::string& option, const std::string& text) {
    request.timeout_s = number_from(option, text, 1, program);
  });
  request.overwrite_targets = true;
  take_type(settings, request);
  take_objects(settings, request);
  take_order(settings, request);
  take_io_ranks(settings, command);
  take_buffers(settings, request);
  take_phases(settings, request);
  take_targets(settings, command);
  take_data(settings, request);
  take_calls(settings, request);
  take_result(settings, request);
  take_shown(settings, command);
  add_remarks(settings, request, command.shown.remarks);
  if (settings.has("print_setup")) {
    command.action = Action::print_setup;
    command.setup = settings.text(defaults_of(request));
  }
  return command;
}

}  // namespace leadline::compat::mpi_io_test
