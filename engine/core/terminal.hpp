// SPDX-License-Identifier: Apache-2.0
// What a standard stream leads to: whether that is a terminal, how wide it is, whether it takes colours.
#pragma once

namespace leadline {

inline constexpr int usual_text_width = 80;  ///< columns
inline constexpr const char* erase_line = "\r\x1b[K";

/// Whether `fd` is a terminal that can move its cursor.
bool is_redrawable(int fd);

/// Whether text for `fd` may have colours: on such a terminal, if it controls this process and is not a launcher's,
/// unless NO_COLOR is set (https://no-color.org).
bool takes_colours(int fd);

/// Columns of the terminal `fd` now; usual_text_width where it is none, or does not say.
int terminal_width(int fd);

/// Columns that a table on standard output may have: usual_text_width where that is not the terminal that controls this
/// process, else COLUMNS, else the width of the terminal.
int text_width();

/// What a line on standard error begins with, so that it takes the place of a progress line that may stand there; empty
/// where no progress line can.
const char* over_progress();

}  // namespace leadline
