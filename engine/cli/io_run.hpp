// SPDX-License-Identifier: Apache-2.0
// One rank's run of a parallel file test, whoever started it and however the result is shown.
#pragma once

#include <memory>

#include "bench/io/output.hpp"
#include "cli/io_start.hpp"
#include "cli/staged_run.hpp"
#include "cluster/bootstrap.hpp"
#include "model/io_request.hpp"
#include "model/io_result.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

/// A run that an error ends in order says its summary, too, with the phases that there are; `complete` is false then.
using IoPresentation = PresentationOf<IoResult, bench::io::Progress>;

/// That of `leadline io`.
IoPresentation own_presentation(const IoRequest& request);

/// Collective: the whole run; the exit status. Never throws an error that the ranks have not agreed on.
int run_io(const IoRequest& request, std::unique_ptr<cluster::Bootstrap> bootstrap,
           const transport::LoadedModule& module, const IoStart& start, const IoPresentation& presentation);

}  // namespace leadline::cli
