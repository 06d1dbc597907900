// SPDX-License-Identifier: Apache-2.0
// Times to colours: a range of times spread over the map, and colours of their own for what lies outside of it.
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const STOPS = page.colours.map.map(rgb);
const PLAIN = {};
for (const name of ["above", "below", "missing", "diagonal", "outside"]) PLAIN[name] = rgb(page.colours[name]);

/* Cells of a picture are numbers: 0 nothing to measure, 1 to measure and missing, from 2 on a time. So the worst of
   several cells is the largest number. */
const NOTHING = 0, MISSING = 1, FIRST_TIME = 2, NUM_CODES = 65536;
const time_of = (scale, code) => scale.low * Math.exp((code - FIRST_TIME) * scale.step);
const code_of = (scale, time_ns) =>
  clamp(Math.round(Math.log(time_ns / scale.low) / scale.step) + FIRST_TIME, FIRST_TIME, NUM_CODES - 1);

function position(range, value) {
  const [low, high, at] = range.logarithmic ? [range.low, range.high, value].map(Math.log) : [range.low, range.high, value];
  return high > low ? (at - low) / (high - low) : 0.5;
}

function mapped(share) {
  const at = clamp(share, 0, 1) * (STOPS.length - 1), i = Math.min(Math.floor(at), STOPS.length - 2);
  return STOPS[i].map((channel, c) => Math.round(channel + (at - i) * (STOPS[i + 1][c] - channel)));
}

// Codes are rounded by half a step, so that a time at the end of the range may lie a hair outside.
function range_in_codes(range, scale) {
  const slack = Math.exp(0.51 * scale.step);
  const first = Math.ceil(Math.log(range.low / slack / scale.low) / scale.step - 1e-9) + FIRST_TIME;
  const last = Math.floor(Math.log(range.high * slack / scale.low) / scale.step + 1e-9) + FIRST_TIME;
  return [Math.max(first, FIRST_TIME), Math.min(last, NUM_CODES - 1)];
}

const IS_LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const pixel_of = ([r, g, b]) => (IS_LITTLE_ENDIAN ? (0xff << 24) | (b << 16) | (g << 8) | r : (r << 24) | (g << 16) | (b << 8) | 0xff) >>> 0;

// What pixel every code has, Uint32 [NUM_CODES].
function palette(range, scale) {
  const pixels = new Uint32Array(NUM_CODES);
  pixels[NOTHING] = pixel_of(PLAIN.outside);
  pixels[MISSING] = pixel_of(PLAIN.missing);
  if (!range) return pixels;
  const [first, last] = range_in_codes(range, scale);
  pixels.fill(pixel_of(PLAIN.below), FIRST_TIME, first);
  pixels.fill(pixel_of(PLAIN.above), last + 1);
  for (let code = first; code <= last; ++code) pixels[code] = pixel_of(mapped(position(range, time_of(scale, code))));
  return pixels;
}

function rgb_of_pixel(pixel) {
  const bytes = [pixel >>> 24, (pixel >>> 16) & 255, (pixel >>> 8) & 255, pixel & 255];
  return IS_LITTLE_ENDIAN ? [bytes[3], bytes[2], bytes[1]] : bytes.slice(0, 3);
}

const contrast = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#1b1f24" : "#ffffff");
