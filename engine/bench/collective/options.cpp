// SPDX-License-Identifier: Apache-2.0
// Declares the options of `leadline collective`.
#include "bench/collective/request.hpp"
#include "bench/run_options.hpp"
#include "options/values.hpp"

namespace leadline::bench::collective {
namespace {

constexpr Named<Algorithm> algorithm_names[] = {
    {Algorithm::automatic, "auto", "library where the transport has collective operations, else ring"},
    {Algorithm::ring, "ring", "our own over the transport's messages: rings, and for alltoall pairs"},
    {Algorithm::library, "library", "those of the transport's library: mpi, nccl"},
};

constexpr std::uint64_t least_size_bytes = sizeof(float);
constexpr std::uint64_t most_size_bytes = std::uint64_t{1} << 32;  // MPI counts elements in an int
constexpr std::uint64_t most_rounds = 10'000, most_batches = 10'000;
constexpr std::uint64_t most_group_hosts = 1 << 20;

void declare_operations(OptionTable& options, CollectiveRequest& request) {
  options.group("Which operations");
  options.words("--operation", "allreduce, allgather, reduce-scatter, alltoall, with commas between",
                request.operations, [](const std::string& option, const std::string& word) {
                  parse_choice<Operation>(option, word, names_of(Operation{}));
                });
  options.choice("--algorithm", "who does them", request.algorithm);
}

void declare_groups(OptionTable& options, CollectiveRequest& request) {
  options.group("Among whom");
  options.count("--group-hosts",
                "groups of N hosts, chosen at random in each round, at the same time; hosts that are left over rest", 1,
                most_group_hosts, request.group_hosts, "all hosts are one group");
  options.flag("--serial", "groups one after another", request.serial)
      .needs("--group-hosts", "without --group-hosts all hosts are one group");
  options.count("--seed", "seed of the random groups", 0, UINT64_MAX, request.seed)
      .needs("--group-hosts", "nothing but --group-hosts is random");
}

void declare_what(OptionTable& options, CollectiveRequest& request) {
  options.group("What is measured");
  options.sizes("--message-size", "sizes as nccl-tests counts them: the larger buffer of a rank", least_size_bytes,
                most_size_bytes, request.message_sizes_bytes);
  options.count("--iterations", "operations of a timed batch, one behind the other", 1, max_count,
                request.num_iterations);
  options.count("--warmup", "untimed operations before each batch, in which ranks come together", 1, max_count,
                request.num_warmup);
  options.count("--batches", "timed batches of each operation and size in a round", 1, most_batches,
                request.num_batches);
  options.count("--rounds", "so often all operations and sizes", 1, most_rounds, request.rounds);
  options.flag("--verify", "before the timing do every operation once, and check every number", request.verify);
  declare_memory_and_wait(options, request);
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-collective-TIME.h5",
          {{ResultFormat::hdf5, name_of(ResultFormat::hdf5), "all times and all else"},
           {ResultFormat::json, name_of(ResultFormat::json), "summary; without --output on standard output"},
           {ResultFormat::none, name_of(ResultFormat::none)}},
          "print the operations and an estimate of time and memory; measure nothing"};
}

}  // namespace

std::span<const Named<Algorithm>> names_of(Algorithm /*any*/) { return algorithm_names; }

const char* name_of(Algorithm algorithm) { return name_in(algorithm_names, algorithm); }

void declare_options(OptionTable& options, CollectiveRequest& request, std::optional<ResultFormat>& format) {
  declare_who(options, request);
  declare_operations(options, request);
  declare_groups(options, request);
  declare_what(options, request);
  declare_outcome(options, request, format, outcome());
}

}  // namespace leadline::bench::collective
