// The page around the chart: language, theme, buttons, findings, printing.

const rangeText = document.getElementById("range");

// Which stretch the chart shows, in words; a screen reader says it after each change.
function showRange() {
  const view = VIEWS[state.axis];
  const whole = view.last - view.first;
  windowMark.style.left = (100 * (state.low - view.first)) / whole + "%";
  windowMark.style.width = (100 * (state.high - state.low)) / whole + "%";
  windowMark.hidden = state.high - state.low > 0.999 * whole;
  const isTime = state.axis === "time";
  const end = isTime ? DATA.wall : view.x[view.x.length - 1];
  const low = Math.max(state.low, isTime ? 0 : view.x[0]);
  const high = Math.min(state.high, end);
  const write = isTime ? duration : (value) => number(Math.round(value));
  const range = say(isTime ? "chart.range.time" : "chart.range.steps", {
    first: write(low),
    last: write(high),
  });
  let slowest = null;
  for (const mark of state.shown.marks) {
    if (mark.x < state.low || mark.x > state.high) continue;
    if (slowest === null || mark.value > slowest.value) slowest = mark;
  }
  rangeText.textContent = slowest
    ? say("chart.slowest", {
        range,
        step: number(STEP[slowest.record]),
        time: duration(slowest.value),
        owner: ownersOf(slowest.record)
          .map((each) => ownerName(OWNERS[each[0]]))
          .join(say("list.gap")),
      })
    : range;
}

function press(selector, isPressed) {
  for (const button of document.querySelectorAll(selector)) {
    button.setAttribute("aria-pressed", String(isPressed(button)));
  }
}

function markFinding() {
  for (const item of document.querySelectorAll("li.finding")) {
    item.classList.toggle("chosen", item.id === "finding-" + state.finding);
  }
}

// Zoom to where a finding is, with enough around it to compare with.
function showPlace(finding, number) {
  state.finding = finding;
  markFinding();
  const view = VIEWS[state.axis];
  const [from, to] = placeRange(DATA.findings[finding].places[number], state.axis);
  const begin = position(view, from);
  const end = position(view, to);
  const num = Math.max(25, Math.round(0.6 * (end - begin)), Math.round(0.01 * view.x.length));
  const before = from - view.x[Math.max(0, begin - num)];
  const after = view.x[Math.min(view.x.length - 1, end + num)] - to;
  // A long gap on one side must not squeeze what the finding is about.
  const most = Math.max(to - from, 3 * Math.min(before, after), 1e-3);
  zoom(from - Math.min(before, most), to + Math.min(after, most));
  const box = root.getBoundingClientRect();
  if (box.top < 0 || box.bottom > window.innerHeight) {
    const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const behavior = isCalm ? "auto" : "smooth";
    document.getElementById("chart-section").scrollIntoView({ block: "start", behavior });
  }
}

// The other axis shows the same records, as far as it can.
function setAxis(axis) {
  if (axis === state.axis) return;
  const before = VIEWS[state.axis];
  const isAll = state.high - state.low > 0.999 * (before.last - before.first);
  const first = before.order[Math.min(position(before, state.low), before.x.length - 1)];
  const last = before.order[Math.max(0, position(before, state.high) - 1)];
  state.axis = axis;
  const view = VIEWS[axis];
  const x = axis === "time" ? AT : STEP;
  const ends = isAll ? [view.first, view.last] : [x[first], x[last]].sort((a, b) => a - b);
  press("[data-axis]", (button) => button.dataset.axis === axis);
  zoom(ends[0], ends[1]);
  build();
}

function setScale(isLog) {
  state.isLog = isLog;
  press("[data-scale]", (button) => (button.dataset.scale === "log") === isLog);
  if (plot) build();
}

function makeLegend() {
  const legend = document.getElementById("legend");
  const present = new Set(Array.from(OWNER));
  for (const [owner] of DATA.quiet) present.add(OWNERS.indexOf(owner));
  for (const parts of SHARED.values()) parts.forEach(([owner]) => present.add(owner));
  for (const at of [...present].sort((a, b) => a - b)) {
    const item = legend.appendChild(document.createElement("li"));
    item.appendChild(document.createElement("i")).className = "swatch owner-" + OWNERS[at];
    const name = item.appendChild(document.createElement("span"));
    name.dataset.t = "owner." + OWNERS[at];
    name.textContent = ownerName(OWNERS[at]);
  }
}

const themeButton = document.getElementById("theme");
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : prefersDark.matches;
}

function themeChanged() {
  themeButton.dataset.t = isDark() ? "theme.light" : "theme.dark";
  themeButton.textContent = say(themeButton.dataset.t);
  if (plot) build();
}

themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  themeChanged();
});
prefersDark.addEventListener("change", themeChanged);

document.getElementById("language").addEventListener("change", (event) => {
  speak(event.target.value);
  build();
});

// Copies the line before a button; where that is not allowed, it is selected for the user to copy.
function copyLine(button) {
  const line = button.previousElementSibling;
  const isDone = () => {
    button.dataset.t = "copied";
    button.textContent = say("copied");
  };
  const select = () => window.getSelection().selectAllChildren(line);
  if (navigator.clipboard) navigator.clipboard.writeText(line.textContent).then(isDone, select);
  else select();
}

const ZOOMS = { in: () => scaled(0.5), out: () => scaled(2), all: () => showAll() };
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { axis, scale, zoom: direction, finding, place } = button.dataset;
  if (button.classList.contains("copy")) copyLine(button);
  else if (axis) setAxis(axis);
  else if (scale) setScale(scale === "log");
  else if (direction) ZOOMS[direction]();
  else if (finding) showPlace(Number(finding), Number(place || 0));
});

// On paper everything is open, light, and as wide as the paper.
let before = null;
window.addEventListener("beforeprint", () => {
  const closed = [...document.querySelectorAll("details:not([open])")];
  before = { closed, theme: document.documentElement.dataset.theme };
  closed.forEach((each) => (each.open = true));
  document.documentElement.dataset.theme = "light";
  build();
});
window.addEventListener("afterprint", () => {
  before.closed.forEach((each) => (each.open = false));
  if (before.theme) document.documentElement.dataset.theme = before.theme;
  else delete document.documentElement.dataset.theme;
  themeChanged();
});

let width = 0;
new ResizeObserver(() => {
  if (root.clientWidth === width) return;
  width = root.clientWidth;
  build();
}).observe(root);

setScale(state.isLog);
makeLegend();
themeChanged();
