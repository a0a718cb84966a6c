// The records of the log, unpacked once, and what of them a stretch of the screen shows.

const DATA = JSON.parse(document.getElementById("data").textContent);
const OWNERS = DATA.owners;
const COMPUTE = OWNERS.indexOf("compute");

function unpackFloats(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

function unpackRuns(runs, target) {
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    target.fill(runs[i + 1], at, at + runs[i]);
    at += runs[i];
  }
  return target;
}

function cumulated(values) {
  const sums = new Float64Array(values.length);
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    sum += values[i];
    sums[i] = sum;
  }
  return sums;
}

const VALUE = unpackFloats(DATA.value);
const STEP = cumulated(unpackRuns(DATA.stride, new Float64Array(DATA.records)));
const AT = cumulated(unpackFloats(DATA.took));
const OWNER = unpackRuns(DATA.owner, new Uint8Array(DATA.records));
const SHARED = new Map(DATA.shared);
const LOST = OWNERS.indexOf("lost");

// Who has the time of a record, and how much of it: one owner, unless several are known.
function ownersOf(record) {
  return SHARED.get(record) || [[OWNER[record], null]];
}

// What is beyond an ordinary step, by owner, as shares: the cheapest lies at the bottom. Lost work
// is no part of it, but the ordinary step itself.
function stripes(record) {
  const parts = (SHARED.get(record) || []).filter((each) => each[0] !== LOST);
  const whole = parts.reduce((sum, each) => sum + each[1], 0);
  if (!(whole > 0)) return [[OWNER[record], 1]];
  return parts.map((each) => [each[0], each[1] / whole]).reverse();
}

// Records by step, or by time. After a restart steps come again: by step, they lie side by side.
function makeView(x, from, to) {
  const order = Uint32Array.from(x.keys());
  let isSorted = true;
  for (let i = 1; i < x.length && isSorted; i++) isSorted = x[i] >= x[i - 1];
  if (!isSorted) order.sort((a, b) => x[a] - x[b] || a - b);
  const sorted = Float64Array.from(order, (at) => x[at]);
  const first = from === undefined ? sorted[0] : from;
  const last = to === undefined ? sorted[sorted.length - 1] : to;
  const room = Math.max(last - first, 1e-6) * 0.01;
  return { x: sorted, order, first: first - room, last: last + room };
}

const VIEWS = { steps: makeView(STEP), time: makeView(AT, 0, DATA.wall) };

// The first position in the view at or after a value.
function position(view, value) {
  let low = 0;
  let high = view.x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (view.x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const scratch = new Float64Array(VALUE.length);

// What `width` columns show of a stretch: an ordinary step as a line with its spread, and of each
// other owner the slowest. With few records each one is a column of its own.
function columns(view, low, high, width) {
  const begin = Math.max(0, position(view, low) - 1);
  const end = Math.min(view.x.length, position(view, high) + 1);
  const isSparse = end - begin <= 2 * width;
  const shown = { x: [], middle: [], least: [], most: [], marks: [], isSparse };
  let at = begin;
  while (at < end) {
    let next = at + 1;
    if (!isSparse) {
      const column = Math.floor(((view.x[at] - low) / (high - low)) * width);
      while (next < end && Math.floor(((view.x[next] - low) / (high - low)) * width) === column) {
        next++;
      }
    }
    addColumn(view, at, next, shown);
    at = next;
  }
  return shown;
}

function addColumn(view, begin, end, shown) {
  let count = 0;
  const peaks = new Map();
  for (let i = begin; i < end; i++) {
    const record = view.order[i];
    const value = VALUE[record];
    if (!(value > 0)) continue;
    const owner = OWNER[record];
    if (owner === COMPUTE) scratch[count++] = value;
    else if (!peaks.has(owner) || value > VALUE[peaks.get(owner)]) peaks.set(owner, record);
  }
  const x = view.x[(begin + end - 1) >> 1];
  if (count) {
    const values = scratch.subarray(0, count).sort();
    shown.x.push(x);
    shown.middle.push(values[count >> 1]);
    shown.least.push(values[0]);
    shown.most.push(values[count - 1]);
  }
  const floor = shown.middle.length ? shown.middle[shown.middle.length - 1] : DATA.baseline;
  for (const [owner, record] of peaks) {
    const own = view === VIEWS.time ? AT[record] : STEP[record];
    shown.marks.push({ x: own, value: VALUE[record], floor, owner, record });
  }
}

// The record a pointer means: the slowest with an owner close by, or the nearest.
function recordNear(view, value, reach) {
  let best = null;
  const from = position(view, value - reach);
  const to = Math.min(view.x.length, position(view, value + reach));
  for (let i = from; i < to; i++) {
    const record = view.order[i];
    if (OWNER[record] === COMPUTE || !(VALUE[record] > 0)) continue;
    if (best === null || VALUE[record] > VALUE[best]) best = record;
  }
  if (best !== null || !view.x.length) return best;
  const after = Math.min(position(view, value), view.x.length - 1);
  const before = Math.max(0, after - 1);
  const isBefore = value - view.x[before] < view.x[after] - value;
  return view.order[isBefore ? before : after];
}
