// Where the axes have their marks, and what is written there.

const ROUND_SECONDS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
];

function roundIncrement(rough) {
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough * 0.999);
  return factor * power;
}

function marksEvery(low, high, increment) {
  const marks = [];
  const first = Math.ceil(low / increment - 1e-9);
  for (let i = first; i * increment <= high * (1 + 1e-12); i++) marks.push(i * increment || 0);
  return marks;
}

function stepMarks(low, high, count) {
  return marksEvery(Math.max(low, 0), high, Math.max(1, roundIncrement((high - low) / count)));
}

function timeMarks(low, high, count) {
  const rough = (high - low) / count;
  const known = ROUND_SECONDS.find((each) => each >= rough);
  const days = 86400 * roundIncrement(Math.max(1, rough / 86400));
  return marksEvery(Math.max(low, 0), high, rough < 1 ? roundIncrement(rough) : known || days);
}

// Of a scale in powers of ten, low and high are exponents.
function logMarks(low, high, count) {
  const from = Math.pow(10, low);
  const to = Math.pow(10, high);
  if (high - low < 0.7) {
    return marksEvery(from, to, roundIncrement((to - from) / count)).map(Math.log10);
  }
  const factors = high - low > count ? [1] : high - low > count / 2 ? [1, 3] : [1, 2, 5];
  const marks = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
    for (const factor of factors) marks.push(power + Math.log10(factor));
  }
  return marks.filter((each) => each >= low - 1e-9 && each <= high + 1e-9);
}

// A step time beside the axis, no longer than it must be.
function shortDuration(seconds) {
  if (seconds === 0) return unit("s", 0);
  if (seconds >= 600) return parts(seconds, 2, true);
  const isMs = seconds < 0.9995;
  const value = isMs ? 1e3 * seconds : seconds;
  const digits = Math.max(0, 3 - Math.ceil(Math.log10(value) + 1e-9));
  const rounded = Number(value.toFixed(Math.min(digits, 6)));
  const written = String(rounded).split(".")[1] || "";
  return unit(isMs ? "ms" : "s", rounded, written.length);
}

function timeLabel(seconds) {
  return seconds < 1 ? shortDuration(seconds) : parts(seconds, 3, true);
}
