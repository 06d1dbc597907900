// SPDX-License-Identifier: Apache-2.0
// What the page shows: the slice, statistic and order as chosen, and the ways from the page's tables into the matrix.
const chosen = { part: page.first_part || 0, statistic: page.first_statistic, reduction: "worst", axis: "ranks", order: "rank", extent: "robust", scale: "auto",
  times: page.is_diagnosed ? "expected" : "absolute" };
const DEFAULTS = { ...chosen };
const matrices = new Map();
const viewer = new MatrixView(by_id("rank-matrix"), (marked) => { by_id("unmark").hidden = !marked.pair && !marked.hosts.size; },
  () => remember_view(described_view));
const status = by_id("matrix-status");
// Called with each part that is shown.
const shown = [];
// What tells one part from others: the control that chooses it, and the part's members for its value and name.
const PART_CHOICES = [["topology", "group_index", "group_name"], ["size", "size_index", "size_name"], ["repeat", "repeat", "repeat_name"]]
  .filter(([id]) => by_id(id));
let turn = 0, drawn_turn = 0, times_shown = null;

function tell_progress(share) {
  status.hidden = share >= 1;
  status.textContent = `The server reads the result: ${Math.floor(100 * share)} %`;
}

function matrix_of(part, axis) {
  const key = `${page.parts.indexOf(part)} ${axis}`;
  if (!matrices.has(key)) {
    matrices.set(key, page.served ? new ServedMatrix(part, axis, () => viewer.later(), tell_progress) : new EmbeddedMatrix(part, axis));
  }
  return matrices.get(key);
}

const axis_chosen = () => (chosen.axis === "hosts" ? "hosts" : chosen.order === "rank" ? "ranks" : `ranks-by-${chosen.order}`);
// Only single pairs that are inside the page can be put into any order.
const has_single_pairs = !page.served && page.parts.every((part) => part.matrices.ranks && part.matrices.ranks.edge === 1);
const ORDERS = [["rank", "by rank", true], ["host", "by host", page.order_by_host], ["network", "by network", has_single_pairs && page.order_by_network],
  ["findings", "by findings", has_single_pairs && (page.findings || []).some((one) => one.blocks.length)]].filter(([, , is_offered]) => is_offered);

async function show() {
  const mine = ++turn, part = page.parts[chosen.part], matrix = matrix_of(part, axis_chosen());
  document.querySelectorAll(".part").forEach((block) => { block.hidden = Number(block.dataset.part) !== chosen.part; });
  document.querySelectorAll(".part-name").forEach((heading) => { heading.hidden = false; });
  by_id("reduction-choice").hidden = !matrix.begins.some((begin, at) => begin !== at) && matrix.positions < 256;
  const layer = await matrix.layer(chosen.statistic, chosen.reduction);
  if (mine !== turn) return;
  const range = chosen_range(layer.range, chosen), found = striking(part);
  const is_known = Boolean(expected_of(part, chosen.statistic)), is_by_expected = is_known && chosen.times === "expected";
  const drawn = is_by_expected ? layer_by_expected(layer, part) : layer;
  by_id("times").value = is_by_expected ? "expected" : "absolute";
  by_id("times").disabled = !is_known;
  by_id("times").closest("label").hidden = !page.parts.some((one) => one.expected_ns);
  for (const id of ["extent", "scale"]) by_id(id).closest("label").hidden = is_by_expected;
  by_id("save-data").hidden = Boolean(page.served) || !matrix.is_single(layer.edges[0]);
  tell_striking(by_id("striking"), found);
  tell_legend(by_id("matrix-legend"), part, range, drawn.count(range, layer.scale));
  const what = chosen.axis === "hosts" ? "host" : "rank", times = is_by_expected ? "times by expected" : "times", num = findings_of(part).length;
  viewer.canvas.setAttribute("aria-label", `${times} from every ${what} to every ${what}${num ? `, ${plural(num, "finding")} outlined` : ""}`);
  viewer.show(drawn, range, found);
  times_shown = layer;
  drawn_turn = mine;
  shown.forEach((tell) => { tell(part); });
  hooks.drawn = `${chosen.part} ${chosen.statistic}`;
}

const redraw = () => { if (drawn_turn) { viewer.fit(); viewer.draw(); } };

function choose_part() {
  const fits = (part) => PART_CHOICES.every(([id, member]) => String(part[member]) === by_id(id).value);
  const found = page.parts.findIndex(fits);
  // A run that was stopped may have this size, but not in this repeat.
  if (found >= 0) chosen.part = found;
  for (const [id, member] of PART_CHOICES) by_id(id).value = String(page.parts[chosen.part][member]);
  return show();
}

function choose_axis(axis) {
  chosen.axis = axis;
  for (const button of document.querySelectorAll("#axes button")) button.setAttribute("aria-pressed", String(button.dataset.axis === axis));
  by_id("order").closest("label").hidden = axis === "hosts" || ORDERS.length < 2;
  return show();
}

// Shows the matrix where it is not in sight.
function scroll_to_matrix() {
  const { top, bottom } = by_id("rank-matrix").getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight + 60) by_id("matrix").scrollIntoView({ block: "start" });
}

// Other parts of the page only say whom they mean: ranks by data-rank or data-from and data-to, hosts by their indices.
async function go(event) {
  const element = event.target.closest("[data-from], [data-from-host], [data-host], [data-rank], button[data-finding]");
  if (!element) return;
  const { from, to, fromHost, toHost, host, rank, finding } = element.dataset;
  if (element.dataset.part !== undefined) chosen.part = Number(element.dataset.part);
  const needs_ranks = from !== undefined || rank !== undefined;
  await (needs_ranks && chosen.axis === "hosts" ? choose_axis("ranks") : show());
  if (from !== undefined) viewer.go_to_pair(Number(from), Number(to));
  else if (fromHost !== undefined) viewer.go_to_link(Number(fromHost), Number(toHost));
  else if (host !== undefined) viewer.go_to_host(Number(host));
  else if (rank !== undefined) viewer.go_to_rank(Number(rank));
  else viewer.whole();
  viewer.choose_finding(finding === undefined ? null : Number(finding));
  scroll_to_matrix();
}

// The address of what is shown: only what differs from what the page shows at first.
function described_view() {
  const told = {}, part = page.parts[chosen.part];
  for (const [id, member] of PART_CHOICES) if (page.parts[DEFAULTS.part][member] !== part[member]) told[id] = part[member];
  for (const [key, value] of Object.entries(DEFAULTS)) if (key !== "part" && chosen[key] !== value) told[key] = chosen[key];
  const { view, layer } = viewer;
  if (view && view.span < layer.matrix.positions) for (const key of PLACE_KEYS) told[key] = Number(view[key].toFixed(2));
  return told;
}

// Shows what the address names; what this page does not offer stays as it is at first.
async function follow_address() {
  clearTimeout(remembering);
  const told = told_by_address(), place = place_told(told);
  const fits = (part) => PART_CHOICES.every(([id, member]) => String(part[member]) === (told[id] ?? String(page.parts[DEFAULTS.part][member])));
  const found = page.parts.findIndex(fits);
  Object.assign(chosen, DEFAULTS, found >= 0 ? { part: found } : {});
  for (const key of ["statistic", "reduction", "order", "extent", "scale", "times"]) {
    if ([...by_id(key).options].some((option) => option.value === told[key])) chosen[key] = told[key];
    by_id(key).value = chosen[key];
  }
  for (const [id, member] of PART_CHOICES) by_id(id).value = String(page.parts[chosen.part][member]);
  await choose_axis(told.axis === "hosts" && page.parts[chosen.part].matrices.hosts ? "hosts" : "ranks");
  if (place) viewer.look(place);
  else viewer.whole();
}

function begin() {
  const first = page.parts[chosen.part], has = (name) => page.parts.some((part) => part.matrices[name]);
  for (const [id, member, name] of PART_CHOICES) offer(id, page.parts.map((part) => [part[member], part[name]]), first[member], choose_part);
  const set = (name) => (value) => { chosen[name] = value; return show(); };
  offer("statistic", page.statistics.map((name) => [name, name]), chosen.statistic, set("statistic"));
  offer("reduction", page.reductions.map((name) => [name, name]), chosen.reduction, set("reduction"));
  offer("order", ORDERS, chosen.order, set("order"));
  offer("times", [["expected", "by expected"], ["absolute", "absolute"]], chosen.times, set("times"));
  offer("extent", [["robust", "without extremes"], ["whole", "all values"]], chosen.extent, set("extent"));
  offer("scale", [["auto", "automatic"], ["logarithmic", "logarithmic"], ["linear", "linear"]], chosen.scale, set("scale"));
  by_id("axes").hidden = !has("hosts");
  for (const button of document.querySelectorAll("#axes button")) button.addEventListener("click", () => choose_axis(button.dataset.axis));
  for (const [id, act] of [["zoom-in", () => viewer.zoom(2)], ["zoom-out", () => viewer.zoom(0.5)], ["zoom-whole", () => viewer.whole()],
    ["unmark", () => viewer.clear_marks()]]) by_id(id).addEventListener("click", act);
  document.addEventListener("click", go);
  const file_name = (end) => `matrix-${times_shown.statistic}-${page.parts[chosen.part].message_size_bytes}-bytes.${end}`;
  by_id("save-picture").addEventListener("click", () => save_as(file_name("svg"), "image/svg+xml", picture_of(viewer)));
  by_id("save-data").addEventListener("click", () => save_as(file_name("csv"), "text/csv", table_of(times_shown)));
  window.addEventListener("hashchange", () => { if (location.hash.includes("=")) follow_address(); });
  for (const id of ["controls", "viewer"]) by_id(id).hidden = false;
  // Zooming the page changes the pixels of a cell; so may printing.
  window.addEventListener("resize", redraw);
  return follow_address();
}

begin();
