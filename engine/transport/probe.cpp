// SPDX-License-Identifier: Apache-2.0
// What a child finds out comes back as texts behind their lengths.
#include "transport/probe.hpp"

#include <chrono>

#include "cluster/bytes.hpp"
#include "cluster/child.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"

namespace leadline::transport {
namespace {

using cluster::append;
using cluster::append_text;

std::string reason_of(const Error& error) { return error.why().empty() ? error.problem() : error.why(); }

/// In the child: why_absent, settings, why_unusable, facts.
std::string find_out(const std::string& path, Ask ask) {
  std::string answer;
  const Module* module = nullptr;
  try {
    module = open_file(path).module;
  } catch (const Error& error) {
    append_text(answer, reason_of(error));
    return answer;
  }
  append_text(answer, "");
  if (ask == Ask::whether_it_loads) return answer;
  append(answer, static_cast<std::uint32_t>(module->settings.size()));
  for (const Setting& setting : module->settings) {
    for (const char* text : {setting.name, setting.value, setting.meaning}) append_text(answer, text);
  }
  try {
    const std::vector<Fact> facts = module->facts();
    append_text(answer, "");
    append(answer, static_cast<std::uint32_t>(facts.size()));
    for (const Fact& fact : facts) {
      append_text(answer, fact.name);
      append_text(answer, fact.value);
    }
  } catch (const Error& error) {
    append_text(answer, error.what());
  }
  return answer;
}

void read_answer(const std::string& answer, Availability& its) {
  cluster::Reader from(answer);
  its.why_absent = from.text();
  for (auto left = from.number<std::uint32_t>(); left > 0; --left) {
    KnownSetting setting;
    for (std::string* text : {&setting.name, &setting.value, &setting.meaning}) *text = from.text();
    its.settings.push_back(std::move(setting));
  }
  its.why_unusable = from.text();
  for (auto left = from.number<std::uint32_t>(); left > 0; --left) {
    Fact fact;
    for (std::string* text : {&fact.name, &fact.value}) *text = from.text();
    its.facts.push_back(std::move(fact));
  }
}

Availability probe(const Entry& entry, const ModuleFile& file, Ask ask) {
  Availability its;
  its.entry = &entry;
  its.file = &file;
  its.path = path_of(file);
  const auto answer = cluster::ask_child([&] { return find_out(its.path, ask); }, std::chrono::seconds(20));
  if (answer.text) {
    read_answer(*answer.text, its);
  } else {
    its.why_absent = "the process that loaded it: " + answer.why;
  }
  return its;
}

}  // namespace

std::vector<Availability> probe_all(Ask ask) {
  std::vector<Availability> all;
  for (const Entry& entry : transports()) {
    for (const ModuleFile& file : entry.files()) all.push_back(probe(entry, file, ask));
  }
  return all;
}

}  // namespace leadline::transport
