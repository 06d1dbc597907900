// SPDX-License-Identifier: Apache-2.0
// Expands names, and brings them to all who open files under them.
#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <unordered_map>

#include "bench/io/measure.hpp"
#include "bench/io/plan.hpp"
#include "cluster/bytes.hpp"
#include "core/error.hpp"

namespace leadline::bench::io {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The rank that names a file: the lowest of those that open it.
bool is_namer(const schedule::FileLayout& layout, int rank) {
  return layout.is_opener(rank) && layout.openers(layout.file_of(rank)).front() == rank;
}

std::string own_name(const IoRequest& request, const Plan& plan, int rank, const RankPlacement& place) {
  const std::int32_t file = plan.layout.file_of(rank);
  const std::int32_t number = request.movement == schedule::Movement::n_m ? file : rank;
  return expand_target(plan.templates[at(file)], {number, place.host, place.pid});
}

/// Names as they come in, and what is wrong with them.
class GatheredNames {
 public:
  GatheredNames(const IoRequest& request, const schedule::FileLayout& layout)
      : option_(request.targets_file.empty() ? "--target" : "--targets"),
        layout_(layout),
        names_(at(layout.num_files())) {}

  /// Of a rank that names a file.
  void add(int rank, std::string_view name) {
    if (name.empty()) return;
    std::string& kept = names_[at(layout_.file_of(rank))];
    kept = name;
    const auto [before, is_new] = namer_of_.emplace(std::filesystem::path(kept).lexically_normal().string(), rank);
    if (is_new) return;
    // Ranks arrive in any order: the same two are named whenever there are no more than two.
    const int first = std::min(before->second, rank), second = std::max(before->second, rank);
    if (problem_ && first >= first_) return;
    first_ = first;
    problem_.emplace(ExitStatus::bad_command_line,
                     fmt::format("{} gives ranks {} and {} one file, {}", option_, first, second, kept),
                     "each must have its own",
                     option_ == "--target" ? "Add %r, which stands for the rank" : "Give every file a name of its own");
  }

  /// Once all are in.
  std::optional<Error> problem() const {
    if (problem_) return problem_;
    for (std::size_t file = 0; file < names_.size(); ++file) {
      if (!names_[file].empty()) continue;
      return Error(ExitStatus::bad_command_line, fmt::format("{} gives file {} no name", option_, file), {},
                   "Name every file");
    }
    return std::nullopt;
  }

  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::string option_;
  const schedule::FileLayout& layout_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> namer_of_;
  std::optional<Error> problem_;
  int first_ = 0;
};

std::string text_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) cluster::append_text(text, name);
  return text;
}

}  // namespace

std::string expand_target(const std::string& name, const NameParts& parts) {
  std::string expanded;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      expanded += name[i];
      continue;
    }
    const char part = ++i < name.size() ? name[i] : '\0';
    switch (part) {
      case 'r':
        expanded += std::to_string(parts.rank);
        break;
      case 'h':
        expanded += parts.host;
        break;
      case 'p':
        expanded += std::to_string(parts.pid);
        break;
      case '%':
        expanded += '%';
        break;
      default:
        throw Error(ExitStatus::bad_command_line, fmt::format("the name of a file cannot be '{}'", name),
                    part == '\0' ? "a % ends it" : fmt::format("%{} stands for nothing", part),
                    "Known are %r (rank), %h (host) and %p (process); write %% for a percent sign");
    }
  }
  return expanded;
}

std::vector<std::string> agree_on_names(const IoRequest& request, const Plan& plan, cluster::Cluster& cluster,
                                        const RankPlacement& place) {
  if (request.no_file) return {};
  const schedule::FileLayout& layout = plan.layout;
  const int rank = cluster.rank();
  GatheredNames all(request, layout);
  cluster.gather(is_namer(layout, rank) ? own_name(request, plan, rank, place) : std::string(),
                 [&](int of, std::string_view name) { all.add(of, name); });
  const std::optional<Error> problem = rank == 0 ? all.problem() : std::nullopt;
  try {
    cluster.agree(problem ? &*problem : nullptr);
  } catch (const Error& error) {
    throw AgreedError(error);
  }
  std::vector<std::string> names = rank == 0 ? all.take() : std::vector<std::string>(at(layout.num_files()));
  const std::string text = cluster.broadcast(rank == 0 ? text_of(names) : std::string());
  if (rank == 0) return names;
  const std::int32_t written = layout.file_of(rank), read = layout.file_of(reads_for(plan, request, rank));
  cluster::Reader reader(text);
  for (std::int32_t file = 0; file < layout.num_files(); ++file) {
    const std::string_view name = reader.text_of(reader.number<std::uint32_t>());
    if (file == written || file == read) names[at(file)] = name;
  }
  return names;
}

}  // namespace leadline::bench::io
