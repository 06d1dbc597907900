// SPDX-License-Identifier: Apache-2.0
// The findings of the diagnosis: outlines of their pairs in the matrix, and the way from these to the list of findings and back.

/* page.findings, in the order of the list: [{number, part: index of the only slice that shows it or null = all, is_bad,
   blocks: [[from, to]] of {hosts: indices}, {ranks} or null = all}]; absent where the page has no list. */
const MOST_STRETCHES = 8, SMALLEST_BAND = 5;
const findings_of = (part) => (page.findings || []).filter((one) => one.part === null || page.parts[one.part] === part);

// The ranks at the ends of findings first, in the order of the list, then the others by their numbers.
function order_by_findings(part) {
  const all = page.host_of.map((_, rank) => rank), ends = findings_of(part).flatMap((one) => one.blocks.flat()).filter((end) => end);
  const ranks_of = ({ hosts, ranks }) => ranks || hosts.flatMap((host) => all.filter((rank) => page.host_of[rank] === host));
  return [...new Set([...ends.flatMap(ranks_of), ...all])];
}

// Stretches of positions of hosts or ranks along the axis.
function stretches_of(matrix, which) {
  if (!which) return [{ first: 0, end: matrix.positions }];
  if (which.ranks) return which.ranks.map((rank) => cell_of(matrix, rank));
  const wanted = new Set(which.hosts), found = [];
  for (const one of segments_of(matrix)) {
    if (!wanted.has(one.value)) continue;
    const last = found[found.length - 1];
    if (last && last.end === one.first) last.end = one.end;
    else found.push({ first: one.first, end: one.end });
  }
  return found;
}

function draw_findings(svg, place, chosen_number) {
  const seats = new Set();
  for (const one of findings_of(place.matrix.part)) {
    for (const [from, to] of one.blocks) {
      const rows = stretches_of(place.matrix, from), columns = stretches_of(place.matrix, to);
      if (rows.length * columns.length > MOST_STRETCHES) continue;
      for (const row of rows) for (const column of columns) draw_finding(svg, place, one, row, column, one.number === chosen_number, seats);
    }
  }
}

function draw_finding(svg, { view, box, x, y, numbers }, one, row, column, is_chosen, seats) {
  if (row.end <= view.row || column.end <= view.column || row.first >= view.row + view.span || column.first >= view.column + view.span) return;
  const is_single = (stretch, all) => stretch.end - stretch.first < all;
  const wide = (from, to, least) => { const more = Math.max(least - (to - from), 0) / 2; return [from - more, to + more]; };
  const is_block = is_single(row, view.span / 2) && is_single(column, view.span / 2), least = is_block ? SMALLEST_OUTLINE : SMALLEST_BAND;
  const [left, right] = wide(x(column.first), x(column.end), least).map((at) => clamp(at, box.left - 3, box.left + box.side + 3));
  const [top, bottom] = wide(y(row.first), y(row.end), least).map((at) => clamp(at, box.top - 3, box.top + box.side + 3));
  const place = { x: left, y: top, width: right - left, height: bottom - top, rx: 2, "data-finding": one.number };
  const kind = (is_chosen ? "finding chosen" : "finding") + (one.is_bad ? "" : " remark");
  for (const what of [`${kind} halo`, kind, "finding catch"]) add(svg, "rect", { class: what, ...place });
  // The number stands at the right end of a row, below a column, beside a block; numbers that would touch stand aside.
  const is_column = !is_block && bottom - top > right - left;
  let [at, line] = is_column ? [(left + right) / 2, box.top + box.side - 6] : [Math.min(right + 3, box.left + box.side - 18), is_block ? top + 6 : (top + bottom) / 2 + 5];
  line = clamp(line, box.top + 12, box.top + box.side - 2);
  while (seats.has(`${Math.round(at / 14)} ${Math.round(line / 14)}`)) at -= 16;
  seats.add(`${Math.round(at / 14)} ${Math.round(line / 14)}`);
  add(numbers, "text", { class: `number finding-number${one.is_bad ? "" : " remark"}`, x: at, y: line, "text-anchor": is_column ? "middle" : "start", "data-finding": one.number }, String(one.number));
}

// The entry of the list: chosen, open and in sight.
function show_finding(number) {
  const entry = by_id(`finding-${number}`);
  choose_finding(number);
  if (!entry) return;
  const details = entry.querySelector("details");
  if (details) details.open = true;
  entry.scrollIntoView({ block: "nearest" });
}

function choose_finding(number) {
  document.querySelectorAll("[id^=finding-].chosen").forEach((one) => one.classList.remove("chosen"));
  const entry = number === null ? null : by_id(`finding-${number}`);
  if (entry) entry.classList.add("chosen");
}
