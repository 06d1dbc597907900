// SPDX-License-Identifier: Apache-2.0
// The two helps of `netgauge`.
#include "compat/netgauge/options.hpp"

namespace leadline::compat::netgauge {

std::string help() {
  return "Usage: netgauge [OPTIONS] -x ebb [OPTIONS OF ebb]\n"
         "Start it in parallel: mpirun -n 64 netgauge -s 1048576-1048576 -x ebb -r 100, srun netgauge ...\n\n"
         "This is the front end of Leadline for the command lines of Netgauge's effective bisection bandwidth: all\n"
         "ranks in random pairs, round after round of other pairs, each pair exchanging messages both ways at once.\n"
         "\"netgauge -x ebb --help\" lists the options of ebb.\n\n"
         "  -s, --size RANGE      message sizes in bytes: A-B, -B (from 1), or N; 1M is 1048576 (default: 1-131072)\n"
         "  -g, --grad N          sizes of the range: 1 doubles, 2 takes two an octave, 3 four ... (default: 2)\n"
         "  -x, --comm_pattern NAME\n"
         "                        ebb, which has to be given; Netgauge's other patterns are not here\n"
         "  -v, --verbosity N     0 to 3; without N it is 2 (default: 1)\n"
         "      --hostnames       list the host of each rank\n"
         "  -q, --sanity-check    say what the clock is\n"
         "  -w, --manpage         print this\n"
         "  -h, --help            print this\n"
         "  -V, --version         print the version\n\n"
         "These have no effect on ebb, as ever; a line says so:\n"
         "  -m, --mode NAME       mpi, tcp, udp, edp, esp, ib, ibv or dummy; ebb always calls MPI\n"
         "  -c, --tests N         -t, --time S            -i, --init-thread\n"
         "  -o, --output FILE     -f, --full-output FILE  -a, --server\n\n"
         "Exit status: 0 fine, 2 the command line is wrong, 3 something is missing here, 4 the run failed on the "
         "way.\n";
}

std::string pattern_help() {
  return "Usage: netgauge [OPTIONS] -x ebb [OPTIONS OF ebb]\n\n"
         "Options of ebb:\n"
         "  -r, --rounds N        random pairings of each message size (default: 100)\n"
         "  -n, --reps N          exchanges of a round, timed back to back (default: 20)\n"
         "  -b, --buckets N       buckets of the histogram of times; 0: neither these nor the last line (default: 1)\n"
         "  -p, --print_ptrn      print the pairs of each round\n"
         "  -h, --hostname        has no effect, as ever\n"
         "      --help            print this\n"
         "  -V, --version         print the version\n\n"
         "New with Leadline:\n"
         "      --seed N          of the pairings, which are the same for the same seed (default: 1)\n"
         "  -O, --output FILE     keep everything in FILE (.h5 or .json), for leadline report\n"
         "      --overwrite       replace FILE\n";
}

}  // namespace leadline::compat::netgauge
