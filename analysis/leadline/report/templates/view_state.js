// SPDX-License-Identifier: Apache-2.0
// The state of the view in the page's address, so that a link leads to what its sender saw.
const REMEMBER_AFTER_MS = 250, PLACE_KEYS = ["row", "column", "span"];
let remembering = 0, remembered = "";

// What the fragment says of the view; a fragment without "=" is the name of a section.
const names_section = () => location.hash.length > 1 && !location.hash.includes("=");
const told_by_address = () => Object.fromEntries(names_section() ? [] : new URLSearchParams(location.hash.slice(1)));

// The name of a section stays in the address until the view changes: the view is drawn anew for other reasons, too.
function remember_view(describe) {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    const text = new URLSearchParams(describe()).toString(), before = names_section() ? remembered : location.hash.slice(1);
    remembered = text;
    if (text !== before) history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }, REMEMBER_AFTER_MS);
}

// The part of the matrix that an address names; null where it names none.
function place_told(told) {
  const [row, column, span] = PLACE_KEYS.map((key) => Number.parseFloat(told[key]));
  return [row, column, span].every(Number.isFinite) && span > 0 ? { row, column, span } : null;
}

function save_as(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The picture as it is on the screen, with its axes and its legend, as one SVG file with the page's style in it.
function picture_of(viewer) {
  // In a document of its own, which loads nothing: the page's policy allows no images.
  const other = document.implementation.createDocument(null, null), svg = other.appendChild(other.importNode(viewer.svg, true));
  const { left, top, side } = viewer.box, image = other.createElementNS(svg.namespaceURI, "image");
  for (const [key, value] of Object.entries({ href: viewer.canvas.toDataURL(), x: left, y: top, width: side, height: side })) image.setAttribute(key, value);
  svg.prepend(image);
  const style = other.createElementNS(svg.namespaceURI, "style");
  style.textContent = document.querySelector("style").textContent;
  svg.prepend(style);
  svg.setAttribute("style", `font-family: ${getComputedStyle(document.body).fontFamily.replaceAll('"', "'")}; background: ${getComputedStyle(document.body).backgroundColor}`);
  return new XMLSerializer().serializeToString(svg);
}

// All pairs with a time, a line each; only where a cell is a pair.
function table_of(layer) {
  const { matrix } = layer, edge = layer.edges[0], size = Math.ceil(matrix.positions / edge), found = layer.window(edge, 0, size, 0, size);
  const expected = expected_of(matrix.part, layer.statistic), factor = expected ? ",expected_ns" : "";
  const lines = [`from_rank,to_rank,from_host,to_host,time_ns_${layer.statistic}${factor}`];
  const quoted = page.hosts.map((name) => `"${name.replaceAll('"', '""')}"`);
  for (let row = 0; row < size; ++row) {
    for (let column = 0; column < size; ++column) {
      const code = found.cells[found.offset + row * found.stride + column], [from, to] = [matrix.ranks[row], matrix.ranks[column]];
      if (code < FIRST_TIME) continue;
      const words = [from, to, quoted[page.host_of[from]], quoted[page.host_of[to]], time_of(layer.scale, code).toPrecision(6)];
      if (expected) words.push((expected[is_inside(from, to) ? 0 : 1]).toPrecision(6));
      lines.push(words.join(","));
    }
  }
  return lines.join("\n") + "\n";
}
