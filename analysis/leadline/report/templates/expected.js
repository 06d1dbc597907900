// SPDX-License-Identifier: Apache-2.0
// Times by their expected times: what a layer shows as factors, and the colours and the legend of these.

/* part.expected_ns: {statistic: [inside a host, between hosts]}, the medians of the sound pairs of the two classes (docs/metrics.md); null where a class
   has no time. page.colours.factors: [[from factor, colour]], ascending. */
const FACTOR_SCALE = { low: 1e-3, step: 4e-4 };

const expected_of = (part, statistic) => (part.expected_ns && part.expected_ns[statistic]) || null;
const is_inside = (from, to) => page.host_of[from] === page.host_of[to];

// The host of each cell's row or column; -1 where it has several.
function hosts_of_cells(matrix, edge) {
  matrix.cell_hosts = matrix.cell_hosts || new Map();
  if (!matrix.cell_hosts.has(edge)) {
    const hosts = new Int32Array(Math.ceil(matrix.positions / edge));
    for (let cell = 0; cell < hosts.length; ++cell) {
      const [begin, end] = matrix.places_of(cell, edge);
      hosts[cell] = page.host_of[matrix.ranks[begin]];
      for (let place = begin; place < end; ++place) if (page.host_of[matrix.ranks[place]] !== hosts[cell]) hosts[cell] = -1;
    }
    matrix.cell_hosts.set(edge, hosts);
  }
  return matrix.cell_hosts.get(edge);
}

// For every code of a time that of its factor.
function codes_of_factors(scale, expected_ns) {
  const codes = new Uint16Array(NUM_CODES);
  codes[MISSING] = MISSING;
  for (let code = FIRST_TIME; expected_ns && code < NUM_CODES; ++code) codes[code] = code_of(FACTOR_SCALE, time_of(scale, code) / expected_ns);
  return codes;
}

// A layer whose cells are factors. A cell with pairs of both classes is compared with the time between hosts, as its worst pair nearly always is.
function layer_by_expected(layer, part) {
  const expected = expected_of(part, layer.statistic), [inside, between] = expected.map((time_ns) => codes_of_factors(layer.scale, time_ns));
  return {
    ...layer, scale: FACTOR_SCALE, is_by_expected: true,
    window: (edge, first_row, end_row, first_column, end_column) => {
      const times = layer.window(edge, first_row, end_row, first_column, end_column), hosts = hosts_of_cells(layer.matrix, edge);
      const stride = end_column - first_column, cells = new Uint16Array((end_row - first_row) * stride);
      for (let row = first_row; row < end_row; ++row) {
        for (let column = first_column; column < end_column; ++column) {
          const codes = hosts[row] >= 0 && hosts[row] === hosts[column] ? inside : between;
          cells[(row - first_row) * stride + column - first_column] = codes[times.cells[times.offset + (row - first_row) * times.stride + column - first_column]];
        }
      }
      return { cells, stride, offset: 0 };
    },
    count: () => ({ ...layer.count(layer.range, layer.scale), above: 0, below: 0 }),
  };
}

function factor_palette() {
  const pixels = new Uint32Array(NUM_CODES);
  pixels[NOTHING] = pixel_of(PLAIN.outside);
  pixels[MISSING] = pixel_of(PLAIN.missing);
  for (const [from, colour] of page.colours.factors) pixels.fill(pixel_of(rgb(colour)), from ? code_of(FACTOR_SCALE, from) : FIRST_TIME);
  return pixels;
}

const FACTOR_ROOM = 146, FACTOR_HEIGHT = 26;
const factor_legend_height = () => 18 + page.colours.factors.length * FACTOR_HEIGHT + 22 + 4 * 16;

function draw_factor_legend(svg, part, statistic, x, top) {
  const { factors } = page.colours, names = [["median of its class,", null], ["without findings:", null], ...["inside a host", "between hosts"].map((name, at) => [name, expected_of(part, statistic)[at]])];
  add(svg, "text", { class: "title", x, y: top + 4 }, "time by expected");
  factors.slice().reverse().forEach(([from, colour], at) => {
    const y = top + 18 + at * FACTOR_HEIGHT, next = factors[factors.length - at];
    add(svg, "rect", { class: "frame factor", x, y, width: BAR_WIDTH, height: FACTOR_HEIGHT, style: `fill:${colour}` });
    const text = !from ? `below ×${next[0]}` : next ? `×${from} to ×${next[0]}` : `×${from} and more`;
    add(svg, "text", { x: x + BAR_WIDTH + 9, y: y + FACTOR_HEIGHT / 2 + 4 }, text);
  });
  let y = top + 18 + factors.length * FACTOR_HEIGHT + 22;
  add(svg, "text", { class: "soft", x, y }, "expected: by the");
  for (const [name, time_ns] of names) {
    if (time_ns === null && !/[,:]$/.test(name)) continue;
    add(svg, "text", { class: "soft", x, y: y += 16 }, time_ns ? `${name}: ${time_text(part, time_ns, 3)}` : name);
  }
}

// A single pair's time beside the expected one, in words; null where that is not known.
function factor_text(part, statistic, cell) {
  const expected = expected_of(part, statistic), time_ns = expected && expected[is_inside(cell.from, cell.to) ? 0 : 1];
  return time_ns ? `×${plain(cell.time_ns[statistic] / time_ns, 3)} of ${time_text(part, time_ns)}` : null;
}
