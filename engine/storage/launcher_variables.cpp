// SPDX-License-Identifier: Apache-2.0
// Names of variables as Open MPI 4.1, MPICH 4.0, Slurm 22.05 and others set them for their processes.
#include "storage/launcher_variables.hpp"

#include <algorithm>
#include <array>

namespace leadline::storage {
namespace {

using namespace std::string_view_literals;

constexpr std::array launchers{"OMPI_"sv,  "PMIX_"sv, "PMI_"sv, "PMI2_"sv, "PRTE_"sv, "ORTE_"sv,        "SLURM_"sv,
                               "HYDRA_"sv, "HYDI_"sv, "MPI_"sv, "PALS_"sv, "FLUX_"sv, "LEADLINE_RANK"sv};

// Users' own, which begin in the same way. OMPI_MCA_io and the like choose what is to be tried.
constexpr std::array users{"OMPI_MCA_"sv, "OMPI_ALLOW_RUN_AS_ROOT"sv, "SLURM_CONF"sv};

// Open MPI's launcher sets some of these, too.
constexpr std::array launchers_after_all{"OMPI_MCA_ess"sv, "OMPI_MCA_orte"sv, "OMPI_MCA_pmix"sv, "OMPI_MCA_prte"sv,
                                         "OMPI_MCA_initial_wdir"sv};

template <class Beginnings>
bool begins_with_any(std::string_view text, const Beginnings& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view one) { return text.starts_with(one); });
}

}  // namespace

bool is_of_launcher(std::string_view variable) {
  if (begins_with_any(variable, launchers_after_all)) return true;
  return begins_with_any(variable, launchers) && !begins_with_any(variable, users);
}

}  // namespace leadline::storage
