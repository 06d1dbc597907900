// SPDX-License-Identifier: Apache-2.0
// Rank layout, wait mode, memory and transport: what every benchmark decides first.
#include "command/run_environment.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

#include "bench/reductions.hpp"
#include "cluster/adapter.hpp"
#include "cluster/address.hpp"
#include "cluster/near_adapter.hpp"
#include "cluster/rank_placement.hpp"
#include "command/run_collectively.hpp"
#include "command/version.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/units.hpp"
#include "memory/copy_speed.hpp"
#include "memory/cuda/driver.hpp"

namespace leadline::command {
namespace {

std::string kernel_name() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

/// Which of the ranks of its host this is.
std::size_t local_rank(const cluster::Cluster& cluster) {
  const auto before = cluster.host_of().first(static_cast<std::size_t>(cluster.rank()));
  const std::uint32_t own_host = cluster.host_of()[before.size()];
  return static_cast<std::size_t>(std::count(before.begin(), before.end(), own_host));
}

/// The ranks of a host take the networks in turn.
std::string own_rail(const std::string& interfaces, const cluster::Cluster& cluster) {
  const std::vector<std::string> rails = cluster::rails(interfaces);
  return rails.empty() ? std::string() : rails[local_rank(cluster) % rails.size()];
}

/// That of the device which the transport names. TCP uses the network between the hosts; of a library that names none
/// the fastest one is taken, since it should use that.
cluster::Adapter own_adapter(const std::string& device, const RunRequest& request) {
  if (!device.empty()) return cluster::adapter_named(device);
  if (transport::parse_choice(request.transport).name != "tcp") return cluster::fastest_adapter();
  const cluster::SocketAddress address = cluster::address_between_hosts({request.interface, request.host_name_suffix});
  for (const cluster::LocalAddress& one : cluster::local_addresses()) {
    if (one.address.host_text() == address.host_text()) return cluster::adapter_named(one.device);
  }
  return {};
}

std::string packed(const cluster::Adapter& adapter, const std::string& host) {
  return Json::array({adapter.name, adapter.line_rate_bits_s, adapter.pcie_bits_s, adapter.link, adapter.slot,
                      adapter.possible_slot, host})
      .in_one_line();
}

cluster::Adapter unpacked(const Json& json) {
  return {json.at(0).get<std::string>(), json.at(1).get<double>(),      json.at(2).get<double>(),
          json.at(3).get<std::string>(), json.at(4).get<std::string>(), json.at(5).get<std::string>()};
}

void add_to(std::vector<bench::AdapterGroup>& groups, std::string_view text) {
  const Json json = Json::parse(text);
  const cluster::Adapter adapter = unpacked(json);
  auto group = std::ranges::find_if(groups, [&](const bench::AdapterGroup& one) {
    return one.adapter.link == adapter.link && one.adapter.slot == adapter.slot &&
           one.adapter.possible_slot == adapter.possible_slot;
  });
  if (group == groups.end()) group = groups.insert(group, {adapter, 0, {}});
  ++group->num_ranks;
  group->hosts.insert(json.at(6).get<std::string>());
}

/// What this process copies, measured once: the parts of a check run one after the other. 0 where nothing is wanted.
double& own_memory_copy(bool is_wanted) {
  static double bytes_per_s = 0;
  if (is_wanted && bytes_per_s == 0) bytes_per_s = memory::copy_bytes_per_s();
  return bytes_per_s;
}

}  // namespace

RunEnvironment::RunEnvironment(const RunRequest& request, cluster::Cluster& cluster,
                               const transport::LoadedModule& module)
    : request_(request), cluster_(cluster), module_(module) {
  look_around();
  open_transport();
  use_simulated_hosts();
  look_at_adapters();
  look_at_memory();
}

RunEnvironment::~RunEnvironment() { cluster_.set_wait(conditions_.wait, {}); }

/// Who takes part, and under which conditions.
void RunEnvironment::look_around() {
  start_utc_ = utc_now_iso8601();
  // Code that chooses a GPU reads it, here and in the modules; not every launcher sets it.
  ::setenv(memory::cuda::local_rank_variable, std::to_string(local_rank(cluster_)).c_str(), 1);
  const cluster::CoreShare share = bind_ranks();
  placement_ = cluster::local_placement();
  placement_.host = cluster_.host();
  const ClockQuality clock = measure_clock();
  conditions_.ranks_per_core_max = share.ranks_per_core_max;
  conditions_.is_bound = !share.is_unbound;
  conditions_.clock = {clock.source, clock.resolution_ns, clock.cost_ns};
  conditions_.wait = request_.wait;
  if (request_.wait == WaitMode::automatic) {
    conditions_.wait = share.ranks_per_core_max > 1 ? WaitMode::yield : WaitMode::spin;
  }
}

/// Before any memory is set aside, so that it lies near the core. Gives how cores are shared afterwards.
cluster::CoreShare RunEnvironment::bind_ranks() {
  const cluster::CoreShare share = cluster::core_share(cluster_);
  if (share.ranks_per_core_max <= 0.5) second_core_.emplace();
  const bool is_alone_on_host = cluster_.num_hosts() == cluster_.size();
  Binding binding = request_.binding;
  if (share.is_bound) {
    binding_ = "launcher";
    return share;
  }
  if (binding == Binding::automatic) {
    if (is_alone_on_host) why_not_bound_ = "each is alone on its host";
    // Its threads, which would have to share the core, choose their own by the GPU.
    if (transport::parse_choice(request_.transport).name == "nccl") why_not_bound_ = "NCCL has threads of its own";
    if (share.ranks_per_core_max > 1) why_not_bound_ = "a host has more ranks than cores";
    binding = why_not_bound_.empty() ? Binding::core : Binding::none;
  } else if (binding == Binding::none) {
    why_not_bound_ = "--bind none";
  }
  binding_ = name_of(binding);
  if (binding == Binding::none) return share;
  try {
    bind_to(binding);
  } catch (const AgreedError& error) {
    if (request_.binding != Binding::automatic) throw;
    bound_thread_.reset();
    if (second_core_) second_core_.emplace();
    binding_ = name_of(Binding::none);
    why_not_bound_ = error.what();
    return share;
  }
  return cluster::core_share(cluster_);
}

void RunEnvironment::bind_to(Binding binding) {
  run_collectively(cluster_, [&] {
    const auto all = cluster_.host_of();
    const auto num_ranks = static_cast<int>(std::ranges::count(all, all[static_cast<std::size_t>(cluster_.rank())]));
    const cluster::CpuList usable = cluster::CpuList::of_this_thread();
    const cluster::HostCores cores = cluster::host_cores(usable);
    const auto index = static_cast<int>(local_rank(cluster_));
    const cluster::CpuList own = cluster::cpus_of_rank(cores, binding, index, num_ranks);
    // Those behind the first cores, which ranks are bound to.
    if (second_core_ && binding == Binding::core) {
      second_core_ = cluster::cpus_of_rank(cores, binding, num_ranks + index, 2 * num_ranks);
    }
    if (own.count() == 0) {
      throw Error(ExitStatus::bad_command_line, fmt::format("--bind core cannot be had on {}", cluster_.host()),
                  fmt::format("{} ranks, and cores {}", num_ranks, usable.text()),
                  "Start fewer ranks there, or choose --bind numa or none");
    }
    bound_thread_.emplace(own);
    return true;
  });
}

std::string RunEnvironment::binding_text() const {
  const std::string own = fmt::format("this one may use {}", placement_.cpus);
  if (binding_ == "launcher") return "the launcher has bound the ranks; " + own;
  if (binding_ == name_of(Binding::core)) return "each rank is bound to a core of its own; " + own;
  if (binding_ == name_of(Binding::numa)) return "each rank is bound to a NUMA node; " + own;
  return fmt::format("ranks are not bound ({}); {}", why_not_bound_, own);
}

/// Where the user chose no network, and hosts have several adapters on that of the run: the address of the one nearest
/// to this rank. Empty on all ranks unless all are on one network, and some would use another adapter than now. What a
/// library chooses is left to it.
std::string RunEnvironment::near_network() {
  const bool is_ours = transport::parse_choice(request_.transport).name == "tcp";
  if (!is_ours || cluster_.num_hosts() < 2 || !request_.interface.empty() || !request_.host_name_suffix.empty()) {
    return {};
  }
  const auto places = cluster::places_on_network(cluster_.own_address(), cluster::local_addresses());
  const cluster::NetworkPlace* const nearest =
      places.empty() ? nullptr : &cluster::nearest_place(places, placement_.numa_node);
  const std::string network = nearest == nullptr ? "" : cluster::network_text(nearest->local);
  std::set<std::string> networks;
  bool is_another = false;
  cluster_.gather(Json::array({network, nearest != places.data()}).in_one_line(), [&](int, std::string_view text) {
    const Json json = Json::parse(text);
    networks.insert(json.at(0).get<std::string>());
    is_another = is_another || json.at(1).get<bool>();
  });
  const bool is_chosen = is_another && networks.size() == 1 && !networks.contains("");
  if (!Json::parse(cluster_.broadcast(Json::array({is_chosen}).in_one_line())).at(0).get<bool>()) return {};
  near_device_ = nearest->local.device;
  return nearest->local.address.host_text();
}

std::string RunEnvironment::network_choice_text() const {
  if (near_device_.empty()) return {};
  return fmt::format("each rank uses the adapter of its NUMA node on the network between hosts; this one {}",
                     near_device_);
}

void RunEnvironment::open_transport() {
  const std::string near = near_network();
  transport_ = run_collectively(cluster_, [&] {
    const std::string refusal = module_->refuses_wait(conditions_.wait);
    if (!refusal.empty()) {
      throw Error(
          ExitStatus::bad_command_line,
          fmt::format("--wait {} cannot be had with --transport {}", name_of(conditions_.wait), request_.transport),
          refusal, "Choose another --wait");
    }
    const transport::Choice choice = transport::parse_choice(request_.transport);
    return module_->open({.rank = cluster_.rank(),
                          .size = cluster_.size(),
                          .host_of = cluster_.host_of(),
                          .rendezvous = cluster_,
                          .wait = conditions_.wait,
                          .settings = {choice.name, module_->settings, choice.argument, request_.transport_options},
                          .interface = near.empty() ? own_rail(request_.interface, cluster_) : near,
                          .progress_counter = cluster_.progress_counter()});
  });
  const bool needs_progress = transport_->needs_progress();
  cluster_.set_wait(conditions_.wait,
                    needs_progress ? [&transport = *transport_] { transport.progress(); } : std::function<void()>{});
  placement_.device = transport_->info().device;
  conditions_.simulated = transport_->info().simulated;
}

void RunEnvironment::use_simulated_hosts() {
  host_of_ = cluster_.host_of();
  if (transport_->simulated_host(0).empty()) return;
  std::map<std::string, std::uint32_t> indices;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const auto next = static_cast<std::uint32_t>(indices.size());
    simulated_host_of_.push_back(indices.try_emplace(transport_->simulated_host(rank), next).first->second);
  }
  host_of_ = simulated_host_of_;
  placement_.host = transport_->simulated_host(cluster_.rank());
}

/// What most ranks have is what pairs are compared with. The root keeps who has what.
void RunEnvironment::look_at_adapters() {
  if (cluster_.num_hosts() < 2 || conditions_.simulated) return;
  cluster::Adapter own;
  try {
    own = own_adapter(placement_.device, request_);
  } catch (const Error&) {  // what is not known is compared with nothing
  }
  if (own.rate_bytes_per_s() > 0 || !own.slot.empty()) placement_.adapter = own.name;
  std::vector<bench::AdapterGroup>& groups = conditions_.adapters;
  cluster_.gather(packed(own, placement_.host), [&](int, std::string_view text) { add_to(groups, text); });
  std::ranges::stable_sort(groups, std::greater{}, &bench::AdapterGroup::num_ranks);
  const cluster::Adapter usual = groups.empty() ? cluster::Adapter{} : groups.front().adapter;
  const Json told = Json::parse(cluster_.broadcast(packed(usual, "")));
  const cluster::Adapter adapter = unpacked(told);
  if (!(adapter.rate_bytes_per_s() > 0)) return;
  line_rate_ = {fmt::format("{}, {}", adapter.name, adapter.is_limited_by_slot() ? adapter.slot : adapter.link),
                adapter.rate_bytes_per_s()};
}

/// What the first rank of each host copies. One that is slower than most copies once more while the others wait, and
/// the faster copy counts: something else may have run there.
void RunEnvironment::look_at_memory() {
  if (cluster_.num_hosts() < 2 || conditions_.simulated) return;
  const bool is_first = local_rank(cluster_) == 0;
  double& own = own_memory_copy(is_first);
  double usual = 0;
  for (const bool is_last : {false, true}) {
    std::vector<bench::HostMemory> hosts;
    cluster_.gather(is_first ? Json::array({placement_.host, own}).in_one_line() : std::string(),
                    [&](int, std::string_view text) {
                      if (text.empty()) return;
                      const Json json = Json::parse(text);
                      hosts.push_back({json.at(0).get<std::string>(), json.at(1).get<double>()});
                    });
    const double median = bench::median_copy(hosts);
    usual = Json::parse(cluster_.broadcast(Json::array({median}).in_one_line())).at(0).get<double>();
    if (is_last) conditions_.memories = std::move(hosts);
    if (!is_last && is_first && own < bench::least_share_of_copy * usual) {
      own = std::max(own, memory::copy_bytes_per_s());
    }
  }
  memory_copy_ = {usual};
}

bench::RankLayout RunEnvironment::rank_layout() const {
  std::vector<int> num_ranks_on(static_cast<std::size_t>(cluster_.num_hosts()));  // memory is shared on real hosts
  for (const std::uint32_t host : cluster_.host_of()) ++num_ranks_on[host];
  return {cluster_.size(), *std::max_element(num_ranks_on.begin(), num_ranks_on.end()), host_of_};
}

Provenance RunEnvironment::provenance() const {
  Provenance provenance;
  provenance.version = version;
  provenance.commit = commit;
  provenance.start_utc = start_utc_;
  provenance.launcher = cluster_.launcher();
  provenance.kernel = kernel_name();
  provenance.transport = transport_->info();
  provenance.line_rate = line_rate_;
  provenance.memory_copy = memory_copy_;
  provenance.clock = conditions_.clock;
  provenance.wait = conditions_.wait;
  provenance.binding = binding_;
  provenance.control_plane_on_loopback = cluster_.on_loopback();
  provenance.num_ranks = cluster_.size();
  provenance.num_hosts = static_cast<int>(*std::max_element(host_of_.begin(), host_of_.end())) + 1;
  return provenance;
}

Connections RunEnvironment::connections() const {
  const transport::ConnectionTimes& times = transport_->connection_times();
  Connections own;
  own.num_opened = times.num_opened;
  own.total_s_max = 1e-9 * static_cast<double>(times.total_ns);
  own.longest_s = 1e-9 * static_cast<double>(times.longest_ns);
  own.longest_rank = times.num_opened > 0 ? cluster_.rank() : -1;
  own.longest_partner = times.longest_partner;
  return bench::merged_over_ranks(cluster_, own, [](const Connections& left, const Connections& right) {
    Connections both = left.longest_s >= right.longest_s ? left : right;
    both.num_opened = left.num_opened + right.num_opened;
    both.total_s_max = std::max(left.total_s_max, right.total_s_max);
    return both;
  });
}

void RunEnvironment::check_memory_kind() const {
  const memory::Location location = memory::allocator_named(request_.allocator).location;
  const std::string refusal = module_->refuses_memory(location);
  if (refusal.empty()) return;
  throw Error(ExitStatus::something_missing,
              fmt::format("transport {} cannot use {} memory", request_.transport, memory::name_of(location)), refusal,
              "Choose another --transport or --allocator");
}

std::map<std::uint32_t, std::string> RunEnvironment::host_names() const {
  std::map<std::uint32_t, std::string> names;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const std::uint32_t host = host_of_[static_cast<std::size_t>(rank)];
    if (names.contains(host)) continue;
    names.emplace(host, simulated_host_of_.empty() ? cluster_.host_name(rank) : transport_->simulated_host(rank));
  }
  return names;
}

std::vector<HostRanks> RunEnvironment::hosts_with_ranks(const std::map<std::uint32_t, std::string>& names) const {
  std::vector<std::vector<int>> ranks_on(names.size());
  if (names.empty()) return {};
  for (std::size_t rank = 0; rank < host_of_.size(); ++rank) ranks_on[host_of_[rank]].push_back(static_cast<int>(rank));
  std::vector<HostRanks> hosts;
  for (const auto& [index, name] : names) hosts.push_back({name, number_ranges(ranks_on[index])});
  return hosts;
}

}  // namespace leadline::command
