// SPDX-License-Identifier: Apache-2.0
// A plot of bars or points over two number axes, with lines and marks on it, and a tooltip for what is nearest to the mouse.

/* spec: {x_span: [low, high], y_span, x_title, y_title, x_scale, y_scale: of a value to that of a label, x_ticks: [[x, label]] where not
   of their own, logarithmic: of y, is_count: whether y has whole numbers only, bars: [{low, high, y, title, rows: [[name, value]], kind}], points: [{x, y, title, rows, kind}],
   lines: [{from: [x, y], to: [x, y], kind}], marks: [{x, label, kind}], bands: [{low, high, kind}] over x, height: share of the width}.
   kind: a class of the element. */
class Plot {
  constructor(figure) {
    this.svg = add(figure, "div", {}).appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    this.spec = null;
    this.svg.addEventListener("pointermove", (event) => this.tell(event));
    this.svg.addEventListener("pointerleave", hide_tooltip);
    window.addEventListener("resize", () => { if (this.spec) this.draw(); });
  }

  show(spec) {
    this.spec = { bars: [], points: [], lines: [], marks: [], bands: [], x_scale: 1, y_scale: 1, height: 0.42, ...spec };
    this.draw();
  }

  axes() {
    const { spec } = this, width = Math.max(this.svg.parentNode.clientWidth, 240), height = clamp(width * spec.height, 170, 420);
    const left = CHART_LEFT, right = width - CHART_RIGHT, bottom = height - CHART_BOTTOM, as = spec.logarithmic ? Math.log : (value) => value;
    const [x_low, x_high] = spec.x_span, [y_low, y_high] = spec.y_span;
    return {
      width, height, left, right, bottom,
      x: (x) => left + (x - x_low) / (x_high - x_low || 1) * (right - left),
      y: (y) => bottom - (as(y) - as(y_low)) / (as(y_high) - as(y_low) || 1) * (bottom - CHART_TOP),
    };
  }

  draw() {
    const { svg, spec } = this, at = this.axes();
    this.at = at;
    svg.replaceChildren();
    for (const [key, value] of [["width", at.width], ["height", at.height], ["role", "img"], ["aria-label", `${spec.y_title} over ${spec.x_title}`]]) svg.setAttribute(key, value);
    add(svg, "text", { class: "panel-name", x: 4, y: 14 }, spec.y_title);
    this.draw_grid(at);
    for (const bar of spec.bars) this.draw_bar(at, bar);
    for (const { low, high, kind } of spec.bands) {
      add(svg, "rect", { class: `band ${kind || ""}`, x: at.x(low), y: CHART_TOP, width: Math.max(at.x(high) - at.x(low), 0), height: at.bottom - CHART_TOP });
    }
    for (const { from, to, kind } of spec.lines) add(svg, "line", { class: `line ${kind || ""}`, x1: at.x(from[0]), y1: at.y(from[1]), x2: at.x(to[0]), y2: at.y(to[1]) });
    for (const { x, y, kind } of spec.points) add(svg, "circle", { class: `point ${kind || ""}`, cx: at.x(x), cy: at.y(y), r: kind ? 4.2 : 3 });
    add(svg, "line", { class: "axis", x1: at.left, x2: at.right, y1: at.bottom, y2: at.bottom });
    add(svg, "text", { class: "label", x: (at.left + at.right) / 2, y: at.height - 5, "text-anchor": "middle" }, spec.x_title);
    this.draw_marks(at);
  }

  draw_grid(at) {
    const { svg, spec } = this, [x_low, x_high] = spec.x_span, [y_low, y_high] = spec.y_span;
    for (const value of nice_values(y_low / spec.y_scale, y_high / spec.y_scale, spec.logarithmic, at.height < 220 ? 4 : 7)) {
      if (spec.is_count && !Number.isInteger(value)) continue;
      const y = at.y(value * spec.y_scale);
      add(svg, "line", { class: "grid", x1: at.left, x2: at.right, y1: y, y2: y });
      add(svg, "text", { class: "tick", x: at.left - 8, y: y + 4, "text-anchor": "end" }, grouped_if_whole(value));
    }
    const most = Math.max(Math.floor((at.right - at.left) / 80), 2);
    const ticks = spec.x_ticks || nice_values(x_low / spec.x_scale, x_high / spec.x_scale, false, most).map((value) => [value * spec.x_scale, plain(value)]);
    let end = -Infinity;
    for (const [x, label] of ticks) {
      const place = at.x(x), half = text_size(label) / 2 + 5;
      add(svg, "line", { class: "axis", x1: place, x2: place, y1: at.bottom, y2: at.bottom + 5 });
      if (place - half < end) continue;
      add(svg, "text", { class: "tick", x: place, y: at.bottom + 19, "text-anchor": "middle" }, label);
      end = place + half;
    }
  }

  draw_bar(at, { low, high, y, kind }) {
    if (!(y > 0)) return;
    const left = at.x(low), width = Math.max(at.x(high) - left - (at.x(high) - left > 3 ? 0.8 : 0), 0.8), top = Math.min(at.y(y), at.bottom - 1);
    add(this.svg, "rect", { class: `bar ${kind || ""}`, x: left.toFixed(2), y: top.toFixed(2), width: width.toFixed(2), height: (at.bottom - top).toFixed(2) });
  }

  // Their labels stand beside them, one below the other where they would touch.
  draw_marks(at) {
    const ends = [];
    for (const { x, label, kind } of [...this.spec.marks].sort((a, b) => a.x - b.x)) {
      const place = at.x(x), size = text_size(label), is_right = place + size + 6 < at.right, start = is_right ? place + 5 : place - size - 5;
      let row = ends.findIndex((end) => end < start);
      if (row < 0) row = ends.length;
      ends[row] = Math.max(place, start + size) + 6;
      add(this.svg, "line", { class: `median ${kind || ""}`, x1: place, x2: place, y1: CHART_TOP - 8, y2: at.bottom });
      add(this.svg, "text", { class: "mark", x: is_right ? place + 5 : place - 5, y: CHART_TOP + 2 + 14 * row, "text-anchor": is_right ? "start" : "end" }, label);
    }
  }

  tell(event) {
    if (!this.spec) return;
    const box = this.svg.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const found = this.spec.points.length ? this.nearest(x, y) : this.spec.bars.find(({ low, high }) => this.at.x(low) <= x && x < this.at.x(high));
    if (found && found.title) show_tooltip(found.title, found.rows || [], event.pageX, event.pageY);
    else hide_tooltip();
  }

  nearest(x, y) {
    const distance = (point) => Math.hypot(this.at.x(point.x) - x, this.at.y(point.y) - y);
    const best = this.spec.points.reduce((one, other) => (distance(other) < distance(one) ? other : one));
    return distance(best) < 24 ? best : null;
  }
}

const grouped_if_whole = (value) => (Number.isInteger(value) ? grouped(value) : plain(value));
