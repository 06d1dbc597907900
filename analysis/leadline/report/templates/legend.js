// SPDX-License-Identifier: Apache-2.0
// What the colours mean: the bar with times and bandwidths, the legend that counts cells, the list of what stands out.
const BAR_ROOM = 206, BAR_WIDTH = 18, MOST_LISTED = 12;

// The range as the reader wants it: robust or whole, logarithmic or linear.
function chosen_range(range, { extent, scale }) {
  if (!range) return null;
  const low = extent === "whole" ? range.min : range.low, high = extent === "whole" ? Math.max(range.max, range.min * 1.001) : range.high;
  const logarithmic = scale === "auto" ? (extent === "whole" ? high / low >= 3 : range.logarithmic) : scale === "logarithmic";
  return { ...range, low, high, logarithmic };
}

const bar_height = (side) => clamp(side - 60, 150, 320);

function draw_colour_bar(svg, part, range, x, top, side) {
  const height = bar_height(side), y = top + 34, right = x + BAR_WIDTH, id = "colour-bar";
  const gradient = add(add(svg, "defs", {}), "linearGradient", { id, x1: 0, x2: 0, y1: 1, y2: 0 });
  page.colours.map.forEach((stop, i) => add(gradient, "stop", { offset: i / (page.colours.map.length - 1), "stop-color": stop }));
  add(svg, "text", { class: "title", x, y: top + 4 }, `time, ${part.time_unit.name}`);
  const second = second_scale(part);
  add(svg, "text", { class: "title", x: right + 64, y: top + 4 }, second.title);
  add(svg, "text", { class: "soft", x, y: top + 24 }, "slow");
  add(svg, "text", { class: "soft", x, y: y + height + 17 }, "fast");
  add(svg, "rect", { x, y, width: BAR_WIDTH, height, fill: range.high > range.low ? `url(#${id})` : "rgb(" + mapped(0.5).join(",") + ")" });
  add(svg, "rect", { class: "frame", x, y, width: BAR_WIDTH, height });
  const pixel = (time_ns) => y + height * (1 - position(range, time_ns));
  const low = range.low / part.time_unit.scale, high = range.high / part.time_unit.scale;
  for (const value of nice_values(low, high, range.logarithmic, 9)) {
    const at = pixel(value * part.time_unit.scale);
    add(svg, "line", { class: "tick", x1: right, x2: right + 5, y1: at, y2: at });
    add(svg, "text", { x: right + 9, y: at + 4 }, low < high ? plain(value) : number(value));
  }
  const offset = right + 64;
  add(svg, "line", { class: "tick", x1: offset, x2: offset, y1: y, y2: y + height });
  if (second.at(range.low) > 0) draw_second_scale(svg, range, offset, pixel, second);
}

// What else a time is: a bandwidth, or a multiple of the time that the part is relative to.
function second_scale(part) {
  if (part.relative_to_ns) {
    return { title: terms.relative, at: (time_ns) => time_ns / part.relative_to_ns, time_of: (value) => value * part.relative_to_ns };
  }
  const { scale, name } = part.bandwidth_unit;
  return { title: `bandwidth, ${name}`, at: (time_ns) => bandwidth_of(part, time_ns) / scale, time_of: (value) => bandwidth_of(part, value * scale) };
}

// On a linear axis of times, bandwidths crowd at the slow end: those that touch others are left out.
function draw_second_scale(svg, range, x, pixel, second) {
  const [low, high] = [second.at(range.low), second.at(range.high)].sort((a, b) => a - b);
  const wanted = nice_values(low, high, range.logarithmic || range.high > 2 * range.low, 9)
    .map((value) => ({ value, at: pixel(second.time_of(value)), size: LINE_HEIGHT }));
  for (const { value, at } of without_overlap(wanted)) {
    add(svg, "line", { class: "tick", x1: x, x2: x + 5, y1: at, y2: at });
    add(svg, "text", { x: x + 9, y: at + 4 }, range.low < range.high ? plain(value) : number(value));
  }
}

function tell_legend(legend, part, range, found) {
  const limit = (value) => time_text(part, value, 3), cells = (count) => (found.is_rough ? "" : `: ${plural(count, "cell")}`);
  const entries = {
    above: [found.above, range && `slower than ${limit(range.high)}${cells(found.above)}`],
    below: [found.below, range && `faster than ${limit(range.low)}${cells(found.below)}`],
    missing: [found.missing, `not measured${cells(found.missing)}`],
    outside: [found.outside, terms.outside],
    diagonal: [Number(found.has_own), terms.own],
  };
  for (const [name, [count, text]] of Object.entries(entries)) {
    const entry = legend.querySelector(`span.${name}`);
    entry.hidden = !count;
    if (text) entry.querySelector(".text").textContent = text;
  }
}

/* What stands out in a slice beside the findings that the page lists, in the order of the list: {kind: host, rank, link or pair, number, from, to, ratio,
   is_both: slow in both directions, is_listed: the list has it}. from and to are hosts of a link, ranks of a pair; a host or a rank has from only. */
function striking(part) {
  const found = [], before = page.findings ? page.findings.length : 0;
  const put = (kind, from, to, ratio) => { found.push({ kind, from, to, ratio }); };
  const numbered = (all) => all.map((one, i) => ({ ...one, number: before + i + 1, is_listed: i < MOST_LISTED }));
  const add_pairs = () => { for (const { from, to, ratio } of part.standouts.slice(0, part.num_circled)) put("pair", from, to, ratio); };
  if (page.findings) {
    add_pairs();
    return numbered(found.filter((one) => !findings_of(part).some(({ blocks }) => blocks.some(([a, b]) => a && a.ranks && b && b.ranks && a.ranks[0] === one.from && b.ranks[0] === one.to))));
  }
  for (const [host, ratio] of part.slow_hosts) put("host", host, null, ratio);
  for (const [rank, ratio] of part.slow_ranks) put("rank", rank, null, ratio);
  for (const [from, to, ratio] of part.slow_links) {
    const back = found.find((one) => one.kind === "link" && one.from === to && one.to === from);
    if (back) back.is_both = true;
    else put("link", from, to, ratio);
  }
  add_pairs();
  return numbered(found);
}

const SIGNS = { host: "▲", rank: "▲", link: "▭", pair: "○" };

function name_of(one) {
  const host = (rank) => short_names[page.host_of[rank]];
  if (one.kind === "host") return [`host ${short_names[one.from]}`, ""];
  if (one.kind === "rank") return [`rank ${one.from}`, `on ${host(one.from)}`];
  if (one.kind === "link") return [`${short_names[one.from]} ${one.is_both ? "⇄" : "→"} ${short_names[one.to]}`, "all pairs of these hosts"];
  return [`${one.from} → ${one.to}`, `${host(one.from)} → ${host(one.to)}`];
}

function tell_striking(list, found) {
  list.replaceChildren();
  const heading = by_id("striking-heading");
  if (heading) heading.hidden = list.hidden = Boolean(page.findings) && !found.length;
  if (!found.length) add(list, "li", { class: "none" }, terms.nothing);
  for (const one of found.slice(0, MOST_LISTED)) {
    const names = { host: { "data-host": one.from }, rank: { "data-rank": one.from },
      link: { "data-from-host": one.from, "data-to-host": one.to }, pair: { "data-from": one.from, "data-to": one.to } };
    const button = add(add(list, "li", {}), "button", { type: "button", ...names[one.kind] }), [what, where] = name_of(one);
    add(button, "span", { class: "sign" }, `${SIGNS[one.kind]} ${one.number}`);
    const words = add(button, "span", { class: "words" });
    add(words, "strong", {}, what);
    if (where) add(words, "small", {}, where);
    add(button, "span", { class: "ratio" }, `${plain(one.ratio, 3)} ×`);
  }
  if (found.length > MOST_LISTED) add(list, "li", { class: "none" }, `and ${found.length - MOST_LISTED} more`);
}
