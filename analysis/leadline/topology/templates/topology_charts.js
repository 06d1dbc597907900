// SPDX-License-Identifier: Apache-2.0
// The charts of a topology test: rates over message size, stars by their centre, throughput over time.
const charts = JSON.parse(by_id("charts").textContent);
const RATE_TITLES = { total: "all bytes transferred", local: "bytes of the busiest rank", average: "bytes of a channel" };
const DEFINITIONS = [
  ["exchange median", "slowest rank, median"], ["with_barrier median", "with the closing barrier, median"], ["with_barrier mean", "with the barrier, mean (NETTEST's)"],
];
const picked = { rate: "total", definition: "exchange median", scale: "auto", size: 0, group: 0, value: "arrivals_ns", load_size: 0, load_scale: "linear" };

const colour_of = (group) => charts.hues[group.hue % charts.hues.length];
const factor_of = (group, rate) => ({ total: group.channels, local: group.busiest, average: 1 })[rate];
// Null stays null: nothing was measured.
const rate_at = (group, rate, bytes, time_ns) => (time_ns ? group.ways * bytes * factor_of(group, rate) * 1e9 / time_ns : null);

function rates_spec() {
  const [definition, statistic] = picked.definition.split(" "), { rate } = picked;
  const series = charts.groups.map((group, index) => {
    const cells = charts.rates.filter((one) => one.group === index);
    const points = cells.map((cell) => rates_point(group, charts.sizes[cell.size_index], cell[definition], rate, statistic));
    const dots = statistic === "mean" ? [] : cells.flatMap((cell) => (cell[definition].repeats.length > 1 ? cell[definition].repeats : [])
      .map((time_ns) => [sized(charts.sizes[cell.size_index]), rate_at(group, rate, charts.sizes[cell.size_index], time_ns)]));
    return { name: group.name, colour: colour_of(group), dash: group.dash, points, dots };
  }).filter(({ points }) => points.length);
  const unit = unit_of(series), used = [...new Set(charts.rates.map((one) => one.size_index))].sort((a, b) => a - b).map((index) => charts.sizes[index]);
  const values = series.flatMap(({ points }) => points.map(({ y }) => y)).filter((y) => y > 0);
  const common = { series, scale: unit.scale, y_title: `${RATE_TITLES[rate]}, ${unit.name}` };
  return {
    ...common, x_title: "message size",
    x_ticks: used.map((bytes) => [sized(bytes), size_name(bytes)]), x_span: [sized(used[0]), sized(used[used.length - 1])],
    logarithmic: picked.scale === "auto" ? Math.max(...values) > 8 * Math.min(...values) : picked.scale === "logarithmic",
    title: (x) => size_name(used.find((bytes) => sized(bytes) === x)),
  };
}

function rates_point(group, bytes, times, rate, statistic) {
  const at = (time_ns) => rate_at(group, rate, bytes, time_ns), y = at(times[statistic]);
  const [low, high] = statistic === "mean" ? [null, null] : [at(times.high), at(times.low)];
  return { x: sized(bytes), y, low, high, words: low ? `${rate_text(y)}  (${rate_text(low)} to ${rate_text(high)})` : rate_text(y) };
}

const host_of_rank = (rank) => page.hosts[page.host_of[rank]];

function centres_spec() {
  const found = charts.centres.find((one) => one.group === picked.group && one.size_index === picked.size);
  const group = charts.groups[picked.group], bytes = charts.sizes[picked.size];
  const is_arrival = picked.value === "arrivals_ns";
  const points = found.ranks.map((rank, at) => {
    const time_ns = found[picked.value][at], y = is_arrival ? (time_ns ? bytes * 1e9 / time_ns : null) : rate_at(group, "total", bytes, time_ns);
    return { x: rank, y, low: null, high: null, words: y === null ? "–" : `${rate_text(y)}, ${nanoseconds_text(time_ns)}` };
  });
  const series = [{ name: group.name, colour: colour_of(group), dash: "", points }], unit = unit_of(series), last = page.num_ranks - 1;
  return {
    series, scale: unit.scale, logarithmic: false, x_title: "centre (rank)",
    y_title: `${is_arrival ? "size ÷ median time to arrival" : "all bytes transferred"}, ${unit.name}`, x_span: [0, last],
    x_ticks: nice_values(0, last, false, 12).filter(Number.isInteger).map((rank) => [rank, String(rank)]),
    title: (rank) => `centre ${rank} (${host_of_rank(rank)})`,
  };
}

function load_spec() {
  const series = charts.load.filter((one) => one.size_index === picked.load_size).map((one) => {
    const group = charts.groups[one.group], bytes = charts.sizes[one.size_index];
    const points = one.points.map(([begin, elapsed, mean, longest]) => {
      const y = rate_at(group, "total", bytes, mean);
      return { x: begin, end: begin + elapsed, y, low: null, high: null, words: `${rate_text(y)}, longest exchange ${nanoseconds_text(longest)}` };
    });
    return { name: group.name, colour: colour_of(group), dash: group.dash, points, spans: true };
  });
  const unit = unit_of(series), end = Math.max(...series.flatMap(({ points }) => points.map((point) => point.end)));
  return {
    series, scale: unit.scale, logarithmic: picked.load_scale === "logarithmic", y_title: `all bytes transferred, ${unit.name}`, x_title: "seconds since the load began",
    x_span: [0, end], x_ticks: nice_values(0, end, false, 12).map((second) => [second, plain(second)]), title: (second) => `${number(second, 4)} s`,
  };
}

function begin_charts() {
  document.querySelectorAll(".chart-controls").forEach((controls) => { controls.hidden = false; });
  const scales = [["auto", "automatic"], ["logarithmic", "logarithmic"], ["linear", "linear"]];
  const chart_of = (id, spec) => { const chart = new Chart(by_id(id)); return () => chart.show(spec()); };
  if (by_id("rates-chart")) {
    const show = chart_of("rates-chart", rates_spec), pick = (name) => (value) => { picked[name] = value; show(); };
    offer("rates-definition", DEFINITIONS, picked.definition, pick("definition"));
    offer("rates-scale", scales, picked.scale, pick("scale"));
    const press = (rate) => {
      for (const button of by_id("rate").children) button.setAttribute("aria-pressed", String(button.dataset.rate === rate));
      pick("rate")(rate);
    };
    by_id("rate").addEventListener("click", ({ target }) => { if (target.dataset.rate) press(target.dataset.rate); });
    press(picked.rate);
  }
  if (by_id("centres-chart")) {
    const last = charts.centres[charts.centres.length - 1];
    Object.assign(picked, { group: last.group, size: last.size_index });
    const show = chart_of("centres-chart", centres_spec), values = [["times_ns", "total rate"]];
    if (last.arrivals_ns.some((time_ns) => time_ns !== null)) values.unshift(["arrivals_ns", "arrival of its messages"]);
    [[picked.value]] = values;
    offer("centres-value", values, picked.value, (value) => { picked.value = value; show(); });
    offer("centres-group", charts.centres.map((one) => [one.group, charts.groups[one.group].name]), picked.group, (value) => { picked.group = Number(value); show(); });
    offer("centres-size", charts.centres.map((one) => [one.size_index, size_name(charts.sizes[one.size_index])]), picked.size, (value) => { picked.size = Number(value); show(); });
    show();
  }
  if (by_id("load-chart")) {
    const sizes = [...new Set(charts.load.map((one) => one.size_index))].sort((a, b) => a - b);
    picked.load_size = sizes[sizes.length - 1];
    const show = chart_of("load-chart", load_spec);
    offer("load-size", sizes.map((index) => [index, size_name(charts.sizes[index])]), picked.load_size, (value) => { picked.load_size = Number(value); show(); });
    offer("load-scale", scales.slice(1), picked.load_scale, (value) => { picked.load_scale = value; show(); });
    show();
  }
}

// Many rows are too many to compare: one size is shown, all can be.
const MOST_NUMBER_ROWS = 18;

function begin_numbers() {
  const table = document.querySelector("table.numbers"), rows = [...table.querySelectorAll("tbody tr")];
  const sizes = [...new Set(rows.map((row) => Number(row.dataset.size)))].sort((a, b) => a - b);
  const show = (value) => {
    for (const row of rows) row.hidden = value !== "all" && row.dataset.size !== value;
    table.classList.toggle("one-size", value !== "all");
  };
  const first = rows.length > MOST_NUMBER_ROWS ? String(sizes[sizes.length - 1]) : "all";
  offer("numbers-size", [["all", "all"], ...sizes.map((index) => [index, size_name(charts.sizes[index])])], first, show);
  by_id("numbers-size").closest("label").hidden = sizes.length < 2;
  show(first);
}

begin_charts();
if (document.querySelector("table.numbers")) begin_numbers();
if (!page.parts.length) hooks.drawn = "charts";
