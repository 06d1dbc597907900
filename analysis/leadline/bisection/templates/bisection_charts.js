// SPDX-License-Identifier: Apache-2.0
// The charts of a bisection test: distributions, convergence, the search for bad patterns, who is slow, simulated against measured.
const rates_unit = (values) => unit_of([{ points: values.map((y) => ({ y })) }]);
const in_percent = (share, digits = 3) => `${number(100 * share, digits)} %`;
const padded = (low, high, share) => [low - (high - low || low || 1) * share, high + (high - low || low || 1) * share];

const chosen = { size: page.first_size, components: "hosts" };
const of_size = () => page.sizes.find((one) => one.size_index === chosen.size);

// Bars of counts over bandwidths.
function counts_spec({ edges, counts }, noun, marks, logarithmic) {
  const unit = rates_unit(edges), total = counts.reduce((sum, one) => sum + one, 0), most = Math.max(...counts);
  return {
    x_span: [edges[0], edges[edges.length - 1]], x_scale: unit.scale, x_title: `bandwidth, ${unit.name}`,
    y_span: logarithmic ? [0.5, most * 1.6] : [0, most * 1.12], y_title: `number of ${noun}s${logarithmic ? ", logarithmic" : ""}`, logarithmic, marks, is_count: true,
    bars: counts.map((count, at) => ({
      low: edges[at], high: edges[at + 1], y: count, title: `${number(edges[at] / unit.scale)} to ${number(edges[at + 1] / unit.scale)} ${unit.name}`,
      rows: [[`${noun}s`, grouped(count)], ["share", in_percent(count / total)]],
    })),
  };
}

function patterns_spec() {
  const { patterns, ebb } = of_size();
  const spec = counts_spec(patterns, "pattern", [{ x: ebb.mean, label: "eBB" }], false);
  return { ...spec, x_title: spec.x_title.replace("bandwidth", "mean of a pattern"),
    bands: ebb.half_width === null ? [] : [{ low: ebb.mean - ebb.half_width, high: ebb.mean + ebb.half_width }] };
}

function connections_spec() {
  const { connections, median, alone } = of_size(), [low, high] = [connections.edges[0], connections.edges[connections.edges.length - 1]];
  const marks = [{ x: median, label: "median" }, ...(alone && alone >= low && alone <= high ? [{ x: alone, label: "pairs alone" }] : [])];
  return counts_spec(connections, "connection", marks, true);
}

function convergence_spec() {
  const { converged, ebb } = of_size(), unit = rates_unit([ebb.mean]), last = converged[converged.length - 1];
  const points = converged.map(([num, y, half_width]) => ({
    x: Math.log2(num), num, y, low: y - half_width, high: y + half_width,
    words: `${number(y / unit.scale)} ± ${number(half_width / unit.scale, 2)} ${unit.name}, ± ${in_percent(half_width / y, 2)}`,
  }));
  // After few patterns the interval is wider than all that comes later: it may leave the chart.
  const shown = points.filter(({ num }) => num >= Math.min(8, last[0])), low = Math.min(...shown.map((one) => one.low)), high = Math.max(...shown.map((one) => one.high));
  const y_span = padded(Math.max(low, 0), high, 0.08), inside = (value) => clamp(value, y_span[0], y_span[1]);
  for (const point of points) Object.assign(point, { y: inside(point.y), low: inside(point.low), high: inside(point.high) });
  const ticks = [];
  for (let num = 2; num <= last[0]; num *= 2) ticks.push([Math.log2(num), grouped(num)]);
  return {
    series: [{ name: "mean so far", colour: "#31688e", dash: "", points }], scale: unit.scale, logarithmic: false, y_span, y_title: `mean and its 95 % interval, ${unit.name}`,
    x_title: "patterns", x_span: [1, Math.log2(last[0])], x_ticks: ticks, title: (x) => `after ${grouped(points.find((one) => one.x === x).num)} patterns`,
  };
}

function worst_spec() {
  const { worst, ebb } = of_size(), unit = rates_unit([ebb.mean || worst[0][1]]);
  const words = (y) => `${number(y / unit.scale)} ${unit.name}${ebb.mean ? `, ${number(y / ebb.mean, 3)} of the eBB` : ""}`;
  const points = worst.map(([step, y]) => ({ x: step, y, words: words(y) }));
  const last = points[points.length - 1].x, series = [{ name: "a step", colour: "#31688e", dash: "", points, slow: new Set(worst.filter((one) => one[2]).map(([step]) => step)) }];
  if (ebb.mean) series.push({ name: "eBB", colour: "#57606a", dash: "5 3", points: [1, last].map((x) => ({ x, y: ebb.mean, words: words(ebb.mean) })) });
  return {
    series, scale: unit.scale, logarithmic: false, y_title: `mean of a pattern, ${unit.name}`, x_title: "step of the search", x_span: [1, Math.max(last, 2)],
    x_ticks: nice_values(1, last, false, 10).filter(Number.isInteger).map((step) => [step, grouped(step)]), title: (step) => `step ${grouped(step)}`,
  };
}

function components_spec() {
  const components = page.components[chosen.components], last = components.length ? components[components.length - 1].end : 1;
  return {
    x_span: [0, last], x_title: chosen.components === "hosts" ? "host, in the order of their lowest ranks" : "rank", y_span: [0, 1], y_scale: 0.01, y_title: "share of slow connections, %", height: 0.24,
    x_ticks: nice_values(0, last, false, 12).filter((value) => Number.isInteger(value) && value < last).map((value) => [value + 0.5, grouped(value)]),
    bars: components.map((one) => ({ low: one.begin, high: one.end, y: one.share, kind: one.slow ? "slow" : "", title: one.name,
      rows: [["slow connections", `${grouped(one.num_slow)} of ${grouped(one.num)}`], ["share", one.share === null ? "–" : in_percent(one.share)]] })),
  };
}

function simulated_spec() {
  const { points, ratio, unit, deviating } = page.simulated, xs = points.map((one) => one[1]), ys = points.map((one) => one[2]);
  const x_span = padded(Math.min(...xs), Math.max(...xs), 0.06), y_span = padded(Math.min(...ys), Math.max(...ys), 0.06), marked = new Set(deviating);
  const low = Math.max(x_span[0], y_span[0] / ratio), high = Math.min(x_span[1], y_span[1] / ratio);
  return {
    x_span, y_span, x_title: "simulated, of pairs alone", y_title: `measured, ${unit}`, height: 0.5,
    lines: high > low ? [{ from: [low, low * ratio], to: [high, high * ratio], kind: "same" }] : [],
    points: points.map(([index, x, y]) => ({ x, y, kind: marked.has(index) ? "slow" : "", title: `random pattern ${index}`,
      rows: [["simulated", number(x, 3)], ["measured", number(y, 3)], ["measured ÷ simulated, by that of all", `${number(y / x / ratio, 3)} ×`]] })),
  };
}

const CHARTS = [
  ["hosts-chart", HostMatrixView, () => null, (one) => one.hosts],
  ["patterns-chart", Plot, patterns_spec, (one) => one.patterns], ["connections-chart", Plot, connections_spec, (one) => one.connections],
  ["convergence-chart", Chart, convergence_spec, (one) => one.converged.length], ["worst-chart", Chart, worst_spec, (one) => one.worst.length],
];

// Charts and tables are about one size, which any of the controls chooses for all of them.
function begin_sizes() {
  const shown = CHARTS.filter(([id]) => by_id(id)).map(([id, kind, spec, is_there]) => ({ figure: by_id(id), chart: new kind(by_id(id)), spec, is_there }));
  const controls = [...document.querySelectorAll("select.of-size")];
  const show = () => {
    for (const { figure, chart, spec, is_there } of shown) {
      const block = figure.closest(".of-charts");
      block.hidden = !of_size() || !is_there(of_size());
      if (!block.hidden) chart.show(spec());
    }
    for (const row of document.querySelectorAll("[data-size]")) row.hidden = Number(row.dataset.size) !== chosen.size;
    for (const control of controls) control.value = String(chosen.size);
  };
  for (const control of controls) {
    for (const { size_index, bytes } of page.sizes) add(control, "option", { value: size_index }, size_name(bytes));
    control.closest("label").hidden = page.sizes.length < 2;
    control.addEventListener("change", () => { chosen.size = Number(control.value); show(); });
  }
  show();
}

function begin_bisection() {
  document.querySelectorAll(".chart-controls").forEach((controls) => { controls.hidden = false; });
  begin_sizes();
  if (by_id("components-chart")) {
    const chart = new Plot(by_id("components-chart")), names = Object.keys(page.components);
    [chosen.components] = names;
    offer("components-kind", names.map((name) => [name, name]), chosen.components, (value) => { chosen.components = value; chart.show(components_spec()); });
    chart.show(components_spec());
  }
  if (by_id("simulated-chart")) new Plot(by_id("simulated-chart")).show(simulated_spec());
  hooks.drawn = "charts";
}

begin_bisection();
