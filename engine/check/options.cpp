// SPDX-License-Identifier: Apache-2.0
// Declares the options of `leadline check`.
#include "bench/congestion/request.hpp"
#include "bench/run_options.hpp"
#include "check/request.hpp"

namespace leadline::check {

constexpr Named<Form> form_names[] = {
    {Form::text, "text", "at most 20 lines"},
    {Form::json, "json", "everything"},
    {Form::hostlist, "hostlist", "hosts to drain, in short"},
    {Form::slurm, "slurm", "a command for Slurm for each of these hosts"},
    {Form::nagios, "nagios", "a line, and the exit status of a Nagios plugin"},
    {Form::junit, "junit", "XML of a test for each host"},
};

std::span<const Named<Form>> names_of(Form /*any*/) { return form_names; }

const char* name_of(Form form) { return name_in(form_names, form); }

namespace {

void declare_what(OptionTable& options, CheckRequest& request) {
  constexpr double least_budget_s = 2;
  constexpr std::uint64_t least_file = 1 << 20;
  options.group("What is measured");
  options.seconds("--budget", "time for everything, once the ranks are connected", least_budget_s, request.budget_s);
  options.size("--latency-size", "size of the small message", 1, bench::max_message_size_bytes,
               request.latency_size_bytes);
  options.size("--bandwidth-size", "size of the large message", 1, bench::max_message_size_bytes,
               request.bandwidth_size_bytes);
  options.count("--seed",
                "seed of random rounds and patterns, and of --sample, which without it is another one each time", 0,
                UINT64_MAX, request.seed);
  options
      .text("--sample", "SHARE|N",
            "only some of the hosts, such as 5% or 20, at least 2: that of rank 0, and others at random; ranks of the "
            "rest end at once",
            request.sample, "it says how many hosts")
      .by_default("all")
      .later();
  options
      .text("--target", "FOLDER",
            "a folder on a file system: each rank writes a file there, reads it again, checks it and removes it",
            request.target, "it names a folder")
      .by_default("no files")
      .as_file();
  options
      .size("--target-size", "with --target: bytes of a rank's file, in steps of 1 MiB", least_file,
            bench::max_message_size_bytes, request.target_size_bytes)
      .needs("--target", "only --target writes files");
  options
      .flag("--congestion",
            "what an incast does to others, too: how many times as long latency, bandwidth and an allreduce take; at "
            "least 4 ranks",
            request.congestion)
      .later();
}

/// A limit of impact factors.
void declare_factor(OptionTable& options, const char* name, const char* help, double& factor) {
  options
      .value(name, "FACTOR", help,
             [&factor](const std::string& option, const std::string& text) {
               factor = bench::congestion::parse_factor(option, text);
             })
      .by_default("never")
      .recorded_as([&factor] { return factor; })
      .later()
      .needs("--congestion", "only --congestion measures what load does");
}

void declare_verdict(OptionTable& options, CheckRequest& request) {
  constexpr double least_share = 0.01, least_rate = 1e-6;
  options.group("What is good");
  bench::declare_topology(options, request.topology);
  bench::declare_routes(options, request.routes);
  bench::declare_profile(options, request.profile);
  options.share("--fail", "bad is what reaches less than this share of the speed that it should have", least_share,
                request.fail);
  options.share("--warn", "likewise, a warning", least_share, request.warn);
  declare_factor(
      options, "--fail-above",
      "bad is where a load surely makes the median or the 99 % quantile of a test more than so many times as "
      "long",
      request.fail_above);
  declare_factor(options, "--warn-above", "likewise, a warning", request.warn_above);
  options.share("--false-discovery-rate", "so many findings of a kind may be chance", least_rate,
                request.false_discovery_rate);
}

void declare_outcome(OptionTable& options, CheckRequest& request) {
  options.group("What comes out");
  options.choice("--format", "what is printed", request.form);
  options
      .optional_value("--json", "FILE",
                      "everything as JSON, on standard output instead of text, or into FILE beside the text",
                      [&](const std::string&, const std::string& text) {
                        if (text.empty()) request.form = Form::json;
                        request.json_path = text;
                      })
      .as_file();
  options
      .file("--prom", "metrics for Prometheus, as its node exporter reads them from a file; replaced at once",
            request.metrics_path)
      .by_default("none");
  options.file("-o,--output", "new folder for the result files of all parts", request.output)
      .by_default("leadline-check-TIME");
  options.flag("--overwrite", "write into that folder where it is there, and replace older results in it",
               request.overwrite);
  options.flag("--no-files", "keep no result files", request.no_files)
      .conflicts_with("--output", "one says where files are, the other one that there are none");
  options
      .flag("--status-of-host",
            "bad is the status of those ranks only whose own host is to be drained, for a prolog, which runs on each "
            "host",
            request.status_of_host)
      .later();
  options.quiet_and_verbose(request.quiet, request.verbose);
  bench::declare_dry_run(options, request, "say what would be measured, and for how long");
}

}  // namespace

void declare_options(OptionTable& options, CheckRequest& request, std::optional<ResultFormat>& /*format*/) {
  bench::declare_who(options, request);
  declare_what(options, request);
  bench::declare_memory_and_wait(options, request);
  declare_verdict(options, request);
  declare_outcome(options, request);
}

}  // namespace leadline::check
