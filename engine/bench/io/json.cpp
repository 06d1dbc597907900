// SPDX-License-Identifier: Apache-2.0
// What the JSON document of a parallel file test says, and the short form of its phases.
#include "bench/io/json.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "bench/io/options.hpp"
#include "result/diagnosis_json.hpp"
#include "result/json_parts.hpp"

namespace leadline::bench::io {

/// Earlier versions named such ranks; documents keep the key.
struct Straggler {
  std::int32_t rank = -1;
  std::string host, file;
  double bytes_per_s = not_measured;
  double relative = not_measured;
  IoTime mostly = IoTime::call;
};

/// A bucket of call times that is not empty.
struct LatencyBucket {
  double low_ns, high_ns;
  std::uint64_t num;
};

namespace {

/// The first bucket holds all below it, the last all above.
std::vector<LatencyBucket> buckets_of(const PhaseSummary& summary) {
  const LatencyHistogram& latencies = summary.latencies;
  const auto edge_ns = [](std::size_t index) { return std::exp2(10 + static_cast<double>(index) / 4); };
  std::vector<LatencyBucket> buckets;
  for (std::size_t index = 0; index < latencies.size(); ++index) {
    if (latencies.at(index) == 0) continue;
    const bool is_last = index + 1 == latencies.size();
    buckets.push_back(
        {index == 0 ? 0.0 : edge_ns(index), is_last ? not_measured : edge_ns(index + 1), latencies.at(index)});
  }
  return buckets;
}

/// Without the zeros behind the last byte.
std::span<const std::uint64_t> bytes_by_bin(const ByteSeries& series) {
  std::size_t num = series.bytes.size();
  while (num > 0 && series.bytes.at(num - 1) == 0) --num;
  return std::span(series.bytes).first(num);
}

/// Null where the condition does not hold.
template <typename Struct, typename Value>
constexpr auto only_if(bool Struct::*condition, Value Struct::*member) {
  return [=](const Struct& from) { return from.*condition ? std::optional(from.*member) : std::nullopt; };
}

bool is_read(const PhaseSummary& summary) { return summary.position.operation == IoOperation::read; }

}  // namespace
}  // namespace leadline::bench::io

namespace leadline::memory {

constexpr const char* about_of(Type<ObjectKey> /*any*/) {
  return "Which object it is, and where it lies, as the headers of its blocks tell.";
}

constexpr auto fields_of(Type<ObjectKey> /*any*/) {
  return std::tuple{
      field("run", &ObjectKey::run, "", "the run that wrote it"),
      field("rank", &ObjectKey::rank, "", "the rank whose it is"),
      field("file", &ObjectKey::file, "", "index of the file"),
      field("object", &ObjectKey::object, "", "its number among those of the rank, from 0"),
      field("offset_bytes", &ObjectKey::offset_bytes, "bytes", "in the file"),
      field("generation", &ObjectKey::generation, "", "the repetition that wrote it"),
  };
}

constexpr auto fields_of(Type<Mismatch> /*any*/) {
  return std::tuple{
      field("kind", &Mismatch::kind, "", "what is wrong with it"),
      field("expected", &Mismatch::expected, "", "the object that should be there"),
      field("found", &Mismatch::found, "", "whose block is there, where it says so; null = it does not"),
      field("first_byte", &Mismatch::first_byte, "", "the first wrong byte, in the object"),
      field("num_bytes", &Mismatch::num_bytes, "bytes",
            "those of the blocks concerned; of bit_flips: those that differ"),
      field("xor_mask", &Mismatch::xor_mask, "", "of bit_flips: bits of the first wrong word that differ; else 0"),
  };
}

}  // namespace leadline::memory

namespace leadline::storage {

constexpr const char* about_of(Type<CacheState> /*any*/) {
  return "Pages of all files in the page caches of the hosts that open them.";
}

constexpr auto fields_of(Type<CacheState> /*any*/) {
  return std::tuple{
      field("is_known", &CacheState::is_known, "", "the systems could be asked; else all others are null"),
      field("pages", bench::io::only_if(&CacheState::is_known, &CacheState::pages), "1", "pages that the files have"),
      field("cached", bench::io::only_if(&CacheState::is_known, &CacheState::cached), "1", "those in memory"),
      field("dirty", bench::io::only_if(&CacheState::is_known, &CacheState::dirty), "1", "those still to be written"),
      field("writeback", bench::io::only_if(&CacheState::is_known, &CacheState::writeback), "1", "those being written"),
  };
}

}  // namespace leadline::storage

namespace leadline::bench::io {

constexpr const char* about_of(Type<RankSpread> /*any*/) {
  return "Of times in nanoseconds, over the ranks that do such a thing at all.";
}

constexpr const char* about_of(Type<WrongObject> /*any*/) {
  return "An object that was not as written: its first wrong stretch.";
}

constexpr const char* about_of(Type<Straggler> /*any*/) {
  return "A rank that earlier versions called slow beside the others.";
}

constexpr const char* about_of(Type<SlowCall> /*any*/) { return "One of the slowest calls."; }

constexpr const char* about_of(Type<RankAtInterruption> /*any*/) {
  return "What a rank had done, by the calls that had returned by then.";
}

constexpr const char* about_of(Type<PhaseSummary> /*any*/) {
  return "All objects written or read, with --time-based again and again; or one operation on every file or directory "
         "of --metadata. Times are since the common start of its ranks.";
}

constexpr const char* about_of(Type<OperationSummary> /*any*/) {
  return "The rates of all complete phases of one operation; of metadata those in bytes are null.";
}

constexpr const char* about_of(Type<IoResult> /*any*/) {
  return "What leadline io writes as JSON, and into /summary of its HDF5 file. Base units only: bytes, nanoseconds, "
         "seconds, "
         "bytes per second. null = not measured.";
}

constexpr auto fields_of(Type<RankSpread> /*any*/) {
  return std::tuple{
      field("num", &RankSpread::num, "1", "so many ranks do"),
      field("min", &RankSpread::min, "ns", "least"),
      field("mean", &RankSpread::mean, "ns", "mean"),
      field("max", &RankSpread::max, "ns", "greatest"),
      field("min_rank", result::or_null(&RankSpread::min_rank), "", "rank with the least"),
      field("max_rank", result::or_null(&RankSpread::max_rank), "", "rank with the greatest"),
  };
}

constexpr auto fields_of(Type<LatencyBucket> /*any*/) {
  return std::tuple{
      field("low_ns", result::as<result::KnownNumber>(&LatencyBucket::low_ns), "ns", "from this time on"),
      field("high_ns", &LatencyBucket::high_ns, "ns", "below this one; null = any longer one"),
      field("num", &LatencyBucket::num, "1", "so many calls"),
  };
}

constexpr auto fields_of(Type<ByteSeries> /*any*/) {
  return std::tuple{
      field("bin_ns", &ByteSeries::bin_ns, "ns", "length of a bin"),
      field("bytes", bytes_by_bin, "bytes", "of each bin from the first on; those behind the last are 0"),
  };
}

constexpr auto fields_of(Type<WrongObject> /*any*/) {
  return std::tuple_cat(result::fields_through<memory::Mismatch>(&WrongObject::mismatch),
                        std::tuple{
                            field("read_by", result::or_null(&WrongObject::read_by), "", "rank that read it"),
                            field("host", &WrongObject::host, "", "its host"),
                            field("file", &WrongObject::file, "", "name of the file"),
                        });
}

constexpr auto fields_of(Type<Straggler> /*any*/) {
  return std::tuple{
      field("rank", result::or_null(&Straggler::rank), "", "which rank"),
      field("host", &Straggler::host, "", "its host"),
      field("file", &Straggler::file, "", "name of the file that its objects are in"),
      field("bytes_per_s", &Straggler::bytes_per_s, "bytes/s", "its own rate"),
      field("relative", &Straggler::relative, "", "that rate divided by the median rank's"),
      field("mostly", &Straggler::mostly, "", "what took it longest"),
  };
}

constexpr auto fields_of(Type<SlowCall> /*any*/) {
  return std::tuple{
      field("rank", result::or_null(&SlowCall::rank), "", "rank that made it"),
      field("host", &SlowCall::host, "", "its host"),
      field("file", &SlowCall::file, "", "name of the file"),
      field("offset_bytes", &SlowCall::offset_bytes, "bytes", "in the file"),
      field("size_bytes", &SlowCall::size_bytes, "bytes", "asked for"),
      field("begin_ns", &SlowCall::begin_ns, "ns", "when it began, since the common start of the phase"),
      field("time_ns", &SlowCall::time_ns, "ns", "how long it took"),
  };
}

constexpr auto fields_of(Type<RankAtInterruption> /*any*/) {
  return std::tuple{
      field("rank", result::or_null(&RankAtInterruption::rank), "", "which one"),
      field("time_ns", &RankAtInterruption::time_ns, "ns",
            "since the phase began, until the interruption, or until the rank was done"),
      field("bytes", &RankAtInterruption::bytes, "bytes",
            "that it had moved to or from files; without files, through messages"),
      field("message_bytes", &RankAtInterruption::message_bytes, "bytes",
            "that it had sent to or got from other ranks"),
      field("num_objects", &RankAtInterruption::num_objects, "1", "its own, that were done"),
      field("call", &RankAtInterruption::call, "", "the call into a file system that it was in; empty = in none",
            Since::later_version),
  };
}

constexpr const char* about_of(Type<MixPart> /*any*/) {
  return "The reads of a phase that reads and writes, or its writes. Rates are over wall_ns of the phase.";
}

constexpr auto fields_of(Type<MixPart> /*any*/) {
  return std::tuple{
      field("bytes", &MixPart::bytes, "bytes", "of all ranks"),
      field("num_calls", &MixPart::num_calls, "1", "read calls, or write calls"),
      field("bytes_per_s", &MixPart::bytes_per_s, "bytes/s", "bytes divided by that time"),
      field("operations_per_s", &MixPart::operations_per_s, "1/s", "calls divided by it"),
      field("call_ns_min", &MixPart::call_ns_min, "ns", "fastest call"),
      field("call_ns_p50", &MixPart::call_ns_p50, "ns", "their median"),
      field("call_ns_p99", &MixPart::call_ns_p99, "ns", "99 % quantile"),
      field("call_ns_max", &MixPart::call_ns_max, "ns", "slowest call"),
  };
}

constexpr auto fields_of(Type<PhasePosition> /*any*/) {
  return std::tuple{
      field("index", &PhasePosition::index, "",
            "position among all phases of the run, from 0: its row in the HDF5 file"),
      field("operation", &PhasePosition::operation, "", "what was done with the objects"),
      field("repeat", &PhasePosition::repeat, "", "repetition, from 0"),
  };
}

constexpr auto fields_of(Type<PhaseSummary> /*any*/) {
  return std::tuple_cat(
      result::fields_through<PhasePosition>(&PhaseSummary::position),
      std::tuple{
          field(
              "is_complete", &PhaseSummary::is_complete, "",
              "false: an error ended it, a rank was lost in it, or the run ended in the middle of it; then there is no "
              "rate"),
          field(
              "is_interrupted", result::as<result::OptionalKey<bool>>(&PhaseSummary::is_interrupted), "",
              "the run ended in the middle of it; then little else is known than at_interruption. Older documents lack "
              "both"),
          field("error", &PhaseSummary::error, "",
                "which one, or why the run ended in the middle of it; empty if it is complete"),
          field("bytes", &PhaseSummary::bytes, "bytes",
                "to or from files, of all ranks; without files, through messages"),
          field("message_bytes", &PhaseSummary::message_bytes, "bytes", "through messages between ranks"),
          field("num_objects", &PhaseSummary::num_objects, "1", "objects of all ranks"),
          field("num_calls", &PhaseSummary::num_calls, "1",
                "write or read calls, or operations on files or directories"),
          field("num_continued", &PhaseSummary::num_continued, "1",
                "calls that moved less than asked, and were continued"),
          field("wall_ns", &PhaseSummary::wall_ns, "ns",
                "from the first begin, or the end of the ramp, to the last end, by one clock; without a sync that is "
                "outside"),
          field("bytes_per_s", &PhaseSummary::bytes_per_s, "bytes/s",
                "bytes divided by wall_ns. Documents without bytes_per_s_io are of earlier versions: there it is what "
                "that is now"),
          field("bytes_per_s_first_done", &PhaseSummary::bytes_per_s_first_done, "bytes/s",
                "bytes that all ranks had moved when the first one was done, divided by the time until then; null "
                "where fsync ends a buffered write, since what was on storage then is not known",
                Since::later_version),
          field("first_done_ns", &PhaseSummary::first_done_ns, "ns", "that time", Since::later_version),
          field("bytes_per_s_io", &PhaseSummary::bytes_per_s_io, "bytes/s",
                "divided by the I/O time of the slowest rank: without making and checking contents",
                Since::later_version),
          field("bytes_per_s_mean", &PhaseSummary::bytes_per_s_mean, "bytes/s",
                "divided by the mean I/O time of ranks"),
          field("bytes_per_s_wall", &PhaseSummary::bytes_per_s, "bytes/s",
                "divided by wall_ns, in documents of all versions"),
          field("bytes_per_s_transfer", &PhaseSummary::bytes_per_s_transfer, "bytes/s",
                "divided by the slowest rank's I/O time without open, preallocate, sync and close"),
          field("operations_per_s", &PhaseSummary::operations_per_s, "1/s",
                "calls divided by wall_ns; of metadata, operations divided by the I/O time of the slowest rank",
                Since::later_version),
          field("fill_bytes_per_s", &PhaseSummary::fill_bytes_per_s, "bytes/s",
                "how fast a rank filled its objects, mean"),
          field("verify_bytes_per_s", &PhaseSummary::verify_bytes_per_s, "bytes/s",
                "how fast a rank verified objects, mean"),
          field("io", &PhaseSummary::io, "", "the I/O times of ranks"),
          field("times", result::as<result::ByName<IoTime, RankSpread>>(&PhaseSummary::times), "",
                "what ranks did with their time"),
          field("has_stop", &PhaseSummary::has_stop, "",
                "a time limit passed in this phase; else the next three are null"),
          field("stop_ns", only_if(&PhaseSummary::has_stop, &PhaseSummary::stop_ns), "ns", "when"),
          field("bytes_at_stop", only_if(&PhaseSummary::has_stop, &PhaseSummary::bytes_at_stop), "bytes",
                "of all ranks by then"),
          field("bytes_per_s_at_stop", only_if(&PhaseSummary::has_stop, &PhaseSummary::bytes_per_s_at_stop), "bytes/s",
                "these bytes divided by that time"),
          field("ramp_ns", &PhaseSummary::ramp_ns, "ns",
                "from the common start until the first rank began to count, with --ramp-time; else null",
                Since::later_version),
          field("ramp_bytes", &PhaseSummary::ramp_bytes, "bytes",
                "of calls that began before: the series has them, all other numbers do not", Since::later_version),
          field("call_ns_min", &PhaseSummary::call_ns_min, "ns", "fastest of all calls"),
          field("call_ns_p50", &PhaseSummary::call_ns_p50, "ns", "their median"),
          field("call_ns_p90", &PhaseSummary::call_ns_p90, "ns", "90 % quantile"),
          field("call_ns_p99", &PhaseSummary::call_ns_p99, "ns", "99 % quantile"),
          field("call_ns_p999", &PhaseSummary::call_ns_p999, "ns", "99.9 % quantile"),
          field("call_ns_max", &PhaseSummary::call_ns_max, "ns", "slowest"),
          field("latencies", buckets_of, "", "how many calls took how long; ascending, without empty buckets"),
          field("series", &PhaseSummary::series, "", "bytes of all ranks by time since the phase began"),
          field("cache_before", &PhaseSummary::cache_before, "", "before the phase"),
          field("cache_after", &PhaseSummary::cache_after, "", "behind it"),
          field(
              "source",
              [](const PhaseSummary& phase) { return is_read(phase) ? std::optional(phase.source) : std::nullopt; }, "",
              "of a read: where the bytes came from, as far as the page cache tells; of all others null"),
          field(
              "is_durable",
              [](const PhaseSummary& phase) {
                const bool is_told = phase.position.operation == IoOperation::write && phase.is_durability_known;
                return is_told ? std::optional(phase.is_durable) : std::nullopt;
              },
              "",
              "of a write: synced within the reported time, to files that are not in memory alone; of all others, and "
              "of a "
              "text that does not tell, null"),
          field("num_mismatches", &PhaseSummary::num_mismatches, "1", "objects that were not as written, of all ranks"),
          field("wrong", &PhaseSummary::wrong, "", "the first of them"),
          field(
              "stragglers", [](const PhaseSummary&) { return result::OptionalKey<std::vector<Straggler>>(); }, "",
              "of earlier versions alone: ranks below (1 - threshold) of the median rank, slowest first; now the "
              "diagnoses say who is slow"),
          field("slow_calls", &PhaseSummary::slow_calls, "", "the slowest calls, slowest first"),
          field("reads", &PhaseSummary::reads, "", "of a mix: its reads; else null", Since::later_version),
          field("writes", &PhaseSummary::writes, "", "of a mix: its writes; else null", Since::later_version),
          field("at_interruption",
                result::as<result::OptionalKey<std::vector<RankAtInterruption>>>(&PhaseSummary::at_interruption), "",
                "how far each rank was when the run ended in the middle of the phase, as far as it is known; otherwise "
                "empty"),
      });
}

constexpr auto fields_of(Type<OperationRates> /*any*/) {
  return std::tuple{
      field("operations_per_s_min", &OperationRates::min, "1/s", "slowest phase", Since::later_version),
      field("operations_per_s_median", &OperationRates::median, "1/s", "median", Since::later_version),
      field("operations_per_s_mean", &OperationRates::mean, "1/s", "mean", Since::later_version),
      field("operations_per_s_max", &OperationRates::max, "1/s", "fastest phase", Since::later_version),
      field("operations_per_s_half_width", &OperationRates::half_width, "1/s",
            "half the width of the mean's 95 % interval; null below two phases", Since::later_version),
  };
}

constexpr auto fields_of(Type<OperationSummary> /*any*/) {
  return std::tuple_cat(
      std::tuple{
          field("operation", &OperationSummary::operation, "", "which one"),
          field("num", &OperationSummary::num, "1", "so many phases"),
          field("bytes_per_s_min", &OperationSummary::min, "bytes/s", "slowest phase"),
          field("bytes_per_s_median", &OperationSummary::median, "bytes/s", "median"),
          field("bytes_per_s_mean", &OperationSummary::mean, "bytes/s", "mean"),
          field("bytes_per_s_max", &OperationSummary::max, "bytes/s", "fastest phase"),
          field("bytes_per_s_half_width", &OperationSummary::half_width, "bytes/s",
                "half the width of the mean's 95 % interval; null below two phases"),
      },
      result::fields_through<OperationRates>(&OperationSummary::operations_per_s));
}

constexpr auto fields_of(Type<HintInForce> /*any*/) {
  return std::tuple{
      field("key", &HintInForce::key, "", "its name"),
      field("asked", result::or_null(&HintInForce::asked), "", "the value asked for; null = not asked for"),
      field("granted", result::or_null(&HintInForce::granted), "", "the value that the open file has; null = none"),
      field("is_confirmed", &HintInForce::is_confirmed, "",
            "the library has it; false: it may only echo what it was told"),
  };
}

constexpr auto fields_of(Type<IoResult> /*any*/) {
  return std::tuple_cat(
      result::beginning_of_document<"io", IoResult>(), result::run_fields,
      std::tuple{
          field("backend_library", &IoResult::backend_library, "",
                "what moved bytes to and from files: POSIX, Open MPI v4.1.4 (ompio)"),
          field("file_system", &IoResult::file_system, "",
                "of the directory of the first file, on rank 0: ext4; empty = unknown"),
          field("run", &IoResult::run, "", "the number in the header of every block that this run wrote"),
          field("num_objects", &IoResult::num_objects, "1",
                "objects of a rank in every phase: as asked, or as the time limit left; with --time-based the fewest "
                "of a rank, each counted once"),
          field("contents_by", &IoResult::contents_by, "", "who made and checked the contents of objects",
                Since::later_version),
          field("io_ranks", &IoResult::io_ranks, "", "ranks that do I/O, ascending"),
          field("files", &IoResult::files, "", "their names; empty where nothing was opened"),
          field("hints", &IoResult::hints, "", "hints asked for, and those in force once a file was open"),
          field("phases", &IoResult::phases, "",
                "every phase, in the order measured; also the one that an error ended"),
          field("operations", &IoResult::operations, "",
                "write, read, then those of metadata: all complete phases of each"),
          field("diagnoses", &IoResult::diagnoses, "",
                "one entry for each operation that was measured: who is slow in it", Since::later_version),
          field(
              "faults", [](const IoResult& result) { return result::joined_faults(result.diagnoses); }, "",
              result::about_joined_faults, Since::later_version),
      });
}

namespace {

/// Takes a tenth of the longest list; where all are empty, half of the error. False: nothing is left to take.
bool shorten(Json& phase) {
  std::string longest;
  std::size_t longest_size = 0;
  for (const char* name : {"wrong", "stragglers", "slow_calls", "at_interruption"}) {
    const Json& list = phase[name];
    if (const std::size_t size = list.size() == 0 ? 0 : result::line_of(list).size(); size > longest_size) {
      longest = name;
      longest_size = size;
    }
  }
  if (longest_size > 0) {
    Json& list = phase[longest];
    list.remove_last(std::max<std::size_t>(1, list.size() / 10));
    return true;
  }
  constexpr std::size_t shortest_error = 16;
  auto error = phase["error"].get<std::string>();
  if (error.size() <= shortest_error) return false;
  error.resize(error.size() / 2 - 3);
  phase["error"] = error + "...";
  return true;
}

}  // namespace

std::string json_text(const IoResult& result) { return result::text_of(result::json_of(result)); }

Json schema() { return result::document_schema<IoResult>("io-result", "Summary of a parallel file test"); }

std::string phase_text(const PhaseSummary& summary, std::size_t most_bytes) {
  Json phase = result::json_of(summary);
  std::string text = result::line_of(phase);
  while (text.size() > most_bytes && shorten(phase)) text = result::line_of(phase);
  return text;
}

JsonStore::JsonStore(cluster::Cluster& cluster, IoResult so_far, const IoFileSetup& setup)
    : RunDocument(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(const PhasePosition&, const RankPhase&, const PhaseSummary& summary) {
  add([&](IoResult& so_far) { so_far.phases.push_back(summary); });
}

void JsonStore::keep_interrupted(const PhaseSummary& summary) {
  add([&](IoResult& so_far) {
    if (std::cmp_equal(so_far.phases.size(), summary.position.index)) so_far.phases.push_back(summary);
  });
}

}  // namespace leadline::bench::io
