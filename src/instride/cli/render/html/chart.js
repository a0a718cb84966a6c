// The chart: which stretch it shows, by which axis, and what the pointer means.

const SPREAD = VALUE.reduce(
  (found, value) => (value > 0 ? [Math.min(found[0], value), Math.max(found[1], value)] : found),
  [Infinity, 0]
);
const LOG_FROM = 6;

const state = {
  axis: "steps",
  isLog: SPREAD[1] > LOG_FROM * Math.max(SPREAD[0], DATA.baseline / 4),
  low: VIEWS.steps.first,
  high: VIEWS.steps.last,
  finding: null,
  shown: null,
  toScale: (value) => (state.isLog ? Math.log10(value) : value),
  fromScale: (value) => (state.isLog ? Math.pow(10, value) : value),
};

const root = document.getElementById("chart");
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
let plot = null;

function placeRange(place, axis) {
  return axis === "time" ? [place[2], place[3]] : [place[0] - 0.5, place[1] + 0.5];
}

function heightRange() {
  const { least, most, marks } = state.shown;
  let low = Infinity;
  let high = 0;
  for (const value of least) low = Math.min(low, value);
  for (const value of most) high = Math.max(high, value);
  for (const mark of marks) {
    if (mark.x < state.low || mark.x > state.high) continue;
    low = Math.min(low, mark.value);
    high = Math.max(high, mark.value);
  }
  if (!(high > 0)) [low, high] = [DATA.baseline, DATA.baseline];
  if (!state.isLog) return [0, 1.08 * high];
  return [Math.log10(low * 0.85), Math.log10(high * 1.25)];
}

function chartData() {
  const { x, middle, least, most } = state.shown;
  return [x, middle.map(state.toScale), most.map(state.toScale), least.map(state.toScale)];
}

function options() {
  const isNarrow = root.clientWidth < 560;
  const font = "12px system-ui, sans-serif";
  const axis = {
    stroke: () => colour("ink-soft"),
    font,
    ticks: { show: false },
    border: { show: false },
    filter: (_, marks) => marks,
  };
  const countX = isNarrow ? 3 : 7;
  return {
    width: root.clientWidth,
    height: isNarrow ? 260 : 340,
    legend: { show: false },
    padding: [12, 24, 0, 0],
    scales: {
      x: { time: false, auto: false, range: () => [state.low, state.high] },
      y: { range: () => heightRange() },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        splits: (_, i, low, high) => (state.axis === "time" ? timeMarks : stepMarks)(low, high, countX),
        values: (_, marks) => marks.map((each) => (state.axis === "time" ? timeLabel(each) : number(each))),
        size: 30,
      },
      {
        ...axis,
        grid: { stroke: () => colour("line"), width: 1 },
        splits: (_, i, low, high) =>
          state.isLog ? logMarks(low, high, 5) : marksEvery(low, high, roundIncrement((high - low) / 5)),
        values: (_, marks) => marks.map((each) => shortDuration(state.fromScale(each))),
        size: isNarrow ? 56 : 68,
        gap: 6,
      },
    ],
    series: [
      {},
      { stroke: () => colour("compute"), width: 1.5, points: { show: false }, spanGaps: true },
      { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true },
      { stroke: "transparent", width: 0, points: { show: false }, spanGaps: true },
    ],
    bands: [{ series: [2, 3], fill: () => colour("spread") }],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false, dist: 4 },
      bind: { dblclick: () => () => showAll() },
    },
    hooks: {
      drawClear: [(self) => drawBehind(self, state)],
      draw: [(self) => drawMarks(self, state), (self) => drawRestarts(self, state)],
      setSelect: [(self) => zoomToSelection(self)],
      setCursor: [(self) => point(self)],
    },
  };
}

function build() {
  if (plot) plot.destroy();
  palette.clear();
  refreshColumns();
  plot = new uPlot(options(), chartData(), root);
  plot.over.appendChild(tip);
  drawOverview(overview, state);
  showRange();
}

function refreshColumns() {
  const width = Math.max(50, root.clientWidth - 80);
  state.shown = columns(VIEWS[state.axis], state.low, state.high, width);
}

function zoomToSelection(self) {
  const { left, width } = self.select;
  if (width < 4) return;
  zoom(self.posToVal(left, "x"), self.posToVal(left + width, "x"));
  self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

// Show a stretch; at least a few records of it, and never more than there is.
function zoom(low, high) {
  const view = VIEWS[state.axis];
  const whole = view.last - view.first;
  const usual = whole / Math.max(1, view.x.length);
  const span = Math.min(whole, Math.max(high - low, 4 * usual));
  const middle = (low + high) / 2;
  state.low = Math.min(Math.max(middle - span / 2, view.first), view.last - span);
  state.high = state.low + span;
  redraw();
}

let isAsked = false;
function redraw() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    refreshColumns();
    tip.hidden = true;
    plot.setData(chartData(), true);
    showRange();
  });
}

function showAll() {
  state.finding = null;
  markFinding();
  const view = VIEWS[state.axis];
  zoom(view.first, view.last);
}

function point(self) {
  const { left, top } = self.cursor;
  if (left === undefined || left < 0) {
    tip.hidden = true;
    return;
  }
  const reach = self.posToVal(5, "x") - self.posToVal(0, "x");
  const record = recordNear(VIEWS[state.axis], self.posToVal(left, "x"), reach);
  if (record === null || !(VALUE[record] > 0)) {
    tip.hidden = true;
    return;
  }
  tip.textContent = "";
  const lines = [
    duration(VALUE[record]),
    ...ownersOf(record).map(ownerText),
    say("chart.step", { step: number(STEP[record]) }),
    say("chart.at", { time: duration(AT[record]) }),
  ];
  lines.forEach((line) => tip.appendChild(document.createElement("span")).textContent = line);
  tip.style.setProperty("--owner", colour(OWNERS[OWNER[record]]));
  tip.hidden = false;
  const isRight = left > self.over.clientWidth / 2;
  tip.style.left = (isRight ? left - tip.offsetWidth - 14 : left + 14) + "px";
  tip.style.top = Math.min(Math.max(0, top - 20), self.over.clientHeight - tip.offsetHeight) + "px";
}
