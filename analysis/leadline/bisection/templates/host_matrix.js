// SPDX-License-Identifier: Apache-2.0
// What connections between every two hosts got: cells in the colours of a time by its expected time, with outlines of the findings.

/* of_size().hosts: {edge: hosts along a side of a cell, size: G, shares: [G * G, row by row, null = none], num: connections of each, num_patterns};
   page.findings: [{number, size_index or null = all, is_bad, blocks: as in findings.js}]. */
const HOST_LEFT = 96, HOST_TOP = 24, HOST_LEGEND = 136, HOST_NAMES = 15, LARGEST_HOST_CELL = 44;

const factor_colour = (share) => page.factors.filter(([from]) => 1 / share >= from).pop()[1];

class HostMatrixView {
  constructor(figure) {
    this.svg = add(figure, "div", {}).appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    this.svg.addEventListener("pointermove", (event) => this.tell(event));
    this.svg.addEventListener("pointerleave", hide_tooltip);
    window.addEventListener("resize", () => this.draw());
  }

  show() { this.draw(); }

  draw() {
    const { svg } = this, { hosts } = of_size() || {};
    if (!hosts) return;
    const wide = Math.max(svg.parentNode.clientWidth, 240), is_narrow = wide < 520, left = Math.min(HOST_LEFT, wide / 4);
    const high = Math.max(window.innerHeight - svg.getBoundingClientRect().top - window.scrollY - 40, 320);
    const side = Math.min(wide - left - (is_narrow ? 4 : HOST_LEGEND), Math.max(high, 0), LARGEST_HOST_CELL * hosts.size), step = side / hosts.size;
    this.place = { left, step, hosts };
    svg.replaceChildren();
    const legend_top = is_narrow ? HOST_TOP + side + 34 : HOST_TOP + 8, bottom = Math.max(HOST_TOP + side + 24, legend_top + 18 * (page.factors.length + 2));
    for (const [key, value] of [["width", wide], ["height", bottom], ["role", "img"], ["aria-label", "bandwidth of connections from every host to every host"]]) svg.setAttribute(key, value);
    hosts.shares.forEach((share, at) => {
      const row = Math.floor(at / hosts.size), column = at % hosts.size;
      add(svg, "rect", { class: "cell", x: (left + column * step).toFixed(2), y: (HOST_TOP + row * step).toFixed(2), width: step.toFixed(2), height: step.toFixed(2), fill: share === null ? page.outside : factor_colour(share) });
    });
    add(svg, "rect", { class: "frame", x: left, y: HOST_TOP, width: side, height: side });
    const every = Math.max(Math.ceil(HOST_NAMES / step), 1), along = Math.max(Math.ceil(74 / step), 1);
    for (let at = 0; at < hosts.size; ++at) {
      const name = page.host_names[at * hosts.edge], short = name.length > 12 ? `…${name.slice(-11)}` : name;
      if (at % every === 0) add(svg, "text", { class: "tick", x: left - 6, y: HOST_TOP + (at + 0.5) * step + 4, "text-anchor": "end" }, short);
      if (at % along === 0) add(svg, "text", { class: "tick", x: left + (at + 0.5) * step, y: HOST_TOP + side + 16, "text-anchor": "middle" }, short);
    }
    add(svg, "text", { class: "label", x: left, y: 14 }, "row: sends, column: receives");
    for (const one of page.findings) if (one.size_index === null || one.size_index === chosen.size) this.outline(one, side);
    this.legend(is_narrow ? left : left + side + 24, legend_top);
  }

  // Cells of one end; [first, behind the last] of stretches.
  stretches(end) {
    const { hosts } = this.place, found = [];
    if (!end) return [[0, hosts.size]];
    const of_hosts = end.hosts || end.ranks.map((rank) => page.host_of[rank]);
    for (const cell of [...new Set(of_hosts.map((host) => Math.floor(host / hosts.edge)))].sort((a, b) => a - b)) {
      const last = found[found.length - 1];
      if (last && last[1] === cell) last[1] = cell + 1;
      else found.push([cell, cell + 1]);
    }
    return found;
  }

  outline(one, side) {
    const { left, step } = this.place, kind = one.is_bad ? "finding" : "finding remark";
    one.blocks.forEach(([from, to], at) => {
      for (const [top, below] of this.stretches(from)) {
        for (const [first, behind] of this.stretches(to)) {
          const place = { x: left + first * step, y: HOST_TOP + top * step, width: (behind - first) * step, height: (below - top) * step, rx: 2 };
          for (const what of [`${kind} halo`, kind]) add(this.svg, "rect", { class: what, ...place });
          const is_column = !from && to;
          if (at === 0 || !is_column) add(this.svg, "text", { class: `finding-number${one.is_bad ? "" : " remark"}`, x: Math.min(place.x + place.width + 3, left + side + 4), y: place.y + place.height / 2 + 5 }, String(one.number));
        }
      }
    });
  }

  legend(x, top) {
    add(this.svg, "text", { class: "label", x, y: top + 6 }, "share of expected");
    const entry = (at, colour, text) => {
      const y = top + 16 + 18 * at;
      add(this.svg, "rect", { class: "cell", x, y, width: 14, height: 14, fill: colour });
      add(this.svg, "text", { class: "tick", x: x + 20, y: y + 12 }, text);
    };
    page.factors.forEach(([from, colour], at) => {
      const next = page.factors[at + 1], share = (factor) => number(100 / factor, 2);
      entry(at, colour, !from ? `above ${share(next[0])} %` : next ? `${share(next[0])} to ${share(from)} %` : `${share(from)} % and below`);
    });
    if (this.place.hosts.shares.includes(null)) entry(page.factors.length, page.outside, "not in this test");
  }

  tell(event) {
    const { left, step, hosts } = this.place, box = this.svg.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - left) / step), row = Math.floor((event.clientY - box.top - HOST_TOP) / step);
    const is_inside = Math.min(row, column) >= 0 && Math.max(row, column) < hosts.size;
    if (!is_inside) { hide_tooltip(); return; }
    const at = row * hosts.size + column, share = hosts.shares[at], last = page.host_names.length - 1;
    const name = (cell) => (hosts.edge === 1 ? page.host_names[cell] : `${page.host_names[cell * hosts.edge]} to ${page.host_names[Math.min((cell + 1) * hosts.edge - 1, last)]}`);
    show_tooltip(`from ${name(row)} to ${name(column)}`, [["median connection", share === null ? "none" : `${number(100 * share, 3)} % of expected`], ["connections", grouped(hosts.num[at])]], event.pageX, event.pageY);
  }
}
