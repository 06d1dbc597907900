// SPDX-License-Identifier: Apache-2.0
// What the page shows: the slice, statistic and order as chosen, and the ways from the page's tables into the matrix.
const chosen = { part: page.first_part || 0, statistic: page.first_statistic, reduction: "worst", axis: "ranks", order: "rank", extent: "robust", scale: "auto" };
const matrices = new Map();
const viewer = new MatrixView(by_id("rank-matrix"), (marked) => { by_id("unmark").hidden = !marked.pair && !marked.hosts.size; });
const status = by_id("matrix-status");
// Called with each part that is shown.
const shown = [];
// What tells one part from others: the control that chooses it, and the part's members for its value and name.
const PART_CHOICES = [["topology", "group_index", "group_name"], ["size", "size_index", "size_name"], ["repeat", "repeat", "repeat_name"]]
  .filter(([id]) => by_id(id));
let turn = 0, drawn_turn = 0;

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

const axis_chosen = () => (chosen.axis === "hosts" ? "hosts" : chosen.order === "host" ? "ranks-by-host" : "ranks");

async function show() {
  const mine = ++turn, part = page.parts[chosen.part], matrix = matrix_of(part, axis_chosen());
  document.querySelectorAll(".part").forEach((block) => { block.hidden = Number(block.dataset.part) !== chosen.part; });
  document.querySelectorAll(".part-name").forEach((heading) => { heading.hidden = false; });
  by_id("reduction-choice").hidden = !matrix.begins.some((begin, at) => begin !== at) && matrix.positions < 256;
  const layer = await matrix.layer(chosen.statistic, chosen.reduction);
  if (mine !== turn) return;
  const range = chosen_range(layer.range, chosen), found = striking(part);
  tell_striking(by_id("striking"), found);
  tell_legend(by_id("matrix-legend"), part, range, layer.count(range, layer.scale));
  viewer.show(layer, range, found);
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
  by_id("order").closest("label").hidden = axis === "hosts" || !page.order_by_host;
  return show();
}

// Shows the matrix where it is not in sight.
function scroll_to_matrix() {
  const { top, bottom } = by_id("rank-matrix").getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight + 60) by_id("matrix").scrollIntoView({ block: "start" });
}

// Other parts of the page only say whom they mean: ranks by data-rank or data-from and data-to, hosts by their indices.
async function go(event) {
  const element = event.target.closest("[data-from], [data-from-host], [data-host], [data-rank]");
  if (!element) return;
  const { from, to, fromHost, toHost, host, rank } = element.dataset;
  if (element.dataset.part !== undefined) chosen.part = Number(element.dataset.part);
  const needs_ranks = from !== undefined || rank !== undefined;
  await (needs_ranks && chosen.axis === "hosts" ? choose_axis("ranks") : show());
  if (from !== undefined) viewer.go_to_pair(Number(from), Number(to));
  else if (fromHost !== undefined) viewer.go_to_link(Number(fromHost), Number(toHost));
  else if (host !== undefined) viewer.go_to_host(Number(host));
  else viewer.go_to_rank(Number(rank));
  scroll_to_matrix();
}

function begin() {
  const first = page.parts[chosen.part], has = (name) => page.parts.some((part) => part.matrices[name]);
  for (const [id, member, name] of PART_CHOICES) offer(id, page.parts.map((part) => [part[member], part[name]]), first[member], choose_part);
  const set = (name) => (value) => { chosen[name] = value; return show(); };
  offer("statistic", page.statistics.map((name) => [name, name]), chosen.statistic, set("statistic"));
  offer("reduction", page.reductions.map((name) => [name, name]), chosen.reduction, set("reduction"));
  offer("order", [["rank", "by rank"], ["host", "by host"]], chosen.order, set("order"));
  offer("extent", [["robust", "without extremes"], ["whole", "all values"]], chosen.extent, set("extent"));
  offer("scale", [["auto", "automatic"], ["logarithmic", "logarithmic"], ["linear", "linear"]], chosen.scale, set("scale"));
  by_id("axes").hidden = !has("hosts");
  for (const button of document.querySelectorAll("#axes button")) button.addEventListener("click", () => choose_axis(button.dataset.axis));
  for (const [id, act] of [["zoom-in", () => viewer.zoom(2)], ["zoom-out", () => viewer.zoom(0.5)], ["zoom-whole", () => viewer.whole()],
    ["unmark", () => viewer.clear_marks()]]) by_id(id).addEventListener("click", act);
  document.addEventListener("click", go);
  for (const id of ["controls", "viewer"]) by_id(id).hidden = false;
  // Zooming the page changes the pixels of a cell; so may printing.
  window.addEventListener("resize", redraw);
  return choose_axis("ranks");
}

begin();
