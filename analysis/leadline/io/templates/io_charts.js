// SPDX-License-Identifier: Apache-2.0
// The charts of a parallel file test: what each rank did with its time, bytes over time, latencies of calls.
const TIME_UNITS = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];
const unit_of_time = (time_ns) => TIME_UNITS.filter(([, scale]) => time_ns >= scale).pop() || TIME_UNITS[0];

const chosen = { phase: page.phases.length ? page.phases[0].index : -1 };
const of_phase = () => page.phases.find((one) => one.index === chosen.phase);

// The kinds stand one behind the other: how much of each, not when.
function use_spec() {
  const { ranks, end_ns } = of_phase(), [name, scale] = unit_of_time(end_ns);
  const rows = ranks.map((one) => {
    let at = one.begin_ns;
    const pieces = [...page.times.map((kind, index) => [kind, one.times[index]]), ["rest", one.rest]].filter(([, time]) => time > 0).map(([kind, time]) => {
      const low = at;
      at += time;
      const facts = [["of its time", `${number(100 * time / (end_ns || 1), 3)} %`], ["host", one.host]];
      if (one.bytes_per_s) facts.push(["its rate", rate_text(one.bytes_per_s)]);
      return { low, high: at, colour: page.colours[kind], title: `rank ${one.rank}: ${kind} ${nanoseconds_text(time)}`, rows: facts };
    });
    return { name: `rank ${one.rank}`, slow: one.slow, pieces };
  });
  return { rows, x_span: [0, end_ns || 1], x_scale: scale, x_title: `time, ${name}`, label: "what each rank did with its time" };
}

function strips_spec() {
  const { groups, bin_ns, total } = of_phase(), most = Math.max(...groups.flatMap((one) => one.bytes), 1), [name, scale] = unit_of_time(bin_ns * total.length);
  by_id("darkest").textContent = `: at most ${rate_text(1e9 * most / bin_ns)}`;
  const rows = groups.map((one) => ({
    name: one.name, slow: false,
    pieces: one.bytes.map((bytes, at) => ({
      low: at * bin_ns, high: (at + 1) * bin_ns, colour: "#31688e", opacity: bytes ? 0.06 + 0.94 * bytes / most : 0.02, title: `${one.name}, ${nanoseconds_text(at * bin_ns)} to ${nanoseconds_text((at + 1) * bin_ns)}`,
      rows: [["moved at", bytes ? rate_text(1e9 * bytes / bin_ns) : "nothing"]],
    })),
  }));
  return { rows, x_span: [0, bin_ns * Math.max(total.length, 1)], x_scale: scale, x_title: `time, ${name}`, label: "bytes over time by rank" };
}

function throughput_spec() {
  const { bin_ns, total, ramp_ns } = of_phase(), rates = total.map((bytes) => 1e9 * bytes / bin_ns), unit = unit_of([{ points: rates.map((y) => ({ y })) }]);
  const [name, scale] = unit_of_time(bin_ns * total.length);
  return {
    x_span: [0, bin_ns * total.length], x_scale: scale, x_title: `time, ${name}`, y_span: [0, Math.max(...rates) * 1.08], y_scale: unit.scale, y_title: `throughput of all ranks, ${unit.name}`, height: 0.36,
    marks: ramp_ns ? [{ x: ramp_ns, label: "end of the ramp" }] : [],
    bars: rates.map((y, at) => ({ low: at * bin_ns, high: (at + 1) * bin_ns, y, title: `${nanoseconds_text(at * bin_ns)} to ${nanoseconds_text((at + 1) * bin_ns)}`, rows: [["throughput", y ? rate_text(y) : "nothing"]] })),
  };
}

// Buckets are equally wide on a logarithmic axis.
function latency_spec() {
  const { latencies } = of_phase(), total = latencies.reduce((sum, one) => sum + one[2], 0), most = Math.max(...latencies.map((one) => one[2]));
  const low_of = ([low, high]) => Math.log2(low || (high || 2) / 2 ** 0.25), high_of = ([low, high]) => Math.log2(high || low * 2 ** 0.25);
  const first = low_of(latencies[0]), last = high_of(latencies[latencies.length - 1]), ticks = [];
  for (let power = 0; power <= 13; ++power) for (const step of [1, 2, 5]) {
    const value = step * 10 ** power, at = Math.log2(value);
    if (at >= first && at <= last && (last - first < 20 || step === 1)) ticks.push([at, nanoseconds_text(value, 1)]);
  }
  let below = 0;
  return {
    x_span: [first, last], x_title: "time of a call, logarithmic", x_ticks: ticks, y_span: [0.5, most * 1.6], logarithmic: true, is_count: true, y_title: "number of calls, logarithmic", height: 0.36,
    bars: latencies.map((one) => {
      below += one[2];
      return { low: low_of(one), high: high_of(one), y: one[2], title: `${nanoseconds_text(2 ** low_of(one))} to ${nanoseconds_text(2 ** high_of(one))}`,
        rows: [["calls", grouped(one[2])], ["share", `${number(100 * one[2] / total, 3)} %`], ["these and faster ones", `${number(100 * below / total, 4)} %`]] };
    }),
  };
}

const CHARTS = [
  ["use-chart", Timeline, use_spec, (one) => one.ranks.length], ["strips-chart", Timeline, strips_spec, (one) => one.total.length],
  ["throughput-chart", Plot, throughput_spec, (one) => one.total.length], ["latency-chart", Plot, latency_spec, (one) => one.latencies.length],
];

function draw_legend() {
  const legend = by_id("use-legend");
  legend.replaceChildren();
  for (const kind of [...page.times, "rest"]) {
    const at = page.times.indexOf(kind), is_there = of_phase().ranks.some((one) => (at < 0 ? one.rest : one.times[at]) > 0);
    if (!is_there) continue;
    const item = add(legend, "li", {});
    add(item, "i", { style: `background:${page.colours[kind]}` });
    add(item, "span", {}, kind);
  }
}

// Charts and tables are about one phase, which any of the controls chooses for all of them.
function begin_io() {
  document.querySelectorAll(".chart-controls").forEach((controls) => { controls.hidden = false; });
  const shown = CHARTS.filter(([id]) => by_id(id)).map(([id, kind, spec, is_there]) => ({ figure: by_id(id), chart: new kind(by_id(id)), spec, is_there }));
  const controls = [...document.querySelectorAll("select.of-phase")];
  const show = () => {
    for (const { figure, chart, spec, is_there } of shown) {
      const block = figure.closest(".of-charts");
      block.hidden = !of_phase() || !is_there(of_phase());
      if (!block.hidden) chart.show(spec());
    }
    if (of_phase()) draw_legend();
    for (const row of document.querySelectorAll("[data-phase]")) row.hidden = Number(row.dataset.phase) !== chosen.phase;
    for (const note of document.querySelectorAll(".only-part")) note.hidden = !of_phase() || !of_phase().is_part;
    for (const control of controls) control.value = String(chosen.phase);
  };
  for (const control of controls) {
    for (const { index, name } of page.phases) add(control, "option", { value: index }, name);
    control.closest("label").hidden = page.phases.length < 2;
    control.addEventListener("change", () => { chosen.phase = Number(control.value); show(); });
  }
  show();
  hooks.drawn = "charts";
}

begin_io();
