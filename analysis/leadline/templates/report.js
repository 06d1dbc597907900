// SPDX-License-Identifier: Apache-2.0
// What the report shows: the matrices in the page's data, as chosen. Stands in one function with matrix.js, behind it.
const page = JSON.parse(by_id("data").textContent);
const chosen = { part: 0, statistic: page.first_statistic, host_statistic: "hosts_median", order: "rank" };
const decoded = new Map();

function values(part, name) {
  const key = page.parts.indexOf(part) + " " + name;
  if (!decoded.has(key)) decoded.set(key, floats(part.times[name] || part[name]));
  return decoded.get(key);
}

// Whether the run was to measure a cell. Where nothing is said, all of them.
function test_of(part, name) {
  if (part[name] === undefined) return () => true;
  const key = page.parts.indexOf(part) + " " + name;
  if (!decoded.has(key)) decoded.set(key, bits(part[name]));
  return decoded.get(key);
}

function rank_order() {
  const order = Array.from({ length: page.num_ranks }, (_, rank) => rank);
  return chosen.order === "host" ? order.sort((a, b) => page.host_of[a] - page.host_of[b] || a - b) : order;
}

function host_segments(order) {
  const segments = [];
  order.forEach((rank, at) => {
    const name = page.hosts[page.host_of[rank]], last = segments[segments.length - 1];
    if (last && last.name === name) last.end = at + 1;
    else segments.push({ name, first: at, end: at + 1 });
  });
  return segments;
}

function common(part) {
  const to_bandwidth = (time_ns) => page.num_directions * part.message_size_bytes * 1e9 / time_ns;
  return { unit: part.time_unit, bandwidth_unit: part.bandwidth_unit, to_bandwidth };
}

function time_text(part, time_ns) {
  return `${number(time_ns / part.time_unit.scale)} ${part.time_unit.name}`;
}

function bandwidth_row(part, time_ns) {
  const speed = common(part).to_bandwidth(time_ns) / part.bandwidth_unit.scale;
  return ["bandwidth", `${number(speed)} ${part.bandwidth_unit.name}`];
}

function describe_ranks(part, order, n) {
  const name = (at) => {
    const first = at * page.edge, last = Math.min(first + page.edge, page.num_ranks) - 1;
    const hosts = page.hosts[page.host_of[order[first]]] + (page.host_of[order[first]] !== page.host_of[order[last]] ? ` to ${page.hosts[page.host_of[order[last]]]}` : "");
    return (first === last ? `rank ${order[first]}` : `ranks ${first} to ${last}`) + ` (${hosts})`;
  };
  const in_test = test_of(part, "cells");
  return (row, column) => {
    const title = `from ${name(row)} to ${name(column)}`;
    const at = page.edge > 1 ? row * n + column : order[row] * n + order[column];
    const main = values(part, page.statistics[0])[at];
    if (row === column && !page.has_loop && page.edge === 1) return { title, rows: [["a rank to itself", "not a pair"]] };
    if (Number.isNaN(main)) return { title, rows: [[in_test(at) ? "not measured" : "not in this test", "–"]] };
    const rows = page.statistics.map((statistic) => [(page.edge > 1 ? "largest " : "") + statistic, time_text(part, values(part, statistic)[at])]);
    rows.push(bandwidth_row(part, values(part, chosen.statistic)[at]));
    rows[rows.length - 1][0] += ` at ${chosen.statistic}`;
    if (part.count !== undefined) rows.push(["batches", String(typeof part.count === "number" ? part.count : values(part, "count")[at])]);
    return { title, rows };
  };
}

function draw_ranks(part) {
  const order = rank_order(), n = Math.ceil(page.num_ranks / page.edge), times = values(part, chosen.statistic);
  const rank_names = (at) => order[at], in_test = test_of(part, "cells");
  const place = page.edge > 1 ? (row, column) => row * n + column : (row, column) => order[row] * n + order[column];
  draw_matrix({
    ...common(part), root: by_id("rank-matrix"), n, range: part.ranges[chosen.statistic],
    at: (row, column) => times[place(row, column)],
    in_test: (row, column) => in_test(place(row, column)),
    ticks: { per_cell: page.edge, count: page.num_ranks, names: rank_names },
    segments: host_segments(order), names: { from: "from rank", to: "to rank" },
    // A tile on the diagonal has pairs in it.
    diagonal: page.has_loop || page.edge > 1,
    describe: describe_ranks(part, order, n),
  });
}

function draw_hosts(part) {
  if (!by_id("host-matrix")) return;
  const n = page.hosts.length, times = values(part, chosen.host_statistic), in_test = test_of(part, "host_cells");
  draw_matrix({
    ...common(part), root: by_id("host-matrix"), n, range: part.ranges[chosen.host_statistic],
    at: (row, column) => times[row * n + column],
    in_test: (row, column) => in_test(row * n + column),
    ticks: { per_cell: 1, count: n, names: null },
    segments: page.hosts.map((name, at) => ({ name, first: at, end: at + 1 })),
    names: { from: "from host", to: "to host" }, diagonal: true,
    describe: (row, column) => {
      const [median, worst] = ["hosts_median", "hosts_worst"].map((name) => values(part, name)[row * n + column]);
      const title = row === column ? `inside ${page.hosts[row]}` : `from ${page.hosts[row]} to ${page.hosts[column]}`;
      if (Number.isNaN(median)) return { title, rows: [[in_test(row * n + column) ? "not measured" : "not in this test", "–"]] };
      return { title, rows: [["median of pairs", time_text(part, median)], ["worst of pairs", time_text(part, worst)], bandwidth_row(part, median)] };
    },
  });
}

function show() {
  const part = page.parts[chosen.part];
  document.querySelectorAll(".part").forEach((block) => { block.hidden = Number(block.dataset.part) !== chosen.part; });
  document.querySelectorAll(".part-name").forEach((heading) => { heading.hidden = false; });
  draw_ranks(part);
  draw_hosts(part);
  document.documentElement.dataset.drawn = `${chosen.part} ${chosen.statistic}`;
}

function choose_part() {
  const size = by_id("size"), repeat = by_id("repeat");
  const fits = (part) => (!size || part.size_index === Number(size.value)) && (!repeat || part.repeat === Number(repeat.value));
  const found = page.parts.findIndex(fits);
  // A run that was stopped may have this size, but not in this repeat.
  if (found >= 0) chosen.part = found;
  if (size) size.value = String(page.parts[chosen.part].size_index);
  if (repeat) repeat.value = String(page.parts[chosen.part].repeat);
  show();
}

function listen(id, react) {
  const element = by_id(id);
  if (element) element.addEventListener("change", () => { react(element.value); });
}

listen("size", choose_part);
listen("repeat", choose_part);
listen("statistic", (name) => { chosen.statistic = name; show(); });
listen("host-statistic", (name) => { chosen.host_statistic = name; show(); });
listen("order", (name) => { chosen.order = name; show(); });
for (const id of ["controls", "host-controls"]) if (by_id(id)) by_id(id).hidden = false;
by_id("statistic").value = chosen.statistic;
for (const [id, value] of [["size", page.parts[0].size_index], ["repeat", page.parts[0].repeat]]) {
  if (by_id(id)) by_id(id).value = String(value);
}
show();
// Zooming the page changes the pixels of a cell.
window.addEventListener("resize", show);
