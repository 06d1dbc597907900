// SPDX-License-Identifier: Apache-2.0
// Sizes, rates and times with the unit that fits them, and one unit for all values of a chart.
const BYTE_NAMES = ["B", "KiB", "MiB", "GiB", "TiB"];

const index_of_unit = (value) => (value > 0 ? clamp(Math.floor(Math.log2(value) / 10), 0, BYTE_NAMES.length - 1) : 0);
function size_name(bytes) {
  const at = bytes > 0 ? BYTE_NAMES.findLastIndex((_, power) => bytes % 1024 ** power === 0) : 0;
  return `${bytes / 1024 ** at} ${BYTE_NAMES[at]}`;
}
function rate_text(value) {
  const at = index_of_unit(value);
  return `${number(value / 1024 ** at)} ${BYTE_NAMES[at]}/s`;
}
function nanoseconds_text(value, digits = 4) {
  const at = clamp(Math.floor(Math.log10(value) / 3), 0, 3);
  return `${number(value / 1000 ** at, digits)} ${["ns", "µs", "ms", "s"][at]}`;
}

// A unit for the middle of what is shown.
function unit_of(series) {
  const values = series.flatMap(({ points }) => points.map(({ y }) => y)).filter((y) => y > 0);
  const at = values.length ? index_of_unit(Math.sqrt(Math.min(...values) * Math.max(...values))) : 0;
  return { name: `${BYTE_NAMES[at]}/s`, scale: 1024 ** at };
}

const sized = (bytes) => Math.log2(Math.max(bytes, 0.5));
