// SPDX-License-Identifier: Apache-2.0
// Matrices that a server of the page computes: tiles that are fetched when they are looked at. The protocol: view/__init__.py.
const TILE = 256, MOST_TILES = 400, MOST_AT_ONCE = 6, SERVED_SCALE = { low: 0.1, step: 5e-4 };
const ASK_AGAIN_MS = 250;
const later = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function ask_server(address, parameters) {
  const query = new URLSearchParams({ key: page.served.key, ...parameters });
  for (;;) {
    const answer = await fetch(`${address}?${query}`).catch(() => {
      throw new Foreseen("The server of this page does not answer any more. Start leadline view again, and open its new address.");
    });
    if (answer.ok) return answer;
    if (answer.status !== 503) throw new Foreseen(await complaint_of(answer));
    await later(ASK_AGAIN_MS);
  }
}

async function complaint_of(answer) {
  const { error } = await answer.json().catch(() => ({ error: `it answered with status ${answer.status}` }));
  return `The server of this page could not answer: ${error}`;
}

class ServedMatrix extends Matrix {
  // changed() is called when there is more to draw, progress(share) while the server reads the result.
  constructor(part, axis, changed, progress) {
    super(part, axis);
    this.changed = changed;
    this.progress = progress;
    this.layers = new Map();
    this.names = { repeat: part.repeat, size_index: part.size_index, axis };
  }

  layer(statistic, reduction) {
    const key = `${statistic} ${reduction}`;
    if (!this.layers.has(key)) this.layers.set(key, this.make_layer(statistic, reduction));
    return this.layers.get(key);
  }

  async make_layer(statistic, reduction) {
    let index;
    for (;;) {
      index = await (await ask_server("index", { ...this.names, statistic })).json();
      this.progress(index.ready ? 1 : index.progress);
      if (index.ready) break;
      await later(ASK_AGAIN_MS);
    }
    const tiles = new Tiles({ ...this.names, statistic, reduction }, this.data.edges, this.changed);
    const range = this.data.ranges[statistic] || index.range || await tiles.range();
    return {
      matrix: this, statistic, reduction, range, scale: SERVED_SCALE, edges: this.data.edges,
      window: (...place) => tiles.window(...place),
      want: (...place) => tiles.want(...place),
      count: () => ({ above: range ? range.above : 0, below: range ? range.below : 0, is_rough: true,
        missing: this.data.num_missing, outside: this.data.num_outside,
        has_own: this.is_own(1, 0, 0) }),
    };
  }

  async describe(layer, edge, row, column) {
    const answer = await (await ask_server("cell", { ...this.names, statistic: layer.statistic, edge, row, column })).json();
    for (const [name, value] of Object.entries(answer.time_ns)) if (value === null) answer.time_ns[name] = NaN;
    return { median_ns: NaN, ...answer };
  }
}

class Tiles {
  constructor(names, edges, changed) {
    this.names = names;
    this.edges = edges;
    this.changed = changed;
    this.there = new Map();  // Uint16 [TILE * TILE] by their keys, the latest used last
    this.wanted = [];
    this.asked = new Set();
  }

  key(edge, row, column) { return `${edge} ${row} ${column}`; }

  async load(edge, row, column) {
    const key = this.key(edge, row, column);
    this.asked.add(key);
    try {
      const answer = await ask_server("tile", { ...this.names, edge, row, column });
      this.there.set(key, codes_of_floats(await answer.arrayBuffer()));
      if (this.there.size > MOST_TILES) this.there.delete(this.there.keys().next().value);
    } finally {
      this.asked.delete(key);
    }
    return this.there.get(key);
  }

  // What is in sight, and nothing else: what is out of sight again is not fetched.
  want(edge, first_row, end_row, first_column, end_column) {
    this.wanted = [[this.edges[this.edges.length - 1], 0, 0]];
    for (let r = Math.floor(first_row / TILE); r * TILE < end_row; ++r) {
      for (let c = Math.floor(first_column / TILE); c * TILE < end_column; ++c) this.wanted.push([edge, r, c]);
    }
    this.fetch_more();
  }

  fetch_more() {
    while (this.wanted.length && this.asked.size < MOST_AT_ONCE) {
      const [edge, row, column] = this.wanted.shift(), key = this.key(edge, row, column);
      if (this.there.has(key) || this.asked.has(key)) continue;
      this.load(edge, row, column).then(() => { this.changed(); this.fetch_more(); });
    }
  }

  // Cells of an edge; those of tiles that are not there yet are of the next coarser tile that is.
  window(edge, first_row, end_row, first_column, end_column) {
    const stride = end_column - first_column, cells = new Uint16Array((end_row - first_row) * stride);
    for (let r = Math.floor(first_row / TILE); r * TILE < end_row; ++r) {
      for (let c = Math.floor(first_column / TILE); c * TILE < end_column; ++c) {
        const place = { first_row: Math.max(first_row, r * TILE), end_row: Math.min(end_row, (r + 1) * TILE),
          first_column: Math.max(first_column, c * TILE), end_column: Math.min(end_column, (c + 1) * TILE) };
        const found = this.covering(edge, r, c);
        if (found) copy_cells(found, place, cells, stride, first_row, first_column);
      }
    }
    return { cells, stride, offset: 0 };
  }

  covering(edge, row, column) {
    for (const one of this.edges.filter((other) => other >= edge)) {
      const factor = one / edge, key = this.key(one, Math.floor(row / factor), Math.floor(column / factor)), codes = this.there.get(key);
      if (!codes) continue;
      this.there.delete(key);
      this.there.set(key, codes);
      return { codes, factor };
    }
    return null;
  }

  // Where nobody knows better: of the cells of the coarsest picture, without the extremes.
  async range() {
    const codes = await this.load(this.edges[this.edges.length - 1], 0, 0), times = codes.filter((code) => code >= FIRST_TIME).sort();
    if (!times.length) return null;
    const at = (share) => time_of(SERVED_SCALE, times[Math.round(share * (times.length - 1))]);
    const [low, high] = [at(0.01), Math.max(at(0.99), at(0.01) * 1.1)];
    return { low, high, logarithmic: high / low >= 3, below: 0, above: 0, min: at(0), max: at(1) };
  }
}

function copy_cells({ codes, factor }, place, cells, stride, first_row, first_column) {
  for (let row = place.first_row; row < place.end_row; ++row) {
    const from = (Math.floor(row / factor) % TILE) * TILE, to = (row - first_row) * stride - first_column;
    for (let column = place.first_column; column < place.end_column; ++column) {
      cells[to + column] = codes[from + Math.floor(column / factor) % TILE];
    }
  }
}

function codes_of_floats(buffer) {
  const view = new DataView(buffer), codes = new Uint16Array(TILE * TILE);
  for (let i = 0; i < codes.length; ++i) {
    const time_ns = view.getFloat32(4 * i, true);
    codes[i] = time_ns > 0 ? code_of(SERVED_SCALE, time_ns) : time_ns === -1 ? MISSING : NOTHING;
  }
  return codes;
}
