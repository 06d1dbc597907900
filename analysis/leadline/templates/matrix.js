// SPDX-License-Identifier: Apache-2.0
// Draws a matrix on a canvas with axes and colour bar in SVG, and follows the mouse; report.js says which matrix.
const MAP = ["#440154", "#481a6c", "#472f7d", "#414487", "#39568c", "#31688e", "#2a788e", "#23888e",
  "#1f988b", "#22a884", "#35b779", "#54c568", "#7ad151", "#a5db36", "#d2e21b", "#fde725"];
const ABOVE = "#e0102b", BELOW = "#a6dcff", MISSING = "#d5d9dd", HATCH = "#8b949e", DIAGONAL = "#ffffff", OUTSIDE = "#eef1f4";
const LARGEST_CELL = 88, PICTURE = 720, BAR_ROOM = 260, MISSING_MARK = 7, LONGEST_NAME = 24, MOST_CIRCLES = 40;
const by_id = (id) => document.getElementById(id);
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const STOPS = MAP.map(rgb);

window.addEventListener("error", (event) => {
  document.documentElement.dataset.error = event.message;
  by_id("script-problem").hidden = false;
  by_id("script-problem").textContent = "The script of this page failed: " + event.message;
});

// ---- numbers

function number(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const decimals = digits - 1 - Number(value.toExponential(digits - 1).split("e")[1]);
  if (decimals >= 0) return value.toFixed(Math.min(decimals, 12));
  const step = 10 ** -decimals;
  return String(Math.round(value / step) * step);
}

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer), values = new Float32Array(bytes.length / 4);
  for (let i = 0; i < values.length; ++i) values[i] = view.getFloat32(4 * i, true);
  return values;
}

function bits(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return (at) => (bytes[at >> 3] >> (7 - at % 8) & 1) === 1;
}

function position(range, value) {
  const [low, high, at] = range.logarithmic ? [range.low, range.high, value].map(Math.log) : [range.low, range.high, value];
  return high > low ? (at - low) / (high - low) : 0.5;
}

function mapped(share) {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1), i = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[i].map((channel, c) => Math.round(channel + (at - i) * (STOPS[i + 1][c] - channel)));
}

// float32 rounds, so that a value at the end of the range may lie a hair outside.
const is_above = (range, value) => value > range.high * (1 + 1e-6);
const is_below = (range, value) => value < range.low * (1 - 1e-6);

function colour(range, value) {
  if (is_above(range, value)) return rgb(ABOVE);
  if (is_below(range, value)) return rgb(BELOW);
  return mapped(position(range, value));
}

function nice_values(low, high, logarithmic, most) {
  if (!(low < high)) return [low];
  if (logarithmic && high / low > 8) {
    for (const steps of [[1, 2, 5], [1, 3], [1]]) {
      const values = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
        for (const m of steps) if (m * 10 ** e >= low && m * 10 ** e <= high) values.push(m * 10 ** e);
      }
      if (values.length <= most || steps.length === 1) return values;
    }
  }
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9));
  const values = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12); ++k) values.push(k * step);
  return values;
}

const plain = (value) => String(Number(value.toPrecision(6)));

// ---- SVG

function add(parent, name, attributes, text) {
  const element = document.createElementNS(parent.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

const ruler = document.createElement("canvas").getContext("2d");
function text_width(text) {
  ruler.font = "12px " + getComputedStyle(document.body).fontFamily;
  return ruler.measureText(text).width;
}

// Long names are told apart by what they do not have in common: that stays, with a little of what stands before it.
function shortened(name) {
  if (name.length <= LONGEST_NAME) return name;
  const [prefix, suffix] = common_ends();
  const front = Math.max(prefix - 6, 0), back = suffix > 1 ? suffix : 0;
  const short = (front ? "…" : "") + name.slice(front, name.length - back) + (back ? "…" : "");
  return short.length <= LONGEST_NAME ? short : short.slice(0, LONGEST_NAME / 2) + "…" + short.slice(-LONGEST_NAME / 2);
}

// How many letters all host names have in common at their beginning, and at their end.
function common_ends() {
  if (!ends) {
    const [first, ...others] = page.hosts, shortest = Math.min(...page.hosts.map((name) => name.length));
    let prefix = 0, suffix = 0;
    if (others.length) {
      while (prefix < shortest && others.every((name) => name[prefix] === first[prefix])) ++prefix;
      while (suffix < shortest - prefix && others.every((name) => name.at(-1 - suffix) === first.at(-1 - suffix))) ++suffix;
    }
    ends = [prefix, suffix];
  }
  return ends;
}
let ends = null;

// ---- a matrix with its axes

/* figure: {root, n: cells on a side, at(row, column), range, unit, to_bandwidth, bandwidth_unit, ticks: what a position
   on the axis is called and how many of them a cell has, segments: [{name, first, end}] in these positions, names: axis
   titles, diagonal: whether it is a measurement, in_test(row, column): whether the schedule has it, describe(row, column) -> {title, rows}} */
function draw_matrix(figure) {
  const ratio = window.devicePixelRatio || 1;
  const longest = Math.max(0, ...figure.segments.map((segment) => text_width(shortened(segment.name))));
  const rank_space = figure.ticks.names ? text_width("8".repeat(String(figure.ticks.count - 1).length)) + 12 : 0;
  const left = 26 + longest + 14 + rank_space, top = 26 + (figure.ticks.names ? 18 : 0);
  const room = figure.root.clientWidth - left - BAR_ROOM;
  const wanted = Math.round(Math.min(LARGEST_CELL, PICTURE / figure.n) * ratio);
  const cell_device = Math.max(1, Math.min(wanted, Math.floor(room / figure.n * ratio)));
  const cell = cell_device / ratio, side = cell * figure.n;
  const per_position = cell / figure.ticks.per_cell, end = figure.ticks.count * per_position;
  const svg = figure.root.querySelector("svg"), canvas = figure.root.querySelector("canvas");
  svg.replaceChildren();

  const shown = label_stride(figure.segments, per_position);
  const across = shown.every((segment) => text_width(shortened(segment.name)) + 8 < (segment.end - segment.first) * per_position);
  const bottom = (across ? 24 : longest + 20) + 4, bar_left = left + side + 40;
  const height = Math.max(top + side + bottom, top + 330), width = bar_left + BAR_ROOM - 40;
  figure.root.style.height = height + "px";
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  canvas.style.left = left + "px";
  canvas.style.top = top + "px";
  canvas.style.width = canvas.style.height = side + "px";

  paint(canvas, figure, cell_device);
  draw_boundaries(svg, figure.segments, per_position, left, top, end);
  add(svg, "rect", { class: "frame", x: left - 0.5, y: top - 0.5, width: side + 1, height: side + 1 });
  if (figure.ticks.names) draw_rank_ticks(svg, figure.ticks, per_position, left, top);
  draw_host_labels(svg, shown, per_position, { left, top, end, rank_space, across });
  const stride = figure.segments.length && shown.length ? Math.round(figure.segments.length / shown.length) : 1;
  const remark = stride > 1 ? `; 1 host name of ${stride} is shown` : "";
  add(svg, "text", { class: "title", x: left, y: 15 }, `${figure.names.to} →${remark}`);
  add(svg, "text", { class: "title", transform: `translate(15 ${top}) rotate(-90)`, "text-anchor": "end" }, `← ${figure.names.from}`);
  if (figure.range) draw_colour_bar(svg, figure, bar_left, top);
  if (cell < 9) circle_rare(svg, figure, cell, left, top);
  tell_legend(figure);
  follow_mouse(canvas, figure, cell);
}

// The segments whose names are written: all, or every k-th where they would overlap.
function label_stride(segments, per_position) {
  const smallest = segments.length ? segments[segments.length - 1].end * per_position / segments.length : 0;
  const stride = smallest > 0 ? Math.max(1, Math.ceil(14 / smallest)) : 1;
  return segments.filter((_, i) => i % stride === 0);
}

const PLAIN = { own: rgb(DIAGONAL), outside: rgb(OUTSIDE), missing: rgb(MISSING) };

function kind_of(figure, row, column) {
  if (!Number.isNaN(figure.at(row, column))) return "measured";
  return figure.in_test(row, column) ? "missing" : "outside";
}

function paint(canvas, figure, cell) {
  const n = figure.n, pixels = new ImageData(n, n), special = [];
  for (let row = 0; row < n; ++row) {
    for (let column = 0; column < n; ++column) {
      const value = figure.at(row, column), own = !figure.diagonal && row === column;
      const kind = own ? "own" : kind_of(figure, row, column);
      const paint_rgb = PLAIN[kind] || colour(figure.range, value);
      pixels.data.set([...paint_rgb, 255], 4 * (row * n + column));
      if ((kind === "missing" || kind === "measured") && cell >= MISSING_MARK) special.push([row, column, value, paint_rgb]);
    }
  }
  const small = document.createElement("canvas");
  small.width = small.height = n;
  small.getContext("2d").putImageData(pixels, 0, 0);
  canvas.width = canvas.height = n * cell;
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, n * cell, n * cell);
  const ratio = window.devicePixelRatio || 1, words = cell / ratio >= 44;
  for (const [row, column, value, paint_rgb] of special) {
    const x = column * cell, y = row * cell;
    if (Number.isNaN(value)) hatch(context, x, y, cell);
    else if (words) write(context, number(value / figure.unit.scale, 3), x + cell / 2, y + cell / 2, paint_rgb, ratio);
    if (is_beyond(figure.range, value)) dot(context, words ? x + cell - 8 * ratio : x + cell / 2, words ? y + 8 * ratio : y + cell / 2, cell, paint_rgb);
  }
  return canvas;
}

const is_beyond = (range, value) => Boolean(range) && !Number.isNaN(value) && (is_above(range, value) || is_below(range, value));
const contrast = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#1b1f24" : "#ffffff");

function write(context, text, x, y, on, ratio) {
  context.font = `${13 * ratio}px ` + getComputedStyle(document.body).fontFamily;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = contrast(on);
  context.fillText(text, x, y);
}

function hatch(context, x, y, cell) {
  context.save();
  context.beginPath();
  context.rect(x, y, cell, cell);
  context.clip();
  context.beginPath();
  // Lines of equal x + y, so that they go on from cell to cell.
  for (let sum = Math.ceil((x + y) / 6) * 6; sum < x + y + 2 * cell; sum += 6) {
    context.moveTo(sum - y - cell, y + cell);
    context.lineTo(sum - y, y);
  }
  context.strokeStyle = HATCH;
  context.lineWidth = 1.2;
  context.stroke();
  context.restore();
}

function dot(context, x, y, cell, on) {
  context.beginPath();
  context.arc(x, y, Math.min(Math.max(cell * 0.16, 1.2), 5), 0, 2 * Math.PI);
  context.fillStyle = contrast(on);
  context.fill();
}

function draw_boundaries(svg, segments, per_position, left, top, end) {
  const positions = segments.length ? segments[segments.length - 1].end : 0;
  // Between single cells they would only be a grid.
  if (segments.length < 2 || end / segments.length < 14 || (positions === segments.length && positions > 8)) return;
  for (const { first } of segments.slice(1)) {
    const at = first * per_position;
    add(svg, "line", { class: "boundary", x1: left + at, x2: left + at, y1: top, y2: top + end });
    add(svg, "line", { class: "boundary", x1: left, x2: left + end, y1: top + at, y2: top + at });
  }
}

// A single small cell is easily overlooked, whatever its colour.
function circle_rare(svg, figure, cell, left, top) {
  if (!figure.range || figure.range.above > MOST_CIRCLES) return;
  for (let row = 0; row < figure.n; ++row) {
    for (let column = 0; column < figure.n; ++column) {
      if (!is_above(figure.range, figure.at(row, column))) continue;
      const place = { cx: left + (column + 0.5) * cell, cy: top + (row + 0.5) * cell, r: 9 };
      add(svg, "circle", { class: "halo", ...place });
      add(svg, "circle", { class: "rare", ...place });
    }
  }
}

function draw_rank_ticks(svg, ticks, per_position, left, top) {
  const widest = Math.max(text_width("8".repeat(String(ticks.count - 1).length)) + 7, 15);
  let step = 1;
  for (let k = 0; step * per_position < widest; ++k) step = [1, 2, 5][k % 3] * 10 ** Math.floor(k / 3);
  for (let at = 0; at < ticks.count; at += step) {
    const middle = (at + 0.5) * per_position, name = String(ticks.names(at));
    add(svg, "text", { class: "soft", x: left + middle, y: top - 7, "text-anchor": "middle" }, name);
    add(svg, "text", { class: "soft", x: left - 7, y: top + middle + 4, "text-anchor": "end" }, name);
    if (step > 1) {
      add(svg, "line", { class: "bracket", x1: left + middle, x2: left + middle, y1: top - 4, y2: top });
      add(svg, "line", { class: "bracket", x1: left - 4, x2: left, y1: top + middle, y2: top + middle });
    }
  }
}

function draw_host_labels(svg, shown, per_position, place) {
  const { left, top, end, rank_space, across } = place, line_x = left - rank_space - 5, line_y = top + end + 5;
  for (const segment of shown) {
    const from = segment.first * per_position, to = segment.end * per_position, middle = (from + to) / 2;
    const gap = Math.min(1.5, (to - from) / 5);
    add(svg, "line", { class: "bracket", x1: line_x, x2: line_x, y1: top + from + gap, y2: top + to - gap });
    add(svg, "line", { class: "bracket", y1: line_y, y2: line_y, x1: left + from + gap, x2: left + to - gap });
    const row = add(svg, "text", { x: line_x - 6, y: top + middle + 4, "text-anchor": "end" }, shortened(segment.name));
    const column = across
      ? add(svg, "text", { x: left + middle, y: line_y + 16, "text-anchor": "middle" }, shortened(segment.name))
      : add(svg, "text", { transform: `translate(${left + middle + 4} ${line_y + 6}) rotate(-90)`, "text-anchor": "end" }, shortened(segment.name));
    for (const label of [row, column]) add(label, "title", {}, segment.name);
  }
}

function draw_colour_bar(svg, figure, x, top) {
  const range = figure.range, height = 280, width = 20, y = top + 34, id = figure.root.id + "-gradient";
  const gradient = add(add(svg, "defs", {}), "linearGradient", { id, x1: 0, x2: 0, y1: 1, y2: 0 });
  MAP.forEach((stop, i) => add(gradient, "stop", { offset: i / (MAP.length - 1), "stop-color": stop }));
  const right = x + width;
  add(svg, "text", { class: "title", x, y: top + 4 }, `time, ${figure.unit.name}`);
  add(svg, "text", { class: "title", x: right + 75, y: top + 4 }, `bandwidth, ${figure.bandwidth_unit.name}`);
  add(svg, "text", { class: "soft", x, y: top + 24 }, "slow");
  add(svg, "text", { class: "soft", x, y: y + height + 17 }, "fast");
  if (range.high > range.low) {
    add(svg, "rect", { x, y, width, height, fill: `url(#${id})` });
  } else {
    add(svg, "rect", { x, y, width, height, fill: "rgb(" + mapped(0.5).join(",") + ")" });
  }
  add(svg, "rect", { class: "frame", x, y, width, height });
  const low = range.low / figure.unit.scale, high = range.high / figure.unit.scale;
  const pixel = (time_ns) => y + height * (1 - position(range, time_ns));
  for (const value of nice_values(low, high, range.logarithmic, 9)) {
    const at = pixel(value * figure.unit.scale);
    add(svg, "line", { class: "axis", x1: right, x2: right + 5, y1: at, y2: at });
    add(svg, "text", { x: right + 9, y: at + 4 }, low < high ? plain(value) : number(value));
  }
  const offset = right + 75, speed = (time_ns) => figure.to_bandwidth(time_ns) / figure.bandwidth_unit.scale;
  add(svg, "line", { class: "axis", x1: offset, x2: offset, y1: y, y2: y + height });
  if (!(speed(range.low) > 0)) return;
  for (const value of nice_values(speed(range.high), speed(range.low), range.logarithmic, 9)) {
    const at = pixel(figure.to_bandwidth(value * figure.bandwidth_unit.scale));  // its own inverse
    add(svg, "line", { class: "axis", x1: offset, x2: offset + 5, y1: at, y2: at });
    add(svg, "text", { x: offset + 9, y: at + 4 }, low < high ? plain(value) : number(value));
  }
}

function tell_legend(figure) {
  const legend = figure.root.parentElement.querySelector(".legend"), range = figure.range;
  const limit = (value) => `${number(value / figure.unit.scale, 3)} ${figure.unit.name}`;
  const found = { measured: 0, missing: 0, outside: 0 };
  for (let row = 0; row < figure.n; ++row) {
    for (let column = 0; column < figure.n; ++column) {
      if (figure.diagonal || row !== column) ++found[kind_of(figure, row, column)];
    }
  }
  for (const kind of ["missing", "outside"]) legend.querySelector("span." + kind).hidden = found[kind] === 0;
  for (const [name, count, text] of [
    ["above", range ? range.above : 0, range && `slower than ${limit(range.high)}`],
    ["below", range ? range.below : 0, range && `faster than ${limit(range.low)}`]]) {
    const entry = legend.querySelector("span." + name);
    entry.hidden = count === 0;
    if (count) entry.querySelector(".text").textContent = `${text}: ${count} cell${count > 1 ? "s" : ""}`;
  }
}

// ---- the mouse

function follow_mouse(canvas, figure, cell) {
  const tooltip = by_id("tooltip");
  canvas.onmouseleave = () => { tooltip.hidden = true; };
  canvas.onclick = canvas.onmousemove = (event) => {
    const row = Math.floor(event.offsetY / cell), column = Math.floor(event.offsetX / cell);
    if (!(row >= 0 && column >= 0 && row < figure.n && column < figure.n)) return;
    const words = figure.describe(row, column), list = document.createElement("dl"), title = document.createElement("p");
    title.textContent = words.title;
    for (const [name, value] of words.rows) {
      list.appendChild(document.createElement("dt")).textContent = name;
      list.appendChild(document.createElement("dd")).textContent = value;
    }
    tooltip.replaceChildren(title, list);
    tooltip.hidden = false;
    const room = document.documentElement.clientWidth - tooltip.offsetWidth - 8;
    tooltip.style.left = Math.min(event.pageX + 16, window.scrollX + room) + "px";
    tooltip.style.top = event.pageY + 16 + "px";
  };
}
