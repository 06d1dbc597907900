// SPDX-License-Identifier: Apache-2.0
// The viewer of a matrix: what part of it is in sight, and how wheel, mouse, fingers and keys change that.
const LARGEST_ZOOM = 76, GONE_TO_CELL = 44, SMALLEST_SIDE = 380, NARROW = 560, WHEEL_SPEED = 0.0016, CLICK_WANDER = 4, CATCH = 4, ASK_AFTER_MS = 60;

class MatrixView {
  // on_mark() is called when the reader has marked something, on_draw() after each picture.
  constructor(figure, on_mark, on_draw = () => {}) {
    this.figure = figure;
    this.canvas = figure.querySelector("canvas");
    this.svg = figure.querySelector("svg");
    this.marked = { hosts: new Set(), pair: null, slow_hosts: new Set(), slow_ranks: new Set() };
    Object.assign(this, { on_mark, on_draw, chosen_finding: null });
    this.pointers = new Map();
    this.layer = null;
    this.listen();
  }

  // Shows a layer; the part in sight stays where the axis does.
  show(layer, range, found) {
    const is_same = this.layer && this.layer.matrix.axis === layer.matrix.axis;
    Object.assign(this, { layer, range, found, part: layer.matrix.part,
      pixels: layer.is_by_expected ? factor_palette() : palette(range, layer.scale) });
    this.marked.slow_hosts = new Set(this.part.slow_hosts.map(([host]) => host));
    this.marked.slow_ranks = new Set(this.part.slow_ranks.map(([rank]) => rank));
    if (!is_same) this.view = { row: 0, column: 0, span: layer.matrix.positions };
    this.fit();
    this.draw();
  }

  // The picture is as large as the first screen lets it be, or where it is not on that one, as a screen.
  fit() {
    // Beside a list of findings the matrix stays in sight while one scrolls; it is as large as at the beginning.
    const place = (element) => element.getBoundingClientRect().top, section = by_id("matrix"), beside = by_id("first-screen");
    const top = (beside && getComputedStyle(section).position === "sticky" ? place(this.figure) - place(section) + place(beside) : place(this.figure)) + window.scrollY;
    const wide = this.figure.clientWidth, room = this.room();
    // On a narrow screen the scale of the colours stands below the picture, which keeps room for the numbers at its edge.
    const is_narrow = wide < NARROW, width = is_narrow ? wide - 26 : wide - room - 34;
    const height = top < window.innerHeight ? window.innerHeight - top - 12 : window.innerHeight - 100;
    this.box = box_of(this.layer.matrix, width, Math.max(height, SMALLEST_SIDE + 120));
    const { left, top: above, side, bottom } = this.box;
    this.legend_at = is_narrow ? { x: 4, top: above + side + bottom + 18 } : { x: left + side + 34, top: above };
    const whole = is_narrow ? this.legend_at.top + this.legend_height() : above + side + bottom;
    this.figure.style.height = Math.max(whole, above + 230) + "px";
    Object.assign(this.canvas.style, { left: left + "px", top: above + "px", width: side + "px", height: side + "px" });
    this.svg.setAttribute("width", is_narrow ? wide : left + side + 34 + room);
    this.svg.setAttribute("height", whole);
    this.smallest_span = Math.min(this.layer.matrix.positions, Math.max(side / LARGEST_ZOOM, 2) * this.layer.matrix.data.edge);
    this.view = this.inside(this.view);
  }

  // What the legend beside the picture, or below it, takes.
  room() { return this.layer.is_by_expected ? FACTOR_ROOM : BAR_ROOM; }
  legend_height() { return this.layer.is_by_expected ? factor_legend_height() : bar_height(this.box.side) + 60; }

  inside({ row, column, span }) {
    const all = this.layer.matrix.positions, kept = clamp(span, this.smallest_span, all);
    return { row: clamp(row, 0, all - kept), column: clamp(column, 0, all - kept), span: kept };
  }

  look(view) {
    this.view = this.inside(view);
    this.later();
  }

  later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = null; this.draw(); });
  }

  draw() {
    const { layer, view, box, svg } = this, write_time = (time_ns) => number(layer.is_by_expected ? time_ns : time_ns / this.part.time_unit.scale, 3);
    this.drawn = paint(this.canvas, layer, view, box.side, this.pixels, write_time);
    svg.replaceChildren();
    draw_axes(svg, layer.matrix, view, box, this.marked);
    draw_marks(svg, layer.matrix, view, box, this.marked, this.found, this.chosen_finding);
    const { x, top } = this.legend_at;
    if (layer.is_by_expected) draw_factor_legend(svg, this.part, layer.statistic, x, top);
    else if (this.range) draw_colour_bar(svg, this.part, this.range, x, top, box.side);
    const told = { row: view.row, column: view.column, span: view.span, side: box.side, edge: this.drawn.edge, axis: layer.matrix.axis,
      statistic: layer.statistic, reduction: layer.reduction, positions: layer.matrix.positions, times: layer.is_by_expected ? "expected" : "absolute" };
    Object.assign(this.figure.dataset, told);
    this.canvas.classList.toggle("zoomed", view.span < layer.matrix.positions);
    this.on_draw();
  }

  // ---- zoom and marks

  whole() { this.look({ row: 0, column: 0, span: this.layer.matrix.positions }); }

  // What lies under the point stays there; x and y are pixels of the picture.
  zoom(factor, x = this.box.side / 2, y = this.box.side / 2) {
    const { row, column, span } = this.view, next = clamp(span / factor, this.smallest_span, this.layer.matrix.positions);
    const [across, down] = [x / this.box.side, y / this.box.side];
    this.look({ row: row + down * (span - next), column: column + across * (span - next), span: next });
  }

  pan(right, down) {
    this.look({ ...this.view, row: this.view.row + down * this.view.span, column: this.view.column + right * this.view.span });
  }

  // A click marks, another one takes the mark away.
  mark_host(host) {
    if (!this.marked.hosts.delete(host)) this.marked.hosts.add(host);
    this.marks_changed();
  }

  mark_hosts(hosts) {
    this.marked.hosts = new Set(hosts);
    this.marked.pair = null;
    this.marks_changed();
  }

  mark_pair(from, to) {
    const is_same = this.marked.pair && this.marked.pair.from === from && this.marked.pair.to === to;
    this.marked.pair = is_same ? null : { from, to };
    this.marks_changed();
  }

  clear_marks() {
    this.marked.pair = null;
    this.choose_finding(null);
    this.mark_hosts([]);
  }

  marks_changed() {
    this.later();
    this.on_mark(this.marked);
  }

  look_at(rows, columns, least_span) {
    const span = Math.max(rows.end - rows.first, columns.end - columns.first, least_span);
    const begin = (one) => (one.first + one.end - span) / 2;
    this.look({ row: begin(rows), column: begin(columns), span });
  }

  go_to_pair(from, to) {
    const { matrix } = this.layer, cell = cell_of(matrix, from);
    this.marked.hosts.clear();
    this.marked.pair = { from, to };
    this.look_at(cell, cell_of(matrix, to), this.box.side / GONE_TO_CELL * matrix.data.edge);
    this.marks_changed();
  }

  // The pairs of one host with another, with as much again around them.
  go_to_link(from, to) {
    const [rows, columns] = [from, to].map((host) => stretches_of_host(this.layer.matrix, host)[0]);
    this.look_at(rows, columns, 3 * Math.max(rows.end - rows.first, columns.end - columns.first));
    this.mark_hosts([]);
  }

  // Outlined more strongly; its entry in the list is marked.
  choose_finding(number) {
    this.chosen_finding = number;
    choose_finding(number);
    this.later();
  }

  go_to_rank(rank) {
    this.whole();
    this.marked.hosts.clear();
    this.marked.pair = { from: rank, to: rank };
    this.marks_changed();
  }

  go_to_host(host) {
    this.whole();
    this.mark_hosts([host]);
  }

  // ---- the mouse

  // Where an event is on the picture, in its pixels.
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  // The cell under a point, at the finest edge that the page has; near a cell beyond the range, that cell.
  cell_at({ x, y }) {
    const { view, box, layer } = this, { matrix } = layer, edge = page.served ? this.drawn.edge : layer.edges[0];
    const size = Math.ceil(matrix.positions / edge), scale = box.side / view.span * edge;
    const at = (begin, pixel) => Math.floor(begin / edge + pixel / scale), row = at(view.row, y), column = at(view.column, x);
    if (x < 0 || y < 0 || x >= box.side || y >= box.side || row >= size || column >= size) return null;
    const reach = scale < 2 * CATCH ? Math.ceil(CATCH / scale) : 0, rows = [Math.max(row - reach, 0), Math.min(row + reach + 1, size)];
    const columns = [Math.max(column - reach, 0), Math.min(column + reach + 1, size)], near = layer.window(edge, ...rows, ...columns);
    let worst = { row, column, code: FIRST_TIME };
    for (let r = rows[0]; reach && r < rows[1]; ++r) {
      for (let c = columns[0]; c < columns[1]; ++c) {
        const code = near.cells[near.offset + (r - rows[0]) * near.stride + c - columns[0]];
        if (code > worst.code && this.pixels[code] === pixel_of(PLAIN.above)) worst = { row: r, column: c, code };
      }
    }
    return { edge, row: worst.row, column: worst.column };
  }

  async tell(event) {
    const found = this.cell_at(this.point(event)), { layer } = this, [page_x, page_y] = [event.pageX, event.pageY];
    clearTimeout(this.asking);
    if (!found) { hide_tooltip(); return; }
    const { edge, row, column } = found, title = cell_title(layer.matrix, edge, row, column), turn = this.turn = {};
    if (layer.matrix.is_own(edge, row, column)) { show_tooltip(title, [terms.own.split(": ")], page_x, page_y); return; }
    const answer = async () => {
      const cell = await layer.matrix.describe(layer, edge, row, column);
      if (turn === this.turn) show_tooltip(title, cell_rows(layer, edge, cell), page_x, page_y);
    };
    if (!page.served) { await answer(); return; }
    show_tooltip(title, [], page_x, page_y);
    this.asking = setTimeout(answer, ASK_AFTER_MS);
  }

  hush() {
    this.turn = null;
    clearTimeout(this.asking);
    hide_tooltip();
  }

  async clicked(event) {
    const found = this.cell_at(this.point(event)), { layer } = this;
    if (!found || layer.matrix.is_own(found.edge, found.row, found.column)) return;
    const { from, to, num_pairs } = await layer.matrix.describe(layer, found.edge, found.row, found.column);
    if (num_pairs) this.mark_pair(from, to);
  }

  pressed(event) {
    if (event.button > 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.point(event));
    this.begin = { ...this.point(event), view: this.view, gap: this.gap(), is_click: this.pointers.size === 1 };
  }

  // Between two fingers; 0 where there are not two.
  gap() {
    const [a, b] = [...this.pointers.values()];
    return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }

  moved(event) {
    if (!this.pointers.has(event.pointerId)) { this.tell(event); return; }
    const at = this.point(event), { begin } = this;
    this.pointers.set(event.pointerId, at);
    if (this.pointers.size === 2 && begin.gap) {
      const [a, b] = [...this.pointers.values()], gap = this.gap();
      this.zoom(gap / begin.gap, (a.x + b.x) / 2, (a.y + b.y) / 2);
      begin.gap = gap;
      return;
    }
    if (Math.hypot(at.x - begin.x, at.y - begin.y) > CLICK_WANDER) begin.is_click = false;
    if (begin.is_click) return;
    this.hush();
    const scale = begin.view.span / this.box.side;
    this.look({ ...begin.view, row: begin.view.row - (at.y - begin.y) * scale, column: begin.view.column - (at.x - begin.x) * scale });
  }

  released(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.begin.is_click && event.type === "pointerup" && event.detail < 2) this.clicked(event);
    if (this.pointers.size) this.begin = { ...[...this.pointers.values()][0], view: this.view, gap: 0, is_click: false };
  }

  wheeled(event) {
    const factor = Math.exp(-event.deltaY * WHEEL_SPEED * (event.deltaMode ? 16 : 1)), { positions } = this.layer.matrix;
    // Out of the whole, the wheel moves the page.
    if (factor < 1 && this.view.span >= positions) return;
    event.preventDefault();
    this.hush();
    const { x, y } = this.point(event);
    this.zoom(clamp(factor, 0.4, 2.5), x, y);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const moves = {
      ArrowLeft: () => this.pan(-0.15, 0), ArrowRight: () => this.pan(0.15, 0), ArrowUp: () => this.pan(0, -0.15), ArrowDown: () => this.pan(0, 0.15),
      "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), 0: () => this.whole(), Escape: () => this.clear_marks(),
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]();
  }

  listen() {
    const { canvas, figure } = this, on = (name, react, options) => canvas.addEventListener(name, react, options);
    on("pointerdown", (event) => this.pressed(event));
    on("pointermove", (event) => { if (this.layer) this.moved(event); });
    on("pointerup", (event) => this.released(event));
    on("pointercancel", (event) => this.released(event));
    on("pointerleave", () => this.hush());
    on("dblclick", (event) => { const { x, y } = this.point(event); this.zoom(2.5, x, y); });
    on("wheel", (event) => { if (this.layer) this.wheeled(event); }, { passive: false });
    figure.addEventListener("keydown", (event) => { if (this.layer) this.key(event); });
    this.svg.addEventListener("click", (event) => {
      const label = event.target.closest("[data-host]");
      if (label) this.mark_host(Number(label.dataset.host));
      const outline = event.target.closest("[data-finding]");
      if (outline) {
        this.choose_finding(Number(outline.dataset.finding));
        show_finding(Number(outline.dataset.finding));
      }
      event.stopPropagation();
    });
  }
}
