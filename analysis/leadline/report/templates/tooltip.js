// SPDX-License-Identifier: Apache-2.0
// The words beside the mouse: whose cell it is, and all that is known of its pairs.
const host_name = (rank) => page.hosts[page.host_of[rank]];

// A row or column of a cell in words.
function side_words(matrix, edge, cell) {
  const [begin, end] = matrix.places_of(cell, edge), ranks = matrix.ranks.slice(begin, end), first = ranks[0], last = ranks[ranks.length - 1];
  if (matrix.axis === "hosts") return host_name(first) + (edge > 1 && host_name(first) !== host_name(last) ? ` and up to ${host_name(last)}` : "");
  const hosts = host_name(first) === host_name(last) ? host_name(first) : `${host_name(first)} to ${host_name(last)}`;
  return (ranks.length === 1 ? `rank ${first}` : `ranks ${first} to ${last}`) + ` (${hosts})`;
}

function cell_title(matrix, edge, row, column) {
  const from = side_words(matrix, edge, row);
  if (matrix.axis === "hosts" && edge === 1 && row === column) return `inside ${from}`;
  return `from ${from} to ${side_words(matrix, edge, column)}`;
}

// What is known of a cell as pairs of words; cell as a matrix describes it.
function cell_rows(layer, edge, cell) {
  const { matrix, statistic } = layer, { part } = matrix, is_single = matrix.is_single(edge), rows = [];
  const times = page.statistics.filter((name) => Number.isFinite(cell.time_ns[name]));
  if (!cell.num_pairs) return [[terms.outside, "–"]];
  if (!times.length) return [["not measured", is_single ? "–" : plural(cell.num_missing || cell.num_pairs, terms.pair)]];
  if (!is_single) {
    rows.push([`worst of ${plural(cell.num_pairs - cell.num_missing, terms.pair)}`, `rank ${cell.from} → rank ${cell.to}`]);
    const hosts = `${host_name(cell.from)} → ${host_name(cell.to)}`;
    if (matrix.axis !== "hosts" || edge > 1) rows.push(["its hosts", hosts]);
  }
  for (const name of times) rows.push([name === "median" ? terms.median : name, time_text(part, cell.time_ns[name])]);
  if (part.relative_to_ns) rows.push([terms.relative, number(cell.time_ns[statistic] / part.relative_to_ns, 3)]);
  const by_expected = factor_text(part, statistic, cell);
  if (by_expected) rows.push(["by expected", by_expected]);
  const bandwidth = statistic === "median" ? terms.bandwidth : `bandwidth at ${statistic}`;
  if (Number.isFinite(cell.time_ns[statistic])) rows.push([bandwidth, bandwidth_text(part, cell.time_ns[statistic])]);
  if (!is_single && Number.isFinite(cell.median_ns)) rows.push(["middle of the pairs", time_text(part, cell.median_ns)]);
  if (cell.count) rows.push(["batches", grouped(cell.count)]);
  if (cell.round) rows.push(["round", grouped(cell.round)]);
  const known = part.standouts.find((one) => one.from === cell.from && one.to === cell.to);
  if (known && !part.relative_to_ns) rows.push(["beyond what is usual", `${plain(known.ratio, 3)} ×`]);
  if (cell.num_missing) rows.push(["not measured", plural(cell.num_missing, terms.pair)]);
  return rows;
}

function show_tooltip(title, rows, page_x, page_y) {
  const tooltip = by_id("tooltip"), list = document.createElement("dl");
  tooltip.replaceChildren();
  add(tooltip, "p", {}, title);
  for (const [name, value] of rows) {
    add(list, "dt", {}, name);
    add(list, "dd", {}, value);
  }
  tooltip.appendChild(list);
  tooltip.hidden = false;
  const right = window.scrollX + document.documentElement.clientWidth - tooltip.offsetWidth - 8;
  const below = window.scrollY + window.innerHeight - tooltip.offsetHeight - 8;
  tooltip.style.left = Math.max(Math.min(page_x + 16, right), window.scrollX) + "px";
  tooltip.style.top = (page_y + 16 <= below ? page_y + 16 : Math.max(page_y - tooltip.offsetHeight - 12, window.scrollY)) + "px";
}

const hide_tooltip = () => { by_id("tooltip").hidden = true; };
