// SPDX-License-Identifier: Apache-2.0
// A timer for each call; its signal, and every failure of a test, becomes a line with rule, rank and call.
#include "contract/watch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "contract/forwarding_transport.hpp"
#include "contract/rules.hpp"
#include "core/error.hpp"

namespace leadline::contract {
namespace {

static_assert(say_and_end_signal == SIGALRM);

constexpr std::array<RuleText, 21> all_rules{{
    {"deadline", "connect() returns or throws Error(run_failed) by its deadline, whatever its partner does."},
    {"open once", "connect() over an open link opens no other one."},
    {"completion", "A call that waits for messages returns as soon as they are done."},
    {"posting", "post_send(), post_receive() and poll() do not wait for the partner."},
    {"order", "Each message between two ranks arrives once, and in the order in which they were posted."},
    {"last byte", "A receive is done when every byte of its message is there, up to the last one."},
    {"length", "A message changes no byte behind its own length."},
    {"receiver", "A message reaches the rank that it was sent to, and no other."},
    {"empty message", "A message of 0 bytes arrives like any other."},
    {"token", "A message of 0 bytes or of 1 byte is sent without a posted receive, as barriers need it."},
    {"both ways", "Messages of any size go both ways at once: no send waits until its own rank has received."},
    {"to itself", "A rank's messages to itself arrive like those to others, beside them."},
    {"free buffer", "A send is done when its buffer may be changed, and not before."},
    {"ticket", "A ticket is handed out once, when its message is done, and nothing else is."},
    {"progress",
     "What was sent arrives while its sender calls only progress(), or nothing where needs_progress() is "
     "false."},
    {"barrier", "No rank leaves an exchange with neighbours before all ranks have come to it."},
    {"samples", "Samples have all messages, as evenly as whole messages allow, and a time above 0."},
    {"progress counter", "The progress counter advances after every batch, step and exchange."},
    {"lost partner",
     "A partner that is gone is an Error(run_failed) that names its rank, in every call that waits for "
     "it."},
    {"closing", "The end of a transport closes all that it has opened: no file stays open."},
    {"description", "info() has the transport's own name, and its library in one line."},
}};

/// What this process does. Read by the handler of a signal.
struct Situation {
  std::atomic<const RuleText*> rule{nullptr};
  std::atomic<int> rank{-1};
  std::atomic<const char*> call{nullptr};
  std::atomic<int> partner{-1};
  std::atomic<long long> size_bytes{-1};
  std::atomic<long> limit_s{0};  ///< 0: in no call
};
Situation now;

/// One line, made without memory or locks.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t num = std::min(text.size(), text_.size() - size_);
    std::memcpy(text_.data() + size_, text.data(), num);
    size_ += num;
    return *this;
  }
  Line& operator<<(long long number) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }

  void write() {
    *this << "\n";
    for (std::size_t done = 0; done < size_;) {
      const ssize_t num = ::write(STDERR_FILENO, text_.data() + done, size_ - done);
      if (num <= 0) return;
      done += static_cast<std::size_t>(num);
    }
  }

 private:
  std::array<char, 1024> text_{};
  std::size_t size_ = 0;
};

void add_call(Line& line) {
  const char* const call = now.call;
  line << (call != nullptr ? call : "no call");
  if (now.partner >= 0) line << " with rank " << now.partner;
  if (now.size_bytes >= 0) line << ", " << now.size_bytes << " bytes";
}

void begin_line(Line& line) {
  const RuleText* const rule = now.rule;
  line << "rule \"" << (rule != nullptr ? rule->name : "completion") << "\" is broken: rank " << now.rank;
}

void end_line(Line& line) {
  const RuleText* const rule = now.rule;
  line << ". The rule: " << (rule != nullptr ? rule->text : all_rules[static_cast<std::size_t>(Rule::completion)].text);
  line.write();
}

void say_and_end(int) {
  Line line;
  begin_line(line);
  line << (now.limit_s > 0 ? " is in " : " waits after ");
  add_call(line);
  if (now.limit_s > 0) line << ", which may take " << now.limit_s << " s";
  end_line(line);
  ::_exit(stuck_status);
}

class FailuresNameRules final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { now.rule = nullptr; }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed() || now.rule == nullptr || now.rank < 0) return;
    Line line;
    begin_line(line);
    line << (now.limit_s > 0 ? ", in " : ", after ");
    add_call(line);
    end_line(line);
  }
};

[[maybe_unused]] const bool failures_name_rules = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new FailuresNameRules);
  return true;
}();

void set_timer(std::chrono::milliseconds time) {
  itimerval timer{};
  timer.it_value.tv_sec = time.count() / 1000;
  timer.it_value.tv_usec = time.count() % 1000 * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

/// While it lives, this process is in the call.
class Call {
 public:
  Call(const char* name, int partner, long long size_bytes, std::chrono::milliseconds limit = call_limit()) {
    now.call = name;
    now.partner = partner;
    now.size_bytes = size_bytes;
    now.limit_s = std::chrono::ceil<std::chrono::seconds>(limit).count();
    set_timer(limit);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    set_timer(std::chrono::milliseconds(0));
    now.limit_s = 0;
  }
};

long long number(std::size_t size_bytes) { return static_cast<long long>(size_bytes); }

class WatchedMessages final : public transport::Messages {
 public:
  explicit WatchedMessages(std::unique_ptr<transport::Messages> inner) : inner_(std::move(inner)) {}

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override {
    const Call call("Messages::post_send()", partner, number(data.size()));
    inner_->post_send(partner, data, ticket);
  }
  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override {
    const Call call("Messages::post_receive()", partner, number(data.size()));
    inner_->post_receive(partner, data, ticket);
  }
  std::optional<Ticket> poll() override {
    const Call call("Messages::poll()", -1, -1);
    return inner_->poll();
  }
  Ticket await_any() override {
    const Call call("Messages::await_any()", -1, -1);
    return inner_->await_any();
  }
  std::span<const cluster::ConnectionLost> lost_links() const override { return inner_->lost_links(); }

 private:
  std::unique_ptr<transport::Messages> inner_;
};

class WatchedTransport final : public ForwardingTransport {
 public:
  WatchedTransport(std::unique_ptr<transport::Transport> inner, int rank) : ForwardingTransport(std::move(inner)) {
    now.rank = rank;
    struct sigaction action {};
    action.sa_handler = &say_and_end;
    ::sigaction(say_and_end_signal, &action, nullptr);
  }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    const Call call("run()", partner, number(exchange.message_size_bytes));
    ForwardingTransport::run(exchange, partner, buffers, samples);
  }
  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    const Call call("verify()", partner, number(exchange.message_size_bytes));
    return ForwardingTransport::verify(exchange, partner, buffers, fill);
  }
  void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                  std::span<Sample> samples) override {
    const Call call("all_to_all()", -1, number(steps.message_size_bytes));
    ForwardingTransport::all_to_all(steps, buffers, samples);
  }
  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers& buffers,
                                                                    const kernel::NeighbourTask& task) override {
    const Call call("exchange_with_neighbours()", -1, number(exchange.message_size_bytes));
    return ForwardingTransport::exchange_with_neighbours(exchange, buffers, task);
  }
  std::unique_ptr<transport::Messages> messages(std::span<const std::int32_t> partners,
                                                std::size_t max_tickets) override {
    const Call call("messages()", -1, -1);
    return std::make_unique<WatchedMessages>(ForwardingTransport::messages(partners, max_tickets));
  }
  void progress() noexcept override {
    const Call call("progress()", -1, -1);
    ForwardingTransport::progress();
  }

 private:
  transport::Connected open_link(int partner, Deadline deadline) override {
    const Checks checks(Rule::deadline);
    const auto limit = std::chrono::milliseconds(deadline.left_ms()) + late_limit;
    const auto last = Deadline::after(limit);
    const Call call("connect()", partner, -1, limit);
    try {
      const auto connected = ForwardingTransport::open_link(partner, deadline);
      EXPECT_FALSE(last.has_passed()) << "connect() came back too late";
      return connected;
    } catch (const Error& error) {
      EXPECT_FALSE(last.has_passed()) << "connect() came back too late, with: " << error.what();
      throw;
    }
  }
};

}  // namespace

std::span<const RuleText> rules() { return all_rules; }

Checks::Checks(Rule rule)
    : before_(now.rule.exchange(&all_rules[static_cast<std::size_t>(rule)])),
      num_exceptions_(std::uncaught_exceptions()) {}

Checks::~Checks() {
  if (std::uncaught_exceptions() == num_exceptions_) now.rule = before_;
}

std::chrono::seconds call_limit() {
  static const std::chrono::seconds limit = [] {
    const char* const text = std::getenv("LEADLINE_CONTRACT_SECONDS");
    const int seconds = text != nullptr ? std::atoi(text) : 30;
    return std::chrono::seconds(std::max(seconds, 1));
  }();
  return limit;
}

std::unique_ptr<transport::Transport> watched(std::unique_ptr<transport::Transport> transport, int rank) {
  return std::make_unique<WatchedTransport>(std::move(transport), rank);
}

}  // namespace leadline::contract
