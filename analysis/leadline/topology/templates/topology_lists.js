// SPDX-License-Identifier: Apache-2.0
// The tables below the matrix: slowest messages, ranks and hosts of the topology and size that it shows.
function ratio_cell(row, ratio) {
  const cell = add(row, "td", { class: "number ratio" });
  if (ratio === null) { cell.textContent = "–"; return; }
  add(cell, "i", { style: `width:${clamp(Math.round(ratio * 24), 0, 96)}px` });
  cell.append(number(ratio, 3));
}

function fill(id, entries, make) {
  const body = by_id(id).querySelector("tbody");
  body.replaceChildren();
  for (const entry of entries) make(add(body, "tr", {}), entry);
}

function go_button(row, text, attributes, kind = "number") {
  add(add(row, "td", { class: kind }), "button", { class: "go", type: "button", ...attributes }, text);
}

function list_part(part) {
  by_id("lists").hidden = false;
  document.querySelectorAll(".shown-part").forEach((place) => { place.textContent = `${part.group_name}, ${part.size_name}`; });
  fill("slowest-messages", part.slowest, (row, [from, to, time_ns]) => {
    go_button(row, `${from} → ${to}`, { "data-from": from, "data-to": to });
    add(row, "td", {}, host_of_rank(from));
    add(row, "td", {}, host_of_rank(to));
    add(row, "td", { class: "number" }, time_text(part, time_ns));
    ratio_cell(row, time_ns / part.relative_to_ns);
    add(row, "td", { class: "number" }, rate_text(part.message_size_bytes * 1e9 / time_ns));
  });
  const slow_ranks = new Set(part.slow_ranks.map(([rank]) => rank)), slow_hosts = new Set(part.slow_hosts.map(([host]) => host));
  fill("slowest-ranks", part.ranks, (row, [rank, own_ns, rate, from, to]) => {
    row.classList.toggle("alarming", slow_ranks.has(rank) || slow_hosts.has(page.host_of[rank]));
    go_button(row, String(rank), { "data-rank": rank });
    add(row, "td", {}, host_of_rank(rank));
    add(row, "td", { class: "number" }, own_ns === null ? "–" : nanoseconds_text(own_ns));
    add(row, "td", { class: "number" }, rate === null ? "–" : rate_text(rate));
    ratio_cell(row, from);
    ratio_cell(row, to);
  });
  by_id("hosts-of-part").hidden = page.hosts.length < 2;
  fill("slowest-hosts", part.hosts, (row, [host, from, to]) => {
    row.classList.toggle("alarming", slow_hosts.has(host));
    go_button(row, page.hosts[host], { "data-host": host }, "");
    ratio_cell(row, from);
    ratio_cell(row, to);
  });
}

shown.push(list_part);
