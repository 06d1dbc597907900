// SPDX-License-Identifier: Apache-2.0
// What stands around the matrix: hosts, NUMA nodes and ranks of what is in sight, at every zoom as many as fit.

/* box: {left, top, side: of the picture, rank_room, socket_room: pixels that the numbers take, bottom: room for names
   below, is_turned: whether names below may stand upright}; marked: see marks.js */
const FLAG_ROOM = 10, SMALLEST_BOUNDED = 14, SMALLEST_BRACKET = 4;

function box_of(matrix, width, height) {
  const is_hosts = matrix.axis === "hosts", segments = segments_of(matrix), num_letters = String(page.num_ranks - 1).length;
  const rank_room = is_hosts ? 0 : text_width("8".repeat(num_letters)) + 12, socket_room = matrix.sockets.length ? 17 : 0;
  const left = 22 + longest_name + 14 + rank_room + socket_room, top = 24 + (is_hosts ? 0 : 18) + socket_room;
  const room = (bottom) => Math.min(width - left, height - top - bottom);
  const shortest = Math.min(...segments.map((one) => one.end - one.first)) / matrix.positions;
  let bottom = FLAG_ROOM + 26, is_turned = false;
  if (segments.length > 60 || room(bottom) * shortest < longest_name + 8) {
    is_turned = true;
    bottom = FLAG_ROOM + longest_name + 14;
  }
  return { left, top, bottom, side: whole_cells(room(bottom), matrix), rank_room, socket_room, is_turned };
}

// Where cells are few, all get the same number of pixels, and not too many.
function whole_cells(room, matrix) {
  const num_cells = Math.ceil(matrix.positions / matrix.data.edge), ratio = window.devicePixelRatio || 1;
  const pixels = Math.floor(Math.max(room, 120) * ratio), largest = num_cells < 4 ? 104 : 88;
  const cell = Math.min(Math.floor(pixels / num_cells), Math.round(largest * ratio));
  return (cell >= 3 ? cell * num_cells : pixels) / ratio;
}

function draw_axes(svg, matrix, view, box, marked) {
  const { left, top, side } = box, scale = side / view.span;
  draw_boundaries(svg, matrix, view, box);
  add(svg, "rect", { class: "frame", x: left - 0.5, y: top - 0.5, width: side + 1, height: side + 1 });
  const num_shown = draw_hosts(svg, matrix, view.row, scale, box, marked, "row");
  draw_hosts(svg, matrix, view.column, scale, box, marked, "column");
  if (matrix.axis !== "hosts") {
    for (const [side_name, begin] of [["row", view.row], ["column", view.column]]) {
      draw_sockets(svg, matrix, begin, scale, box, side_name);
      draw_ranks(svg, matrix, begin, scale, box, marked, side_name);
    }
  }
  const what = matrix.axis === "hosts" ? "host" : "rank", title = add(svg, "text", { class: "title", x: left, y: 13 }, `to ${what} →`);
  if (num_shown > 1) add(title, "tspan", { class: "remark", dx: 14 }, `names of 1 in ${num_shown} hosts`);
  add(svg, "text", { class: "title", transform: `translate(13 ${top}) rotate(-90)`, "text-anchor": "end" }, `← from ${what}`);
}

// The part of a stretch of positions that is in sight, in pixels of the side.
function pixels_of(one, begin, scale, side) {
  return [clamp((one.first - begin) * scale, 0, side), clamp((one.end - begin) * scale, 0, side)];
}

// Names beside the rows or below the columns; one of how many is shown.
function draw_hosts(svg, matrix, begin, scale, box, marked, side_name) {
  const segments = segments_of(matrix), usual = scale * matrix.positions / segments.length;
  const stride = Math.max(1, Math.ceil(LINE_HEIGHT / usual - 1e-9)), is_row = side_name === "row";
  const seen = in_sight(segments, begin, begin + box.side / scale).map((one) => {
    const [from, to] = pixels_of(one, begin, scale, box.side), urgent = marked.hosts.has(one.value) || marked.slow_hosts.has(one.value);
    return { ...one, from, to, at: (from + to) / 2, urgent };
  }).filter((one) => (stride > 1 || one.to - one.from > 0.5) && (one.urgent || (one.index % stride === 0 && (stride > 1 || one.to - one.from >= Math.min(usual, LINE_HEIGHT) * 0.7))));
  const across = !is_row && seen.every((one) => !one.urgent || one.to - one.from > 1)
    && (!box.is_turned || seen.every((one) => (one.end - one.first) * scale > text_width(short_names[one.value]) + 8));
  const wanted = seen.map((one) => ({ ...one, size: across ? text_width(short_names[one.value]) + 8 : LINE_HEIGHT }))
    .filter((one) => !across || one.urgent || one.to - one.from >= one.size);
  const shown = without_overlap(wanted), bracketed = usual < SMALLEST_BRACKET ? shown : in_sight(segments, begin, begin + box.side / scale);
  draw_brackets(svg, bracketed.map((one) => pixels_of(one, begin, scale, box.side)), box, is_row);
  for (const one of shown) is_row ? draw_row_host(svg, one, box, marked) : draw_column_host(svg, one, box, marked, across);
  return stride;
}

function host_label(svg, one, marked, attributes) {
  const kind = marked.hosts.has(one.value) ? "host marked" : marked.slow_hosts.has(one.value) ? "host slow" : "host";
  const label = add(svg, "text", { class: kind, "data-host": one.value, ...attributes }, short_names[one.value]);
  add(label, "title", {}, page.hosts[one.value]);
}

function draw_brackets(svg, stretches_in_pixels, box, is_row) {
  const x = box.left - box.rank_room - box.socket_room - 4, y = box.top + box.side + FLAG_ROOM;
  for (const [from, to] of stretches_in_pixels) {
    const gap = Math.min(1.5, (to - from) / 5);
    add(svg, "line", is_row ? { class: "bracket", x1: x, x2: x, y1: box.top + from + gap, y2: box.top + to - gap }
      : { class: "bracket", y1: y, y2: y, x1: box.left + from + gap, x2: box.left + to - gap });
  }
}

function draw_row_host(svg, one, box, marked) {
  const x = box.left - box.rank_room - box.socket_room - 4;
  host_label(svg, one, marked, { x: x - 5, y: box.top + one.at + 4, "text-anchor": "end" });
}

function draw_column_host(svg, one, box, marked, across) {
  const y = box.top + box.side + FLAG_ROOM, x = box.left + one.at;
  host_label(svg, one, marked, across ? { x, y: y + 16, "text-anchor": "middle" }
    : { transform: `translate(${x + 4} ${y + 5}) rotate(-90)`, "text-anchor": "end" });
}

// Brackets of NUMA nodes between the ranks' numbers and the hosts' names, and their numbers where these fit.
function draw_sockets(svg, matrix, begin, scale, box, side_name) {
  for (const one of in_sight(matrix.sockets, begin, begin + box.side / scale)) {
    const [from, to] = pixels_of(one, begin, scale, box.side), is_row = side_name === "row", wide = to - from;
    if (wide < 5) continue;
    const node = one.value.split(" ")[1], text = wide >= 56 ? `NUMA ${node}` : wide >= LINE_HEIGHT + 4 ? node : "", line = 2;
    const x = box.left - box.rank_room - 2, y = box.top - 20;
    add(svg, "line", is_row ? { class: "socket", x1: x, x2: x, y1: box.top + from + line, y2: box.top + to - line }
      : { class: "socket", y1: y, y2: y, x1: box.left + from + line, x2: box.left + to - line });
    if (!text) continue;
    const place = is_row ? { transform: `translate(${x - 5} ${box.top + (from + to) / 2}) rotate(-90)` } : { x: box.left + (from + to) / 2, y: y - 5 };
    add(svg, "text", { class: "soft", "text-anchor": "middle", ...place }, text);
  }
}

function draw_ranks(svg, matrix, begin, scale, box, marked, side_name) {
  const is_row = side_name === "row", { left, top, side } = box;
  const size = is_row ? LINE_HEIGHT : text_width("8".repeat(String(page.num_ranks - 1).length)) + 7, step = round_step(size / scale - 1e-9);
  const of_pair = is_row ? marked.pair && marked.pair.from : marked.pair && marked.pair.to;
  const urgent = [...marked.slow_ranks, ...(of_pair === null || of_pair === undefined ? [] : [of_pair])].map((rank) => matrix.place_of(rank));
  const regular = [];
  for (let at = Math.ceil((begin - 0.5) / step) * step; at + 0.5 <= begin + side / scale && at < matrix.positions; at += step) if (at >= 0) regular.push(at);
  const wanted = [...urgent.map((at) => [at, true]), ...regular.filter((at) => !urgent.includes(at)).map((at) => [at, false])]
    .map(([place, is_urgent]) => ({ place, at: (place + 0.5 - begin) * scale, size, urgent: is_urgent }))
    // The first number above the columns must not reach that of the first row.
    .filter((one) => one.at >= (is_row ? 0 : text_width(String(matrix.ranks[one.place])) / 2 - 5) && one.at <= side);
  for (const one of without_overlap(wanted)) {
    const kind = !one.urgent ? "soft" : one.place === (of_pair === null ? -1 : matrix.place_of(of_pair)) ? "marked" : "slow", name = String(matrix.ranks[one.place]);
    add(svg, "text", is_row ? { class: kind, x: left - 6, y: top + one.at + 4, "text-anchor": "end" }
      : { class: kind, x: left + one.at, y: top - 6, "text-anchor": "middle" }, name);
    if (step === 1) continue;
    add(svg, "line", is_row ? { class: "tick", x1: left - 4, x2: left, y1: top + one.at, y2: top + one.at }
      : { class: "tick", x1: left + one.at, x2: left + one.at, y1: top - 4, y2: top });
  }
}

function draw_boundaries(svg, matrix, view, box) {
  const { left, top, side } = box, segments = segments_of(matrix), scale = side / view.span;
  // Between single cells they would only be a grid.
  if (segments.length < 2 || !matrix.axis.startsWith("ranks")) return;
  if (scale * matrix.positions / segments.length < SMALLEST_BOUNDED || segments.length === matrix.positions) return;
  const line = (place) => add(svg, "line", { class: "boundary", ...place });
  for (const one of in_sight(segments, view.row, view.row + view.span)) {
    const y = top + (one.first - view.row) * scale;
    if (one.first > view.row) line({ x1: left, x2: left + side, y1: y, y2: y });
  }
  for (const one of in_sight(segments, view.column, view.column + view.span)) {
    const x = left + (one.first - view.column) * scale;
    if (one.first > view.column) line({ x1: x, x2: x, y1: top, y2: top + side });
  }
}
