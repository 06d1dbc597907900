// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, and the round ones for axes.
function number(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const decimals = digits - 1 - Number(value.toExponential(digits - 1).split("e")[1]);
  if (decimals >= 0) return value.toFixed(Math.min(decimals, 12));
  const step = 10 ** -decimals;
  return String(Math.round(value / step) * step);
}

const plain = (value, digits = 6) => String(Number(value.toPrecision(digits)));
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const plural = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

function time_text(part, time_ns, digits = 4) {
  return `${number(time_ns / part.time_unit.scale, digits)} ${part.time_unit.name}`;
}

// Its own inverse: the time of a message at a bandwidth.
const bandwidth_of = (part, time_ns) => page.num_directions * part.message_size_bytes * 1e9 / time_ns;

function bandwidth_text(part, time_ns) {
  return `${number(bandwidth_of(part, time_ns) / part.bandwidth_unit.scale)} ${part.bandwidth_unit.name}`;
}

function nice_values(low, high, logarithmic, most) {
  if (!(low < high)) return [low];
  if (logarithmic && high / low > 4) {
    for (const steps of [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]]) {
      const values = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
        for (const m of steps) if (m * 10 ** e >= low && m * 10 ** e <= high) values.push(m * 10 ** e);
      }
      if (values.length <= most || steps.length === 1) return values;
    }
  }
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * (1 - 1e-9));
  const values = [];
  for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-12); ++k) values.push(k * step);
  return values;
}
