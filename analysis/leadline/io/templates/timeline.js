// SPDX-License-Identifier: Apache-2.0
// Rows over a common axis of time, one for each rank or group of ranks: pieces of their time in colours, or bytes in shades.
const ROW_LEFT = 120, ROW_TOP = 8, ROW_BOTTOM = 40;

/* spec: {rows: [{name, slow, pieces: [{low, high, colour, opacity, title, rows}]}], x_span: [low, high], x_scale, x_title, label}. */
class Timeline {
  constructor(figure) {
    this.svg = add(figure, "div", {}).appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    this.spec = null;
    this.svg.addEventListener("pointermove", (event) => this.tell(event));
    this.svg.addEventListener("pointerleave", hide_tooltip);
    window.addEventListener("resize", () => { if (this.spec) this.draw(); });
  }

  show(spec) {
    this.spec = spec;
    this.draw();
  }

  draw() {
    const { svg, spec } = this, width = Math.max(this.svg.parentNode.clientWidth, 240), left = Math.min(ROW_LEFT, width / 4);
    const row_height = clamp(360 / Math.max(spec.rows.length, 1), 7, 22), height = ROW_TOP + row_height * spec.rows.length + ROW_BOTTOM, bottom = height - ROW_BOTTOM;
    const [low, high] = spec.x_span, x = (value) => left + (value - low) / (high - low || 1) * (width - CHART_RIGHT - left);
    this.at = { x, row_height };
    svg.replaceChildren();
    for (const [key, value] of [["width", width], ["height", height], ["role", "img"], ["aria-label", spec.label]]) svg.setAttribute(key, value);
    const every = Math.ceil(14 / row_height), is_near_slow = (at) => spec.rows.slice(Math.max(at - every + 1, 0), at + every).some((one) => one.slow);
    spec.rows.forEach((row, at) => {
      const top = ROW_TOP + at * row_height;
      if (row.slow || (at % every === 0 && !is_near_slow(at))) add(svg, "text", { class: `tick ${row.slow ? "slow" : ""}`, x: left - 8, y: top + row_height / 2 + 4, "text-anchor": "end" }, row.name);
      for (const piece of row.pieces) {
        const from = x(piece.low), size = Math.max(x(piece.high) - from, 0);
        if (size > 0) add(svg, "rect", { x: from.toFixed(2), y: (top + 1).toFixed(2), width: size.toFixed(2), height: Math.max(row_height - 2, 1).toFixed(2), fill: piece.colour, "fill-opacity": piece.opacity ?? 1 });
      }
    });
    for (const value of nice_values(low / spec.x_scale, high / spec.x_scale, false, Math.max(Math.floor((width - left) / 80), 2))) {
      const place = x(value * spec.x_scale);
      add(svg, "line", { class: "axis", x1: place, x2: place, y1: bottom, y2: bottom + 5 });
      add(svg, "text", { class: "tick", x: place, y: bottom + 18, "text-anchor": "middle" }, plain(value));
    }
    add(svg, "line", { class: "axis", x1: left, x2: width - CHART_RIGHT, y1: bottom, y2: bottom });
    add(svg, "text", { class: "label", x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, spec.x_title);
  }

  tell(event) {
    if (!this.spec) return;
    const box = this.svg.getBoundingClientRect(), x = event.clientX - box.left, row = this.spec.rows[Math.floor((event.clientY - box.top - ROW_TOP) / this.at.row_height)];
    const piece = row && row.pieces.find(({ low, high }) => this.at.x(low) <= x && x < this.at.x(high));
    if (piece) show_tooltip(piece.title, piece.rows, event.pageX, event.pageY);
    else hide_tooltip();
  }
}
