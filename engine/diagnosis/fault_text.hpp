// SPDX-License-Identifier: Apache-2.0
// A fault as text: the name of its component, what was ruled out, what to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/evidence.hpp"
#include "diagnosis/layout.hpp"

namespace leadline::diagnosis {

/// "host node3", "the link between node1 and node4", "rank 17 on node2".
std::string name_of_component(const Setting& setting, const Component& component, FaultDirection direction);

/// The hosts below a group of the component's level, ascending; none for components that are no groups.
std::vector<std::int32_t> hosts_below(const Layout& layout, const Component& component, std::int32_t group);

/// Fills in the names of hosts and switches, and the ranks, that the component of a fault concerns.
void name_concerned(const Setting& setting, Fault& fault);

/// What was examined and is sound. `all` are the faults that were found.
std::vector<std::string> ruled_out(const Setting& setting, const Suspect& suspect, const std::vector<Suspect>& all);

/// By number, as the run names it; "host 3" where it has no name.
std::string host_name(const Setting& setting, std::int32_t host);

/// That so many of a kind (hosts, ranks, sockets, insides), `num` in all, are slow that times cannot tell whether this
/// is how the machine is built.
std::string two_kinds(const Setting& setting, const std::vector<Suspect>& slow, std::size_t num);

std::string advice_for(const Setting& setting, const Suspect& suspect, Symptom symptom);

/// What to do about any component of the kind; `name` is that of a switch.
std::string advice_for(ComponentKind kind, Symptom symptom, const std::string& name);

}  // namespace leadline::diagnosis
