// SPDX-License-Identifier: Apache-2.0
// A bin of the histogram leads to its pairs: listed below it, each a button that the matrix zooms to.
const bin_contents = JSON.parse(by_id("bins").textContent);
const bins_of_panel = (bin) => [...bin.ownerSVGElement.querySelectorAll(".bin")].filter((other) => other.dataset.class === bin.dataset.class);

function bin_of(element) {
  const part_index = Number(element.closest(".part").dataset.part), at = Number(element.dataset.bin);
  const { edges_ns, classes } = bin_contents.parts[part_index], name = element.dataset.class;
  const found = classes[name].pairs.find(([place]) => place === at);
  return { part_index, name, low_ns: edges_ns[at], high_ns: edges_ns[at + 1], count: classes[name].counts[at], pairs: found ? found[1] : [] };
}

async function pairs_of(bin) {
  if (!page.served) return bin.pairs;
  const { repeat, size_index } = page.parts[bin.part_index], { name, low_ns, high_ns } = bin;
  const answer = await ask_server("pairs", { repeat, size_index, class: name, low_ns, high_ns });
  return (await answer.json()).slice(0, bin_contents.most);
}

function list_pairs(list, bin, pairs) {
  const part = page.parts[bin.part_index], host = (rank) => page.hosts[page.host_of[rank]];
  const some = pairs.length < bin.count ? `${grouped(pairs.length)} of ` : "";
  const stretch = `${number(bin.low_ns / part.time_unit.scale)} to ${time_text(part, bin.high_ns)}`;
  list.replaceChildren();
  const title = add(list, "p", {});
  add(title, "b", {}, `${bin.name}, ${stretch}: `);
  add(title, "span", {}, some + plural(bin.count, "pair"));
  add(title, "button", { class: "close", "aria-label": "close this list" }, "close");
  const rows = add(list, "ol", {});
  for (const [from, to, time_ns] of pairs) {
    const row = add(add(rows, "li", {}), "button", { class: "go", "data-from": from, "data-to": to });
    add(row, "span", { class: "ranks" }, `${from} → ${to}`);
    add(row, "span", { class: "hosts" }, host(from) === host(to) ? host(from) : `${host(from)} → ${host(to)}`);
    add(row, "span", { class: "time" }, time_text(part, time_ns));
  }
  list.hidden = false;
}

function unmark_bins(part_block) {
  part_block.querySelectorAll(".bin.chosen").forEach((bin) => { bin.classList.remove("chosen"); });
}

async function choose_bin(element) {
  const part_block = element.closest(".part");
  unmark_bins(part_block);
  element.classList.add("chosen");
  const bin = bin_of(element), pairs = await pairs_of(bin);
  // Another one may have been chosen while the server thought.
  if (element.classList.contains("chosen")) list_pairs(part_block.querySelector(".bin-pairs"), bin, pairs);
}

// One stop of the tabulator a panel; arrows go from bar to bar.
function go_to_bin(element, key) {
  const bins = bins_of_panel(element), here = bins.indexOf(element);
  const there = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: bins.length - 1 }[key];
  if (there === undefined) return false;
  const next = bins[clamp(there, 0, bins.length - 1)];
  element.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
  return true;
}

document.addEventListener("click", (event) => {
  const bin = event.target.closest(".bin"), close = event.target.closest(".bin-pairs .close");
  if (bin) choose_bin(bin);
  if (close) {
    unmark_bins(close.closest(".part"));
    close.closest(".bin-pairs").hidden = true;
  }
});

document.addEventListener("keydown", (event) => {
  const bin = event.target.closest && event.target.closest(".bin");
  if (!bin) return;
  if (event.key === "Enter" || event.key === " ") choose_bin(bin);
  else if (!go_to_bin(bin, event.key)) return;
  event.preventDefault();
});

document.querySelectorAll(".with-script").forEach((words) => { words.hidden = false; });
