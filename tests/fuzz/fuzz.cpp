// SPDX-License-Identifier: Apache-2.0
// One fuzzer for every reader of input: LEADLINE_FUZZ_READER picks it, and what became of the inputs is told at the
// end.
#include "fuzz/fuzz.hpp"

#include <fmt/format.h>
#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/io/options.hpp"
#include "cluster/bytes.hpp"
#include "cluster/failure.hpp"
#include "command/text_file.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/units.hpp"
#include "memory/block_header.hpp"
#include "network/parse_network.hpp"
#include "options/values.hpp"
#include "schedule/edge_list.hpp"
#include "synthetic/faults.hpp"
#include "transport/model/fabric.hpp"
#include "transport/settings.hpp"

namespace leadline::fuzz {
namespace {

// What is allocated at this moment, and how much may be.
std::atomic<std::size_t> num_live_bytes = 0;
std::atomic<std::size_t> max_live_bytes = SIZE_MAX;

void on_allocated(const volatile void* /*memory*/, std::size_t size) {
  if ((num_live_bytes += size) > max_live_bytes) fail("more memory than the input accounts for");
}

void on_freed(const volatile void* memory) { num_live_bytes -= __sanitizer_get_allocated_size(memory); }

/// How often the reader came to an end, and with which status an input was refused.
std::map<std::string, std::uint64_t> num_ends;

}  // namespace

void fail(const char* what) {
  max_live_bytes = SIZE_MAX;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void allowing_errors(const std::function<void()>& action) {
  try {
    action();
    ++num_ends["read"];
  } catch (const Error& error) {
    const std::string_view text = error.what();
    const bool is_one_line = std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    expect(!text.empty() && is_one_line, "an error that is not one line of text");
    expect(!error.why().empty() || !error.hint().empty(), "an error without a reason");
    expect(error.problem() != "something unforeseen happened", "an exception that nobody foresaw");
    const auto status = static_cast<int>(error.status());
    expect(status >= 2 && status <= 4, "an error with another status");
    const bool has_died = error.why().starts_with("damaged: the HDF5 library cannot cope");
    ++num_ends[fmt::format("status {}{}", status, has_died ? ", the library died" : "")];
  }
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.good()) fail("cannot write the file to be read");
}

MemoryLimit::MemoryLimit(std::size_t num_bytes) { max_live_bytes = num_live_bytes + num_bytes; }
MemoryLimit::~MemoryLimit() { max_live_bytes = SIZE_MAX; }

namespace {

void read_json(std::string_view text) {
  allowing_errors([&] {
    try {
      const std::string first = Json::parse(text).indented();
      const std::string again = Json::parse(first).in_one_line();
      expect(Json::parse(again).indented() == first, "what is written is read as something else");
    } catch (const JsonError& error) {
      throw Error(ExitStatus::bad_command_line, "no JSON", error.what());  // as parse_json() does
    }
  });
}

void read_topology(std::string_view text) {
  allowing_errors([&] {
    const network::Network network = network::parse_topology("the file", text);
    for (const network::Level& level : network.levels) {
      expect(level.group_of.size() == network.hosts.size(), "a level without all hosts");
      for (const std::uint32_t group : level.group_of) expect(group < level.names.size(), "a group without a name");
    }
    if (network.hosts.empty()) return;
    const std::string bytes = network::packed(network::for_hosts(network, {network.hosts.back()}));
    network::unpacked(bytes);
  });
}

/// Formulas and patterns; names of files are left alone. Large networks take long, and are no mistake.
void read_topology_word(std::string_view text) {
  const std::string word(text.substr(0, 40));
  const std::string digits = "0123456789";
  std::size_t num_digits = 0;
  for (const char letter : word) num_digits += digits.find(letter) != digits.npos ? 1 : 0;
  if (network::is_formula(word) && num_digits < 7) {
    allowing_errors([&] { network::parse_network(word, {"n1", "n2"}); });
  } else {
    allowing_errors([&] { network::parse_network("pattern:" + word, {"r1n1.x", "r1n2", "r22n34-ib0"}); });
  }
}

void read_edges(std::string_view text) {
  allowing_errors([&] {
    for (const schedule::Edge& edge : schedule::parse_edges("the file", text, 64)) {
      expect(edge.first >= 0 && edge.first < 64 && edge.second >= 0 && edge.second < 64, "a rank that is not there");
      expect(edge.first != edge.second, "an edge from a rank to itself");
    }
  });
  allowing_errors(
      [&] { schedule::parse_topology("--pattern", text.substr(0, 40), schedule::ChannelMode::both_ways, 64); });
}

void read_targets(std::string_view text) {
  allowing_errors([&] {
    for (const std::string& name : command::names_in_targets("the file", std::string(text))) {
      expect(!name.empty() && name.find('\n') == name.npos, "a name that is none");
    }
  });
}

void read_faults(std::string_view text) {
  static const network::Network network = network::formula("fat-tree:4x2x2");
  synthetic::Machine machine;
  machine.network = network;
  machine.num_ranks = 32;
  machine.ranks_per_host = 2;
  machine.sockets_per_host = 2;
  allowing_errors([&] { synthetic::parse_faults(std::string(text), "the file", machine); });
}

void read_fabric(std::string_view text) {
  allowing_errors([&] {
    const transport::model::Fabric fabric = transport::model::parse_fabric(std::string(text), "the file");
    for (const std::uint64_t size : {0U, 1U, 1U << 20}) transport::model::travel(fabric, 0, 1, size, 3);
  });
}

void read_values(std::string_view text) {
  const std::string value(text);
  constexpr std::uint64_t most = 1'000'000;
  allowing_errors([&] {
    for (const std::uint64_t size : parse_byte_sizes(value)) expect(!format_bytes(size).empty(), "a size without text");
  });
  allowing_errors([&] { expect(parse_bytes(format_bytes(parse_bytes(value))) == parse_bytes(value), "another size"); });
  allowing_errors([&] { expect(parse_count("--option", value, 3, most) >= 3, "less than the least"); });
  allowing_errors([&] { expect(parse_seconds("--option", value, 0.5) >= 0.5, "less than the least"); });
  allowing_errors([&] { expect(parse_size("--option", value, 3, most) <= most, "more than the most"); });
  allowing_errors([&] { expect(parse_share("--option", value, 0.01) <= 1, "more than all"); });
  allowing_errors([&] { parse_rounds("--option", value); });
  allowing_errors([&] { bench::io::parse_io_ranks("--option", value); });
  allowing_errors([&] { bench::io::parse_hosts("--option", value); });
  allowing_errors([&] { bench::io::parse_hints("--option", value); });
  allowing_errors([&] { bench::io::parse_shift("--option", value); });
  allowing_errors([&] {
    constexpr std::array<transport::Setting, 2> known{{{"one", "N", "a number"}, {"two", "NAME", "a name"}}};
    const std::array<std::string, 1> options{value};
    const transport::Settings settings("tcp", known, value, options);
    settings.number("one", 0, most);
    settings.is_on("two");
  });
}

/// What one rank sends to another: any bytes give nothing, or something that is sent as the same bytes again.
void read_messages(std::string_view bytes) {
  if (const auto failure = cluster::unpacked(bytes)) {
    const auto again = cluster::unpacked(cluster::packed(*failure));
    expect(again && cluster::packed(*again) == cluster::packed(*failure), "another failure");
  }
  if (const auto stall = cluster::unpacked_stall(bytes)) {
    expect(cluster::unpacked_stall(cluster::packed(*stall)).has_value(), "a stall that cannot be sent");
  }
  cluster::Reader process(bytes);
  cluster::take_process(process);
  const auto block = std::as_bytes(std::span(bytes));
  if (const auto header = memory::read_header(block)) memory::is_whole(block, *header);
  ++num_ends["read"];
}

struct NamedReader {
  const char* name;
  void (*read)(std::string_view input);
};

constexpr std::array readers{
    NamedReader{"json", read_json},
    NamedReader{"topology", read_topology},
    NamedReader{"topology_word", read_topology_word},
    NamedReader{"edges", read_edges},
    NamedReader{"targets", read_targets},
    NamedReader{"faults", read_faults},
    NamedReader{"fabric", read_fabric},
    NamedReader{"values", read_values},
    NamedReader{"messages", read_messages},
    NamedReader{"sion", read_sion},
    NamedReader{"result_file", read_result_file},
};

const NamedReader& chosen() {
  const char* const name = std::getenv("LEADLINE_FUZZ_READER");
  for (const NamedReader& reader : readers) {
    if (name != nullptr && std::string_view(reader.name) == name) return reader;
  }
  std::string names;
  for (const NamedReader& reader : readers) names += std::string(" ") + reader.name;
  std::fprintf(stderr, "LEADLINE_FUZZ_READER must be one of%s\n", names.c_str());
  std::exit(2);
}

void tell_ends() {
  for (const auto& [end, count] : num_ends) {
    std::fprintf(stderr, "%s: %s: %llu\n", chosen().name, end.c_str(), static_cast<unsigned long long>(count));
  }
}

}  // namespace
}  // namespace leadline::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  using namespace leadline::fuzz;
  const char* const seeds = std::getenv("LEADLINE_FUZZ_SEEDS");
  if (std::string_view(chosen().name) == "result_file" && seeds != nullptr) write_result_files(seeds);
  std::atexit(tell_ends);
  return __sanitizer_install_malloc_and_free_hooks(on_allocated, on_freed) == 0 ? 1 : 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// An HDF5 file points to its parts by offsets: bytes that were put in or taken out would only break the first of them.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  if (leadline::fuzz::chosen().read != leadline::fuzz::read_result_file || size < 2 * sizeof(std::uint64_t)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::mt19937 random(seed);
  const auto below = [&](std::size_t end) { return std::size_t{random()} % end; };
  const std::array<std::uint64_t, 4> words{0, UINT64_MAX, std::uint64_t{1} << below(64), random()};
  for (std::size_t left = 1 + below(6); left > 0; --left) {
    const std::size_t length = std::size_t{1} << below(4);
    std::memcpy(data + below(size - length), &words.at(below(words.size())), length);
  }
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const leadline::fuzz::NamedReader& reader = leadline::fuzz::chosen();
  reader.read({reinterpret_cast<const char*>(data), size});
  return 0;
}
