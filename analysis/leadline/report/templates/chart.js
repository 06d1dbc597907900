// SPDX-License-Identifier: Apache-2.0
// A chart of lines: axes, bands, points, a legend that hides lines, and a tooltip with all values at one place.
const CHART_LEFT = 66, CHART_TOP = 30, CHART_BOTTOM = 44, CHART_RIGHT = 12, WIDE_CHART = 760;

/* spec: {series: [{name, colour, dash, points: [{x, y, low, high, words}], dots: [[x, y]], slow: Set of x, spans: whether
   each point reaches to its end}], x_ticks: [[x, label]], x_span: [low, high], x_title, y_title, scale: y of a label to that of
   a point, logarithmic, y_span: [low, high] where the axis is not to begin at 0, title(x): of the tooltip}. Values that are null are left out. */
class Chart {
  constructor(figure) {
    this.figure = figure;
    this.svg = add(figure, "div", {}).appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    this.legend = add(figure, "ul", { class: "chart-legend" });
    this.hidden = new Set();
    this.spec = null;
    this.svg.addEventListener("pointermove", (event) => this.tell(event));
    this.svg.addEventListener("pointerleave", () => this.hush());
    window.addEventListener("resize", () => { if (this.spec) this.draw(); });
  }

  show(spec) {
    this.spec = spec;
    this.draw_legend();
    this.draw();
  }

  visible() { return this.spec.series.filter(({ name }) => !this.hidden.has(name)); }

  draw_legend() {
    this.legend.replaceChildren();
    for (const one of this.spec.series) {
      const button = add(add(this.legend, "li", {}), "button", { type: "button", "aria-pressed": String(!this.hidden.has(one.name)) });
      const sample = button.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
      for (const [key, value] of [["width", 28], ["height", 10], ["aria-hidden", "true"]]) sample.setAttribute(key, value);
      add(sample, "line", { class: "line", x1: 1, x2: 27, y1: 5, y2: 5, stroke: one.colour, "stroke-dasharray": one.dash });
      add(button, "span", {}, one.name);
      button.addEventListener("click", () => {
        if (!this.hidden.delete(one.name)) this.hidden.add(one.name);
        button.setAttribute("aria-pressed", String(!this.hidden.has(one.name)));
        this.draw();
      });
      button.addEventListener("pointerenter", () => this.dim(one.name));
      button.addEventListener("pointerleave", () => this.dim(null));
    }
  }

  dim(name) {
    for (const group of this.svg.querySelectorAll("g[data-name]")) group.classList.toggle("dim", name !== null && group.dataset.name !== name);
  }

  // Where the values lie in pixels.
  axes() {
    const { spec } = this, width = Math.max(this.svg.parentNode.clientWidth, 240), height = clamp(width * 0.44, 250, 400);
    const values = this.visible().flatMap(({ points, dots }) => [...points.flatMap(({ y, low, high }) => [y, low, high]), ...(dots || []).map(([, y]) => y)])
      .filter((value) => Number.isFinite(value) && value > 0);
    const [least, most] = values.length ? [Math.min(...values), Math.max(...values)] : [1, 10];
    const [low, high] = spec.y_span || (spec.logarithmic ? [least / 1.25, most * 1.25] : [0, most * 1.06]), as = spec.logarithmic ? Math.log : (value) => value;
    const left = CHART_LEFT, right = width - CHART_RIGHT, bottom = height - CHART_BOTTOM, [first, last] = spec.x_span;
    const inset = Math.min(16, (right - left) / 20), share = (x) => (last > first ? (x - first) / (last - first) : 0.5);
    return {
      width, height, left, right, bottom, low, high, is_empty: !values.length,
      x: (x) => left + inset + share(x) * (right - left - 2 * inset),
      y: (y) => bottom - (as(y) - as(low)) / (as(high) - as(low)) * (bottom - CHART_TOP),
    };
  }

  draw() {
    const { svg, spec } = this, at = this.axes();
    this.at = at;
    svg.replaceChildren();
    svg.setAttribute("width", at.width);
    svg.setAttribute("height", at.height);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `${spec.y_title} over ${spec.x_title}`);
    add(svg, "text", { class: "panel-name", x: 4, y: 14 }, spec.y_title);
    for (const value of nice_values(at.low / spec.scale, at.high / spec.scale, spec.logarithmic, 8)) {
      const y = at.y(value * spec.scale);
      add(svg, "line", { class: "grid", x1: at.left, x2: at.right, y1: y, y2: y });
      add(svg, "text", { class: "tick", x: at.left - 8, y: y + 4, "text-anchor": "end" }, plain(value));
    }
    this.draw_x_ticks(at);
    add(svg, "line", { class: "axis", x1: at.left, x2: at.right, y1: at.bottom, y2: at.bottom });
    add(svg, "text", { class: "label", x: (at.left + at.right) / 2, y: at.height - 5, "text-anchor": "middle" }, spec.x_title);
    if (at.is_empty) add(svg, "text", { class: "nothing", x: (at.left + at.right) / 2, y: at.height / 2, "text-anchor": "middle" }, "nothing is chosen");
    else for (const one of this.visible()) draw_series(svg, at, one);
    this.crosshair = add(svg, "line", { class: "crosshair", y1: CHART_TOP, y2: at.bottom, visibility: "hidden" });
  }

  draw_x_ticks(at) {
    let end = -Infinity;
    for (const [x, label] of this.spec.x_ticks) {
      const place = at.x(x), half = text_size(label) / 2 + 5;
      add(this.svg, "line", { class: "axis", x1: place, x2: place, y1: at.bottom, y2: at.bottom + 5 });
      if (place - half < end) continue;
      add(this.svg, "text", { class: "tick", x: place, y: at.bottom + 19, "text-anchor": "middle" }, label);
      end = place + half;
    }
  }

  // All lines at the place that is nearest to the mouse.
  tell(event) {
    if (!this.spec) return;
    const x = event.clientX - this.svg.getBoundingClientRect().left, series = this.visible();
    const places = [...new Set(series.flatMap(({ points }) => points.map((point) => point.x)))];
    if (!places.length) return;
    const near = places.reduce((best, one) => (Math.abs(this.at.x(one) - x) < Math.abs(this.at.x(best) - x) ? one : best));
    const found = series.flatMap((one) => one.points.filter((point) => point.x === near && point.y !== null).map((point) => ({ ...point, name: one.name })))
      .sort((a, b) => b.y - a.y);
    this.crosshair.setAttribute("x1", this.at.x(near));
    this.crosshair.setAttribute("x2", this.at.x(near));
    this.crosshair.setAttribute("visibility", "visible");
    show_tooltip(this.spec.title(near), found.map(({ name, words }) => [name, words]), event.pageX, event.pageY);
  }

  hush() {
    if (this.crosshair) this.crosshair.setAttribute("visibility", "hidden");
    hide_tooltip();
  }
}

const text_size = (text) => 7 * text.length;

function draw_series(svg, at, one) {
  const there = one.points.filter(({ y }) => Number.isFinite(y) && y > 0), group = add(svg, "g", { "data-name": one.name }), { colour } = one;
  const banded = there.filter(({ low, high }) => Number.isFinite(low) && Number.isFinite(high) && low > 0);
  const pixel = (x, y) => `${at.x(x).toFixed(1)},${at.y(y).toFixed(1)}`;
  if (banded.length > 1) {
    const points = [...banded.map(({ x, high }) => pixel(x, high)), ...[...banded].reverse().map(({ x, low }) => pixel(x, low))];
    add(group, "polygon", { class: "band", points: points.join(" "), fill: colour });
  }
  if (banded.length === 1) for (const { x, low, high } of banded) add(group, "line", { class: "interval", x1: at.x(x), x2: at.x(x), y1: at.y(low), y2: at.y(high), stroke: colour });
  if (one.spans) for (const { x, end, y } of there) add(group, "line", { class: "line", x1: at.x(x), x2: at.x(end), y1: at.y(y), y2: at.y(y), stroke: colour, "stroke-dasharray": "" });
  const line = { class: "line", points: there.map(({ x, y }) => pixel(x, y)).join(" "), stroke: colour, "stroke-dasharray": one.dash };
  add(group, "polyline", one.spans || there.length > 200 ? { ...line, "stroke-width": 1, class: "line thin" } : line);
  for (const [x, y] of one.dots || []) if (y > 0) add(group, "circle", { class: "dot", cx: at.x(x), cy: at.y(y), r: 2.2, fill: colour });
  if (there.length <= 200 && !one.spans) for (const { x, y } of there) add(group, "circle", { class: "marker", cx: at.x(x), cy: at.y(y), r: 3.2, stroke: colour });
  for (const { x, y } of there) if (one.slow && one.slow.has(x)) add(group, "circle", { class: "marker slow", cx: at.x(x), cy: at.y(y), r: 4 });
}
