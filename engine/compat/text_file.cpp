// SPDX-License-Identifier: Apache-2.0
// Writes through to the system, so that a kill takes nothing away.
#include "compat/text_file.hpp"

#include <cstdint>
#include <memory>

#include "core/error.hpp"
#include "result/output_file.hpp"

namespace leadline::compat {
namespace {

struct TextFile {
  result::OutputFile file;
  std::uint64_t size_bytes = 0;
};

/// Does `work`, whose errors name the engine's option.
template <class Work>
auto in_words_of(const std::string& option, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string theirs = "--output";
    std::string hint = error.hint();
    if (const auto at = hint.find(theirs); at != std::string::npos) hint.replace(at, theirs.size(), option);
    throw Error(error.status(), error.problem(), error.why(), hint);
  }
}

}  // namespace

std::function<void(const std::string& text)> appending_to(const std::string& path, const std::string& option) {
  auto made = in_words_of(option, [&] {
    return std::make_shared<TextFile>(TextFile{result::OutputFile::create(path, result::ExistingFile::overwrite)});
  });
  return [made, option](const std::string& text) {
    in_words_of(option, [&] { made->file.write_at(made->size_bytes, text); });
    made->size_bytes += text.size();
  };
}

}  // namespace leadline::compat
