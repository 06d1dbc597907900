// SPDX-License-Identifier: Apache-2.0
// The names of the values of options.
#include "model/request.hpp"
#include "model/result.hpp"
#include "model/samples.hpp"

namespace leadline {

constexpr Named<Direction> direction_names[] = {
    {Direction::semidirectional, "semidirectional", "ping-pong, half the round trip"},
    {Direction::unidirectional, "unidirectional", "windows of messages, acknowledged at the end"},
    {Direction::bidirectional, "bidirectional", "both at once"},
};

std::span<const Named<Direction>> names_of(Direction /*any*/) { return direction_names; }

const char* name_of(Direction direction) { return name_in(direction_names, direction); }

constexpr Named<WaitMode> wait_mode_names[] = {
    {WaitMode::automatic, "auto", "yield where a host has more ranks than cores, else spin"},
    {WaitMode::spin, "spin"},
    {WaitMode::yield, "yield"},
    {WaitMode::block, "block"},
};

std::span<const Named<WaitMode>> names_of(WaitMode /*any*/) { return wait_mode_names; }

const char* name_of(WaitMode mode) { return name_in(wait_mode_names, mode); }

constexpr Named<Binding> binding_names[] = {
    {Binding::automatic, "auto", "core where each rank gets one and nothing has bound them"},
    {Binding::core, "core", "a core for each rank, or a hardware thread where there are more ranks"},
    {Binding::numa, "numa", "the NUMA nodes in turn"},
    {Binding::none, "none"},
};

std::span<const Named<Binding>> names_of(Binding /*any*/) { return binding_names; }

const char* name_of(Binding binding) { return name_in(binding_names, binding); }

constexpr Named<RowPath> row_path_names[] = {
    {RowPath::automatic, "auto", "each rank writes its own where all see the file"},
    {RowPath::funnel, "funnel", "through rank 0"},
};

std::span<const Named<RowPath>> names_of(RowPath /*any*/) { return row_path_names; }

const char* name_of(RowPath row_path) { return name_in(row_path_names, row_path); }

constexpr Named<ResultFormat> result_format_names[] = {
    {ResultFormat::hdf5, "hdf5"},
    {ResultFormat::json, "json"},
    {ResultFormat::sion, "sion"},
    {ResultFormat::none, "none"},
};

std::span<const Named<ResultFormat>> names_of(ResultFormat /*any*/) { return result_format_names; }

const char* name_of(ResultFormat format) { return name_in(result_format_names, format); }

constexpr Named<Severity> severity_names[] = {
    {Severity::note, "note"},
    {Severity::warning, "warning"},
};

std::span<const Named<Severity>> names_of(Severity /*any*/) { return severity_names; }

const char* name_of(Severity severity) { return name_in(severity_names, severity); }

}  // namespace leadline
