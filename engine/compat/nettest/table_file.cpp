// SPDX-License-Identifier: Apache-2.0
// Writes through to the system, so that a kill takes nothing away.
#include "compat/nettest/table_file.hpp"

#include <cstdint>
#include <memory>

#include "core/error.hpp"
#include "result/output_file.hpp"

namespace leadline::compat::nettest {
namespace {

struct TableFile {
  result::OutputFile file;
  std::uint64_t size_bytes = 0;
};

/// Does `work`, whose errors name the engine's option.
template <class Work>
auto in_words_of_nettest(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string theirs = "--output", ours = "o";
    std::string hint = error.hint();
    if (const auto at = hint.find(theirs); at != std::string::npos) hint.replace(at, theirs.size(), ours);
    throw Error(error.status(), error.problem(), error.why(), hint);
  }
}

}  // namespace

std::function<void(const std::string& text)> appending_to(const std::string& path) {
  auto table = in_words_of_nettest([&] {
    return std::make_shared<TableFile>(TableFile{result::OutputFile::create(path, result::ExistingFile::overwrite)});
  });
  return [table](const std::string& text) {
    in_words_of_nettest([&] { table->file.write_at(table->size_bytes, text); });
    table->size_bytes += text.size();
  };
}

}  // namespace leadline::compat::nettest
