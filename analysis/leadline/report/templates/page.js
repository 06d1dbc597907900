// SPDX-License-Identifier: Apache-2.0
// The data of the page, what happens when its script fails, and how elements are made: always with text, never with markup.
const by_id = (id) => document.getElementById(id);
const hooks = document.documentElement.dataset;

// A failure that is no mistake of the script; the message is a sentence.
class Foreseen extends Error {}

function tell_problem(text) {
  hooks.error = text;
  const banner = by_id("script-problem");
  if (!banner) return;
  banner.hidden = false;
  banner.textContent = text;
}

window.addEventListener("error", (event) => { tell_problem("The script of this page failed: " + event.message); });
window.addEventListener("unhandledrejection", ({ reason }) => {
  if (reason instanceof Foreseen) tell_problem(reason.message);
  else tell_problem("The script of this page failed: " + (reason && reason.message ? reason.message : String(reason)));
});

const page = JSON.parse(by_id("data").textContent);

// What the matrix calls its things; a page about something else than pairs of ranks brings words of its own.
const terms = {
  pair: "pair", outside: "not in this test", own: "a rank to itself: not a pair", median: "median", bandwidth: "bandwidth at median", nothing: "Nothing stands out here.", ...page.terms,
};

function add(parent, name, attributes, text) {
  const element = document.createElementNS(parent.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// The first place of an ascending list whose value is above the one given.
function place_above(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

// A control with these choices, each once: [[value, name]]; hidden where there is nothing to choose.
function offer(id, choices, value, react) {
  const element = by_id(id), names = new Map(choices.map(([key, name]) => [String(key), name]));
  for (const [key, name] of names) add(element, "option", { value: key }, name);
  element.value = String(value);
  element.closest("label").hidden = names.size < 2;
  element.addEventListener("change", () => { react(element.value); });
}
