// SPDX-License-Identifier: Apache-2.0
// What is drawn over the matrix: circles, outlines and flags where something stands out, and what the reader has marked.
const CIRCLE = 9, SMALLEST_OUTLINE = 16, LARGE_CELL = 24;

/* marked: {hosts: Set of host indices and pair: {from, to} or null as the reader chose; slow_hosts, slow_ranks: Sets} */

function draw_marks(svg, matrix, view, box, marked, found, chosen_finding) {
  const clip = add(add(svg, "defs", {}), "clipPath", { id: "matrix-clip" });
  add(clip, "rect", { x: box.left, y: box.top, width: box.side, height: box.side });
  const inside = add(svg, "g", { "clip-path": "url(#matrix-clip)" }), scale = box.side / view.span, numbers = add(svg, "g", {});
  const place = { matrix, view, box, scale, numbers, x: (at) => box.left + (at - view.column) * scale, y: (at) => box.top + (at - view.row) * scale };
  for (const host of marked.hosts) for (const one of stretches_of_host(matrix, host)) draw_cross(inside, place, one, one);
  if (marked.pair) draw_cross(inside, place, cell_of(matrix, marked.pair.from), cell_of(matrix, marked.pair.to));
  for (const one of found.filter(({ kind }) => kind === "link")) {
    draw_outline(svg, place, one);
    if (one.is_both) draw_outline(svg, place, { ...one, from: one.to, to: one.from });
  }
  for (const one of found.filter(({ kind }) => kind === "pair")) draw_circle(svg, place, one);
  for (const one of found.filter(({ kind }) => kind === "host" || kind === "rank")) draw_flags(svg, place, one);
  draw_findings(svg, place, chosen_finding);
  svg.appendChild(numbers);  // on top of all outlines
}

const stretches_of_host = (matrix, host) => segments_of(matrix).filter((one) => one.value === host);

// The cell of the finest picture in which a rank is, in positions.
function cell_of(matrix, rank) {
  const edge = matrix.data.edge, first = Math.floor(matrix.place_of(rank) / edge) * edge;
  return { first, end: Math.min(first + edge, matrix.positions) };
}

// Lines along both sides of a row and of a column.
function draw_cross(parent, { box, x, y }, row, column) {
  for (const kind of ["cross halo", "cross"]) {
    for (const at of [y(row.first), y(row.end)]) add(parent, "line", { class: kind, x1: box.left, x2: box.left + box.side, y1: at, y2: at });
    for (const at of [x(column.first), x(column.end)]) add(parent, "line", { class: kind, y1: box.top, y2: box.top + box.side, x1: at, x2: at });
  }
}

const is_in_box = (box, x, y) => x >= box.left && y >= box.top && x <= box.left + box.side && y <= box.top + box.side;

function draw_number({ box, numbers }, one, x, y) {
  if (!one.is_listed) return;
  const is_right = x + 16 < box.left + box.side;
  add(numbers, "text", { class: "number", x: is_right ? x : x - 2 * CIRCLE - 12, y, "text-anchor": is_right ? "start" : "end" }, String(one.number));
}

function draw_circle(svg, drawn, one) {
  const { matrix, box, scale, x, y } = drawn;
  const row = cell_of(matrix, one.from), column = cell_of(matrix, one.to), r = Math.max(CIRCLE, (row.end - row.first) * scale * 0.72);
  const place = { cx: x((column.first + column.end) / 2), cy: y((row.first + row.end) / 2), r };
  if (!is_in_box(box, place.cx, place.cy)) return;
  // Around a large cell a circle would cross its neighbours.
  const wide = (row.end - row.first) * scale, [shape, around] = wide < LARGE_CELL ? ["circle", place]
    : ["rect", { x: x(column.first) - 2, y: y(row.first) - 2, width: wide + 4, height: wide + 4, rx: 3 }];
  add(svg, shape, { class: "rare halo", ...around });
  add(svg, shape, { class: "rare", ...around });
  if (shape === "circle") draw_number(drawn, one, place.cx + r + 3, place.cy - r + 6);
}

// Hosts whose ranks are strewn over the axis have no block.
function draw_outline(svg, drawn, one) {
  const { matrix, view, box, x, y } = drawn;
  const rows = stretches_of_host(matrix, one.from), columns = stretches_of_host(matrix, one.to);
  if (rows.length !== 1 || columns.length !== 1) return;
  const [row, column] = [rows[0], columns[0]];
  if (row.end <= view.row || column.end <= view.column || row.first >= view.row + view.span || column.first >= view.column + view.span) return;
  const wide = (from, to) => { const more = Math.max(SMALLEST_OUTLINE - (to - from), 4) / 2; return [from - more, to + more]; };
  const [left, right] = wide(x(column.first), x(column.end)).map((at) => clamp(at, box.left - 3, box.left + box.side + 3));
  const [top, bottom] = wide(y(row.first), y(row.end)).map((at) => clamp(at, box.top - 3, box.top + box.side + 3));
  const place = { x: left, y: top, width: right - left, height: bottom - top, rx: 2 };
  add(svg, "rect", { class: "rare halo", ...place });
  add(svg, "rect", { class: "rare", ...place });
  draw_number(drawn, one, right + 3, top + 6);
}

// Small triangles at the edges, right of the row and below the column.
function draw_flags(svg, { matrix, box, x, y }, one) {
  const found = one.kind === "host" ? stretches_of_host(matrix, one.from) : matrix.axis === "hosts" ? [] : [cell_of(matrix, one.from)];
  if (found.length > 8) return;
  for (const { first, end } of found) {
    const row = y((first + end) / 2), column = x((first + end) / 2), right = box.left + box.side + 2, below = box.top + box.side + 2;
    if (row >= box.top && row <= box.top + box.side) {
      add(svg, "path", { class: "flag", d: `M${right} ${row} l9 -5 v10 z` });
      if (one.is_listed) add(svg, "text", { class: "number outside", x: right + 12, y: row + 4 }, String(one.number));
    }
    if (column >= box.left && column <= box.left + box.side) add(svg, "path", { class: "flag", d: `M${column} ${below} l-5 7 h10 z` });
  }
}
