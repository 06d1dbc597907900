// SPDX-License-Identifier: Apache-2.0
// The documents of a link test: while it runs, and at its end.
#include "result/json_store.hpp"

#include <utility>

#include "result/json.hpp"

namespace leadline::result {

namespace {

JsonFile::IncompleteDocument incomplete(LinkResult so_far) {
  so_far.complete = false;
  return [so_far = std::move(so_far)](const std::string& reason) mutable {
    so_far.incomplete_reason = reason;
    return json_text(so_far);
  };
}

}  // namespace

JsonStore::JsonStore(cluster::Cluster& cluster, LinkResult so_far, const LinkResultFileSetup& setup)
    : file_(cluster, setup.path, setup.existing, incomplete(std::move(so_far))) {}

void JsonStore::finish(const LinkResult& result) {
  file_.finish([&] { return json_text(result); });
}

}  // namespace leadline::result
