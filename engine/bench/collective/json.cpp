// SPDX-License-Identifier: Apache-2.0
// What the JSON document of a collective test says.
#include "bench/collective/json.hpp"

#include <tuple>

#include "result/json_parts.hpp"

namespace leadline::bench::collective {

constexpr const char* about_of(Type<CollectiveResult> /*any*/) {
  return "What leadline collective writes as JSON, and into /summary of its HDF5 file. Base units only: bytes, "
         "nanoseconds, seconds, bytes per second. null = not measured.";
}

constexpr auto fields_of(Type<CollectiveResult> /*any*/) {
  return std::tuple_cat(result::beginning_of_document<"collective", CollectiveResult>(), result::run_fields,
                        std::tuple{
                            field("algorithm", &CollectiveResult::algorithm, "",
                                  "who did the operations; auto only in a result that ended before that was known"),
                            field("num_groups", &CollectiveResult::num_groups, "1", "groups of a round"),
                            field("group_ranks_min", &CollectiveResult::group_ranks_min, "1",
                                  "ranks of the smallest group that there can be"),
                            field("group_ranks_max", &CollectiveResult::group_ranks_max, "1", "of the largest"),
                            field("cells", &CollectiveResult::cells, "", "operation by operation, size by size"),
                        });
}

std::string json_text(const CollectiveResult& result) { return result::text_of(result::json_of(result)); }

Json schema() { return result::document_schema<CollectiveResult>("collective-result", "Summary of a collective test"); }

}  // namespace leadline::bench::collective
