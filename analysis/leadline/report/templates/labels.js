// SPDX-License-Identifier: Apache-2.0
// Names along an axis: which of them fit, without one touching another, and how long names are shortened.
const LONGEST_NAME = 16, LINE_HEIGHT = 14;
const ruler = document.createElement("canvas").getContext("2d");

function text_width(text, weight = 400) {
  ruler.font = `${weight} 12px ` + getComputedStyle(document.body).fontFamily;
  return ruler.measureText(text).width;
}

// How many letters all host names have in common at their beginning, and at their end.
const common_ends = (() => {
  const [first, ...others] = page.hosts, shortest = Math.min(...page.hosts.map((name) => name.length));
  let prefix = 0, suffix = 0;
  if (others.length) {
    while (prefix < shortest && others.every((name) => name[prefix] === first[prefix])) ++prefix;
    while (suffix < shortest - prefix && others.every((name) => name.at(-1 - suffix) === first.at(-1 - suffix))) ++suffix;
  }
  return [prefix, suffix];
})();

// Long names are told apart by what they do not have in common: that stays, with a little of what stands before it.
function shortened(name) {
  if (name.length <= LONGEST_NAME) return name;
  const [prefix, suffix] = common_ends, front = Math.max(prefix - 6, 0), back = suffix > 1 ? suffix : 0;
  const short = (front ? "…" : "") + name.slice(front, name.length - back) + (back ? "…" : "");
  return short.length <= LONGEST_NAME ? short : short.slice(0, LONGEST_NAME / 2) + "…" + short.slice(-LONGEST_NAME / 2);
}

const short_names = page.hosts.map(shortened);
const longest_name = Math.max(0, ...[...new Set(short_names.map((name) => name.length))].sort((a, b) => b - a).slice(0, 3)
  .flatMap((length) => short_names.filter((name) => name.length === length).slice(0, 40))
  .map((name) => text_width(name, 700)));

// Stretches of the axis with the same value, in positions: [{value, first, end}].
function stretches(matrix, value_of) {
  const found = [];
  for (let at = 0; at < matrix.positions; ++at) {
    const value = value_of(matrix.ranks[matrix.begins[at]]), last = found[found.length - 1];
    if (last && last.value === value) last.end = at + 1;
    else found.push({ value, first: at, end: at + 1 });
  }
  return found;
}

// The hosts along an axis and, where they are known and a host has several, their NUMA nodes.
function segments_of(matrix) {
  if (!matrix.segments) {
    matrix.segments = stretches(matrix, (rank) => page.host_of[rank]);
    const sockets = page.socket_of && matrix.axis !== "hosts"
      ? stretches(matrix, (rank) => `${page.host_of[rank]} ${page.socket_of[rank]}`).filter((one) => !one.value.endsWith(" -1")) : [];
    matrix.sockets = sockets.length > matrix.segments.length ? sockets : [];
  }
  return matrix.segments;
}

// Those of a list of segments that are in sight between two positions.
function in_sight(segments, begin, end) {
  if (!segments.firsts) segments.firsts = segments.map((one) => one.first);
  const first = Math.max(place_above(segments.firsts, begin) - 1, 0);
  const found = [];
  for (let i = first; i < segments.length && segments[i].first < end; ++i) if (segments[i].end > begin) found.push({ ...segments[i], index: i });
  return found;
}

/* Which labels are written. wanted: [{at: pixel of the middle, size: pixels it takes, urgent}], in order; the urgent ones
   come first, and the others where they leave room. */
function without_overlap(wanted) {
  const taken = [], fits = (one) => taken.every((other) => Math.abs(one.at - other.at) >= (one.size + other.size) / 2);
  for (const one of [...wanted.filter((label) => label.urgent), ...wanted.filter((label) => !label.urgent)]) if (fits(one)) taken.push(one);
  return taken;
}

// The smallest of 1, 2, 5, 10, 20, 50 ... that is at least so large.
function round_step(least) {
  for (let k = 0; ; ++k) {
    const step = [1, 2, 5][k % 3] * 10 ** Math.floor(k / 3);
    if (step >= least) return step;
  }
}
