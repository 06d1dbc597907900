// SPDX-License-Identifier: Apache-2.0
// The header of a parallel file test that is being made.
#include "result/io/header.hpp"

#include "bench/io/options.hpp"

namespace leadline::result::io {

Header header_of(const IoResult& so_far) {
  const IoRequest& request = so_far.request;
  Header header;
  describe_run(header, request, bench::io::options_of(request), so_far.provenance);
  header.movement = schedule::name_of(request.movement);
  header.order = request.order == schedule::Order::strided ? "strided" : "segmented";
  header.backend_library = so_far.backend_library;
  header.file_system = so_far.file_system;
  header.num_objects = request.num_objects;
  header.object_size_bytes = request.object_size_bytes;
  header.run = so_far.run;
  header.io_ranks = so_far.io_ranks;
  header.files = so_far.files;
  return header;
}

}  // namespace leadline::result::io
