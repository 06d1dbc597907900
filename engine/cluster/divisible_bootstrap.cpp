// SPDX-License-Identifier: Apache-2.0
// Every rank knows the endpoints of all, and makes the secret of the part out of that of the run.
#include "cluster/divisible_bootstrap.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <string_view>

#include "cluster/gathered_membership.hpp"
#include "cluster/keyed_hash.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

/// Not to be had without that of the run.
std::string secret_of_part(std::string_view secret_of_run) {
  return hash_of("a part of the ranks: " + std::string(secret_of_run));
}

Descriptor second_of(const Descriptor& listener) {
  Descriptor second(::fcntl(listener.fd(), F_DUPFD_CLOEXEC, 0));
  if (!second) {
    throw Error(ExitStatus::run_failed, "cannot use a listening socket twice", system_error_text(errno),
                more_descriptors);
  }
  return second;
}

std::shared_ptr<Membership> membership_of(const std::shared_ptr<Bootstrap>& bootstrap, const NetworkChoice& network) {
  if (Membership* const own = bootstrap->membership()) return {bootstrap, own};
  return std::make_shared<GatheredMembership>(*bootstrap, network);
}

}  // namespace

DivisibleBootstrap::DivisibleBootstrap(std::unique_ptr<Bootstrap> of_run, const NetworkChoice& network)
    : of_run_(std::move(of_run)), ranks_(static_cast<std::size_t>(of_run_->size())), rank_(of_run_->rank()) {
  of_all_ = membership_of(of_run_, network);
  secret_ = of_all_->secret();
  std::iota(ranks_.begin(), ranks_.end(), 0);
}

DivisibleBootstrap::DivisibleBootstrap(const DivisibleBootstrap& all, std::span<const int> ranks, Descriptor listener)
    : of_run_(all.of_run_),
      of_all_(all.of_all_),
      ranks_(ranks.begin(), ranks.end()),
      rank_(static_cast<int>(std::ranges::find(ranks, all.rank_) - ranks.begin())),
      listener_(std::move(listener)),
      secret_(secret_of_part(all.secret_)) {}

std::unique_ptr<Bootstrap> DivisibleBootstrap::part(std::span<const int> ranks) {
  if (auto* const library = dynamic_cast<KnowsParts*>(of_run_.get())) library->go_on_with(ranks);
  if (std::ranges::find(ranks, rank_) == ranks.end()) return nullptr;
  return std::unique_ptr<Bootstrap>(new DivisibleBootstrap(*this, ranks, std::move(listener_)));
}

Descriptor DivisibleBootstrap::take_listener() {
  if (listener_) return std::move(listener_);
  Descriptor own = of_all_->take_listener();
  listener_ = second_of(own);
  return own;
}

}  // namespace leadline::cluster
