// SPDX-License-Identifier: Apache-2.0
// Matrices that are inside the page: unpacks them, puts them in order, makes coarser levels of them.

/* What the viewer draws from, here and in served.js. A matrix: {axis, positions, ranks: [rank at each place along the
   axis], begins: [place at which each position begins; the last one is N], layer(statistic, reduction) -> promise of a
   layer, describe(layer, edge, row, column) -> promise of {from, to, time_ns: {statistic: ns} of the worst pair,
   median_ns, count, round, num_pairs: to measure, num_missing}}
   A layer: {matrix, statistic, reduction, scale: {low, step}, range, edges: ascending, window(edge, first_row, end_row,
   first_column, end_column) -> {cells, stride, offset} as they are known, want(as of window): these will be looked at, count(range) -> legend's counts or null} */

async function inflate(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Foreseen("This browser cannot unpack the matrix: it has no DecompressionStream. Chrome 80, Firefox 113, " +
      "Safari 16.4 and later ones have it. The rest of the page does not need it.");
  }
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function whole_numbers(packed) {
  const bytes = await inflate(packed.data), num = bytes.length >> 1, values = new Uint16Array(num);
  for (let i = 0; i < num; ++i) values[i] = bytes[i] | (bytes[num + i] << 8);
  return values;
}

function median_of(values, num) {
  for (let i = 1; i < num; ++i) {
    const value = values[i];
    let at = i;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
  }
  return (values[(num - 1) >> 1] + values[num >> 1] + 1) >> 1;
}

// Twice the edge: of two by two cells the worst, or the median of those with a time.
function coarser({ edge, size, cells }, reduction) {
  const half = Math.ceil(size / 2), result = new Uint16Array(half * half), four = new Uint16Array(4);
  for (let row = 0; row < half; ++row) {
    for (let column = 0; column < half; ++column) {
      let num = 0, worst = 0;
      for (let r = 2 * row; r < Math.min(2 * row + 2, size); ++r) {
        for (let c = 2 * column; c < Math.min(2 * column + 2, size); ++c) {
          const code = cells[r * size + c];
          worst = Math.max(worst, code);
          if (code >= FIRST_TIME) four[num++] = code;
        }
      }
      result[row * half + column] = reduction === "median" && num ? median_of(four, num) : worst;
    }
  }
  return { edge: 2 * edge, size: half, cells: result };
}

// Who stands where along an axis. Several ranks share a position where positions are hosts.
function places_along(part, axis) {
  const as_is = () => Array.from({ length: page.num_ranks }, (_, rank) => rank);
  if (axis === "ranks" || (axis === "hosts" && !page.order_by_host)) {
    return { ranks: as_is(), begins: axis === "ranks" ? [...as_is(), page.num_ranks] : begins_of_hosts(as_is()) };
  }
  const ranks = axis === "ranks-by-network" ? page.order_by_network : axis === "ranks-by-findings" ? order_by_findings(part) : page.order_by_host;
  return { ranks, begins: axis === "hosts" ? begins_of_hosts(ranks) : [...as_is(), page.num_ranks] };
}

function begins_of_hosts(ranks) {
  const begins = ranks.map((_, at) => at).filter((at) => at === 0 || page.host_of[ranks[at]] !== page.host_of[ranks[at - 1]]);
  return [...begins, ranks.length];
}

class Matrix {
  constructor(part, axis) {
    this.part = part;
    this.axis = axis;
    // Single pairs are here once, in the order of the ranks.
    this.data = part.matrices[axis] || part.matrices.ranks;
    this.is_reordered = !part.matrices[axis];
    this.positions = this.data.positions;
    Object.assign(this, places_along(part, axis));
    this.position_of = new Int32Array(page.num_ranks);
    for (let at = 0; at < this.positions; ++at) {
      for (let place = this.begins[at]; place < this.begins[at + 1]; ++place) this.position_of[this.ranks[place]] = at;
    }
  }

  place_of(rank) { return this.position_of[rank]; }

  // The ranks of a cell's row or column: their first place along the axis, and the one behind the last.
  places_of(cell, edge) {
    return [cell, cell + 1].map((at) => this.begins[Math.min(at * edge, this.positions)]);
  }

  // Whether a cell of an edge is one pair.
  is_single(edge) { return edge === 1 && this.axis !== "hosts"; }

  // Whether a cell has no pair because it is one rank with itself.
  is_own(edge, row, column) {
    const [begin, end] = row === column ? this.places_of(row, edge) : [0, 0];
    return !page.has_loop && end - begin === 1;
  }
}

class EmbeddedMatrix extends Matrix {
  constructor(part, axis) {
    super(part, axis);
    this.unpacked = new Map();
  }

  // One of the arrays, unpacked once, in the order of the axis; null where the page does not have it.
  array(...path) {
    const key = path.join(" ");
    if (!this.unpacked.has(key)) {
      const packed = path.reduce((object, name) => object && object[name], this.data);
      this.unpacked.set(key, packed ? whole_numbers(packed).then((values) => this.ordered(values)) : Promise.resolve(null));
    }
    return this.unpacked.get(key);
  }

  ordered(values) {
    if (!this.is_reordered) return values;
    const n = this.positions, result = new Uint16Array(n * n);
    for (let row = 0; row < n; ++row) {
      for (let column = 0; column < n; ++column) result[row * n + column] = values[this.ranks[row] * n + this.ranks[column]];
    }
    return result;
  }

  layer(statistic, reduction) {
    const key = `layer ${statistic} ${reduction}`;
    if (!this.unpacked.has(key)) this.unpacked.set(key, this.make_layer(statistic, reduction));
    return this.unpacked.get(key);
  }

  async make_layer(statistic, reduction) {
    const picture = this.data.pictures[statistic], kind = picture[reduction] ? reduction : "worst";
    const [codes, missing] = await Promise.all([this.array("pictures", statistic, kind), this.array("missing")]);
    const cells = new Uint16Array(codes.length);
    for (let i = 0; i < cells.length; ++i) cells[i] = codes[i] ? codes[i] + 1 : Number(Boolean(missing && missing[i]));
    const levels = [{ edge: this.data.edge, size: this.data.size, cells }];
    while (levels[levels.length - 1].size > 1) levels.push(coarser(levels[levels.length - 1], reduction));
    return {
      matrix: this, statistic, reduction, levels, range: this.data.ranges[statistic],
      scale: { low: picture[kind].low, step: picture[kind].step },
      edges: levels.map((level) => level.edge),
      window: (edge, first_row, end_row, first_column) => {
        const level = levels.find((one) => one.edge === edge);
        return { cells: level.cells, stride: level.size, offset: first_row * level.size + first_column };
      },
      want: () => {},
      count: (range, scale) => count_cells(this, levels[0], range, scale),
    };
  }

  // Of a cell of the finest level.
  async describe(layer, edge, row, column) {
    const { statistic } = layer, worst = await this.layer(statistic, "worst");
    const at = row * this.data.size + column, code = worst.levels[0].cells[at];
    const packed = this.data.pictures[statistic].median;
    const [missing, measured, counts, rounds, medians, from_at, to_at] = await Promise.all([
      this.array("missing"), this.array("measured"), this.array("counts"), this.array("rounds"), this.array("pictures", statistic, "median"),
      this.array("pictures", statistic, "worst_from"), this.array("pictures", statistic, "worst_to")]);
    const [row_begin, row_end] = this.places_of(row, edge), [column_begin, column_end] = this.places_of(column, edge);
    const from = this.ranks[row_begin + (from_at ? from_at[at] : 0)], to = this.ranks[column_begin + (to_at ? to_at[at] : 0)];
    const own = row === column && !page.has_loop ? row_end - row_begin : 0;
    const num_missing = missing ? missing[at] : 0, is_empty = code < FIRST_TIME && !num_missing;
    const all = (row_end - row_begin) * (column_end - column_begin) - own;
    const known = this.part.standouts.find((one) => one.from === from && one.to === to);
    return {
      from, to, num_missing,
      time_ns: code < FIRST_TIME ? {} : { ...await this.times(statistic, at, time_of(worst.scale, code)), ...(known && known.time_ns) },
      median_ns: medians && medians[at] ? packed.low * Math.exp((medians[at] - 1) * packed.step) : NaN,
      count: this.part.count || (known && known.count) || (counts && counts[at]) || null,
      round: (known && known.round) || (rounds && rounds[at]) || null,
      num_pairs: is_empty ? 0 : measured ? measured[at] + num_missing : all,
    };
  }

  // All statistics of a single pair; of a cell with several only the one that the worst pair was chosen by.
  async times(statistic, at, time_ns) {
    if (!this.is_single(this.data.edge)) return { [statistic]: time_ns };
    const entries = await Promise.all(page.statistics.map(async (name) => {
      const codes = await this.array("pictures", name, "worst"), { low, step } = this.data.pictures[name].worst;
      return [name, codes[at] ? low * Math.exp((codes[at] - 1) * step) : NaN];
    }));
    return Object.fromEntries(entries);
  }
}

// Cells of the finest level by what they are.
function count_cells(matrix, { edge, size, cells }, range, scale) {
  const found = { above: 0, below: 0, missing: 0, outside: 0, has_own: false };
  const [first, last] = range ? range_in_codes(range, scale) : [NUM_CODES, NUM_CODES];
  for (let at = 0; at < cells.length; ++at) {
    const code = cells[at];
    if (code > last) ++found.above;
    else if (code === MISSING) ++found.missing;
    else if (code === NOTHING) ++found.outside;
    else if (code < first) ++found.below;
  }
  for (let at = 0; at < size; ++at) {
    if (!matrix.is_own(edge, at, at)) continue;
    found.has_own = true;
    --found.outside;
  }
  return found;
}
