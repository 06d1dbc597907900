// SPDX-License-Identifier: Apache-2.0
// Paints the part of a matrix that is in sight on a canvas: every pixel is the worst (or the median) of what it covers.
const MARKED_CELL = 7, WRITTEN_CELL = 40, GRID_CELL = 18;

/* view: {row, column, span}: the first position in sight, down and across, and how many there are along a side. */

// The edge to draw a layer with where a pixel covers so many positions.
function edge_to_draw(layer, positions_per_pixel) {
  const { edges } = layer;
  // A pixel takes the worst of all cells under it, so that finer ones do; the median is that of one cell.
  if (layer.reduction === "worst") return edges.filter((edge, at) => at === 0 || edge <= positions_per_pixel).pop();
  return edges.find((edge) => edge >= positions_per_pixel) || edges[edges.length - 1];
}

// The cells under each of num_pixels pixels: first and last, relative to the first of all.
function cells_under(begin, span, num_pixels, edge, size) {
  const first = new Int32Array(num_pixels), last = new Int32Array(num_pixels), step = span / num_pixels / edge;
  const start = begin / edge, lowest = clamp(Math.floor(start + 1e-9), 0, size - 1);
  for (let i = 0; i < num_pixels; ++i) {
    const [a, b] = step < 1 ? [start + (i + 0.5) * step, start + (i + 0.5) * step] : [start + i * step, start + (i + 1) * step - 1e-6];
    first[i] = clamp(Math.floor(a), lowest, size - 1) - lowest;
    last[i] = clamp(Math.floor(b), lowest, size - 1) - lowest;
  }
  return { lowest, end: lowest + last[num_pixels - 1] + 1, first, last };
}

// Codes of all pixels, Uint16 [n * n].
function codes_in_sight(layer, view, n, edge) {
  const size = Math.ceil(layer.matrix.positions / edge);
  const rows = cells_under(view.row, view.span, n, edge, size), columns = cells_under(view.column, view.span, n, edge, size);
  layer.want(edge, rows.lowest, rows.end, columns.lowest, columns.end);
  const { cells, stride, offset } = layer.window(edge, rows.lowest, rows.end, columns.lowest, columns.end);
  const width = columns.end - columns.lowest, line = new Uint16Array(width), codes = new Uint16Array(n * n);
  for (let y = 0; y < n; ++y) {
    if (y > 0 && rows.first[y] === rows.first[y - 1] && rows.last[y] === rows.last[y - 1]) {
      codes.copyWithin(y * n, (y - 1) * n, y * n);
      continue;
    }
    worst_line(cells, offset + rows.first[y] * stride, stride, rows.last[y] - rows.first[y], line);
    for (let x = 0; x < n; ++x) {
      let worst = line[columns.first[x]];
      for (let c = columns.first[x] + 1; c <= columns.last[x]; ++c) if (line[c] > worst) worst = line[c];
      codes[y * n + x] = worst;
    }
  }
  return codes;
}

function worst_line(cells, begin, stride, more_rows, line) {
  for (let c = 0; c < line.length; ++c) line[c] = cells[begin + c];
  for (let r = 1; r <= more_rows; ++r) {
    for (let c = 0; c < line.length; ++c) if (cells[begin + r * stride + c] > line[c]) line[c] = cells[begin + r * stride + c];
  }
}

// Paints and tells what was drawn: {edge, cell: pixels of the screen a cell has}. side: of the picture, in these pixels.
function paint(canvas, layer, view, side, pixels, write_time) {
  const ratio = window.devicePixelRatio || 1, n = Math.max(Math.round(side * ratio), 1), edge = edge_to_draw(layer, view.span / n);
  const codes = codes_in_sight(layer, view, n, edge), image = new ImageData(n, n), words = new Uint32Array(image.data.buffer);
  for (let i = 0; i < codes.length; ++i) words[i] = pixels[codes[i]];
  if (canvas.width !== n) canvas.width = canvas.height = n;
  const context = canvas.getContext("2d"), cell = side * edge / view.span;
  context.putImageData(image, 0, 0);
  paint_own(context, layer, view, edge, cell * ratio);
  if (cell >= GRID_CELL) paint_grid(context, view, edge, cell * ratio, n);
  if (cell >= MARKED_CELL) paint_marks(context, { layer, view, edge, cell: cell * ratio, ratio, n, pixels, write_time });
  return { edge, cell };
}

function paint_own(context, layer, view, edge, cell) {
  context.fillStyle = page.colours.diagonal;
  const first = Math.floor(Math.max(view.row, view.column) / edge), begin = (at, from) => Math.round((at - from / edge) * cell);
  const end = Math.ceil(Math.min(view.row + view.span, view.column + view.span, layer.matrix.positions) / edge);
  for (let at = first; at < end; ++at) {
    if (!layer.matrix.is_own(edge, at, at)) continue;
    const x = begin(at, view.column), y = begin(at, view.row);
    context.fillRect(x, y, Math.max(begin(at + 1, view.column) - x, 1), Math.max(begin(at + 1, view.row) - y, 1));
  }
}

function paint_grid(context, view, edge, cell, n) {
  context.fillStyle = "rgba(255, 255, 255, 0.45)";
  for (let at = Math.ceil(view.column / edge); at * edge < view.column + view.span; ++at) context.fillRect(Math.round((at - view.column / edge) * cell), 0, 1, n);
  for (let at = Math.ceil(view.row / edge); at * edge < view.row + view.span; ++at) context.fillRect(0, Math.round((at - view.row / edge) * cell), n, 1);
}

// Hatches what is missing, points at what is beyond the range, and writes times where there is room.
function paint_marks(context, drawn) {
  const { layer, view, edge, cell, ratio, pixels } = drawn, size = Math.ceil(layer.matrix.positions / edge);
  const end = (begin) => Math.min(Math.ceil((begin + view.span) / edge), size), rows = [Math.floor(view.row / edge), end(view.row)];
  const columns = [Math.floor(view.column / edge), end(view.column)], shown = layer.window(edge, ...rows, ...columns);
  const above = pixel_of(PLAIN.above), below = pixel_of(PLAIN.below), is_written = cell / ratio >= WRITTEN_CELL;
  for (let row = rows[0]; row < rows[1]; ++row) {
    for (let column = columns[0]; column < columns[1]; ++column) {
      const code = shown.cells[shown.offset + (row - rows[0]) * shown.stride + column - columns[0]];
      const x = (column - view.column / edge) * cell, y = (row - view.row / edge) * cell;
      if (layer.matrix.is_own(edge, row, column) || code === NOTHING) continue;
      if (code === MISSING) { hatch(context, x, y, cell, ratio); continue; }
      const pixel = pixels[code], on = rgb_of_pixel(pixel), is_beyond = pixel === above || pixel === below;
      if (is_written) write(context, drawn.write_time(time_of(layer.scale, code)), x + cell / 2, y + cell / 2, on, ratio);
      if (is_beyond) dot(context, is_written ? x + cell - 7 * ratio : x + cell / 2, is_written ? y + 7 * ratio : y + cell / 2, cell, on);
    }
  }
}

function write(context, text, x, y, on, ratio) {
  context.font = `${13 * ratio}px ` + getComputedStyle(document.body).fontFamily;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = contrast(on);
  context.fillText(text, x, y);
}

function hatch(context, x, y, cell, ratio) {
  const gap = 6 * ratio;
  context.save();
  context.beginPath();
  context.rect(x, y, cell, cell);
  context.clip();
  context.beginPath();
  // Lines of equal x + y, so that they go on from cell to cell.
  for (let sum = Math.ceil((x + y) / gap) * gap; sum < x + y + 2 * cell; sum += gap) {
    context.moveTo(sum - y - cell, y + cell);
    context.lineTo(sum - y, y);
  }
  context.strokeStyle = page.colours.hatch;
  context.lineWidth = 1.2 * ratio;
  context.stroke();
  context.restore();
}

function dot(context, x, y, cell, on) {
  context.beginPath();
  context.arc(x, y, clamp(cell * 0.16, 1.2, 5), 0, 2 * Math.PI);
  context.fillStyle = contrast(on);
  context.fill();
}
