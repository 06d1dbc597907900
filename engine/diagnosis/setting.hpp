// SPDX-License-Identifier: Apache-2.0
// What all parts of a diagnosis ask about who stands where, worked out once.
#pragma once

#include "diagnosis/layout.hpp"

namespace leadline::diagnosis {

/// A layout with what follows from it.
struct Setting {
  explicit Setting(const Layout& its_layout)
      : layout(its_layout), classes(its_layout), hosts(members_of(its_layout.host_of)) {}

  const Layout& layout;
  PairClasses classes;
  Members hosts;
};

}  // namespace leadline::diagnosis
