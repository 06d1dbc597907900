// SPDX-License-Identifier: Apache-2.0
// One rank of a run of any size, the others simulated: the engine's own addresses, plan, file and measuring stage.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/link/file.hpp"
#include "bench/link/measure.hpp"
#include "bench/link/plan.hpp"
#include "cluster/cluster.hpp"
#include "cluster/gathered_membership.hpp"
#include "model/request.hpp"
#include "transport/transport.hpp"

namespace {

using namespace leadline;

struct Who {
  int rank = 0, size = 1;
};

/// Every rank says what this one says.
class FakeBootstrap final : public cluster::Bootstrap {
 public:
  explicit FakeBootstrap(Who who) : who_(who) {}
  int rank() const override { return who_.rank; }
  int size() const override { return who_.size; }
  std::string launcher() const override { return "simulated"; }
  std::string all_gather(const std::string& own) override {
    std::string all;
    all.reserve(own.size() * static_cast<std::size_t>(who_.size));
    for (int rank = 0; rank < who_.size; ++rank) all += own;
    return all;
  }

 private:
  Who who_;
};

/// Keeps what a real cluster keeps a rank: where everybody listens, and on which host everybody is.
class FakeCluster final : public cluster::Cluster {
 public:
  explicit FakeCluster(Who who)
      : who_(who), bootstrap_(who), addresses_(bootstrap_, {}), host_of_(static_cast<std::size_t>(who.size)) {}

  int rank() const override { return who_.rank; }
  int size() const override { return who_.size; }
  const std::string& host() const override { return host_; }
  std::span<const std::uint32_t> host_of() const override { return host_of_; }
  int num_hosts() const override { return 1; }
  const std::string& host_name(int) const override { return host_; }
  std::string launcher() const override { return "simulated"; }
  bool on_loopback() const override { return true; }
  void set_wait(WaitMode, std::function<void()>) override {}
  std::string all_reduce(std::string own, const std::function<std::string(std::string, std::string_view)>&) override {
    return own;
  }
  void gather(std::string_view own, const std::function<void(int, std::string_view)>& at_root) override {
    if (who_.rank != 0) return;
    for (int rank = 0; rank < who_.size; ++rank) at_root(rank, own);
  }
  std::string broadcast(std::string_view from_root) override { return std::string(from_root); }
  void barrier() override {}
  void agree(const Error* own) override {
    if (own != nullptr) throw Error(*own);
  }
  void go_on_without_lost_ranks() override {}
  std::span<const cluster::LostRank> lost_ranks() const override { return {}; }
  ProgressCounter& progress_counter() override { return progress_counter_; }
  void tell_current_step() override {}
  void set_current_step(std::function<std::string(int)> current_step) override {
    current_step_ = std::move(current_step);
  }
  void set_partial_result(std::function<std::string()>) override {}
  void set_on_failure(std::function<void(const std::string&, const cluster::PartialResults&)>) override {}
  [[noreturn]] void abort(const Error& error) override { throw Error(error); }
  void leave() override {}
  Descriptor meet(int, Deadline, const ProgressFunction&) override { return {}; }

 private:
  Who who_;
  std::string host_ = "simulated";
  FakeBootstrap bootstrap_;
  cluster::GatheredMembership addresses_;
  std::vector<std::uint32_t> host_of_;
  std::function<std::string(int)> current_step_;
  ProgressCounter progress_counter_;
};

/// Answers at once.
class FakeTransport final : public transport::Transport {
 public:
  TransportInfo info() const override { return {"simulated", "", "", true}; }
  void run(const kernel::Exchange&, int partner, const kernel::Buffers&, std::span<Sample> samples) override {
    for (Sample& sample : samples) sample = {1000 + static_cast<std::uint64_t>(partner), 1};
  }
  void all_to_all(const kernel::AllToAllSteps&, const kernel::Buffers&, std::span<Sample>) override {}
  std::optional<kernel::Mismatch> verify(const kernel::Exchange&, int, const kernel::Buffers&, Fill) override {
    return std::nullopt;
  }
  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange&,
                                                                    const kernel::NeighbourBuffers&,
                                                                    const kernel::NeighbourTask&) override {
    return std::nullopt;
  }
  std::unique_ptr<transport::Messages> messages(std::span<const std::int32_t>, std::size_t) override { return nullptr; }

 private:
  transport::Connected open_link(int, Deadline) override { return transport::Connected::again; }
};

void run(Who who, const std::string& path) {
  bench::link::LinkRequest request;
  request.num_messages = request.num_batches = 1;
  request.output = path;
  request.quiet = true;
  FakeCluster cluster(who);
  FakeTransport transport;
  const bench::link::Plan plan = bench::link::plan(request, {who.size, 1, cluster.host_of()});
  bench::link::PairMeter meter(request, plan, cluster, transport);

  bench::link::LinkResult result;
  result.request = request;
  result.num_rounds = plan.num_rounds;
  bench::link::LinkFileSetup setup;
  // Rank 0 alone can open a file for all: the others hear from it where their rows belong.
  setup.format = who.rank == 0 ? ResultFormat::hdf5 : ResultFormat::none;
  setup.existing = result::ExistingFile::overwrite;
  setup.path = who.rank == 0 ? path : "";
  setup.permutation_of_repeat = [](int) { return -1; };
  setup.rounds = [&](int, int) { return std::vector<std::int32_t>(static_cast<std::size_t>(who.size), 1); };
  const auto file = bench::link::open_link_file(cluster, result, std::move(setup));
  file->reserve_repeats(1);
  bench::link::Measured measured;
  bench::link::measure({request, plan, cluster, meter, *file, cluster.host_of()}, measured);
  result.slices = std::move(measured.slices);
  result.complete = true;
  file->finish(result);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s RANKS RANK FILE\n", argv[0]);
    return 2;
  }
  try {
    run({std::atoi(argv[2]), std::atoi(argv[1])}, argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  }
  return 0;
}
