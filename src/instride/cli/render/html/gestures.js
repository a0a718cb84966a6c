// Keys, wheel and fingers: all end in `zoom`.

const overviewBox = document.getElementById("overview");
const overview = document.createElement("canvas");
const windowMark = document.createElement("div");
overviewBox.append(overview, windowMark);

function scaled(factor, around) {
  const middle = around === undefined ? (state.low + state.high) / 2 : around;
  zoom(middle - (middle - state.low) * factor, middle + (state.high - middle) * factor);
}

function moved(share) {
  const by = share * (state.high - state.low);
  const view = VIEWS[state.axis];
  const room = by > 0 ? view.last - state.high : view.first - state.low;
  const most = by > 0 ? Math.min(by, room) : Math.max(by, room);
  zoom(state.low + most, state.high + most);
}

// The next or previous slow place, seen from the middle of the chart.
function jump(direction) {
  const view = VIEWS[state.axis];
  const middle = (state.low + state.high) / 2;
  const span = Math.min(state.high - state.low, (view.last - view.first) / 20);
  let at = position(view, middle) + (direction < 0 ? -1 : 0);
  const isOwn = (i) => OWNER[view.order[i]] !== COMPUTE;
  const reach = span / 50;
  while (at >= 0 && at < view.x.length && !(isOwn(at) && Math.abs(view.x[at] - middle) > reach)) {
    at += direction;
  }
  if (at >= 0 && at < view.x.length) zoom(view.x[at] - span / 2, view.x[at] + span / 2);
}

const KEYS = {
  ArrowLeft: () => moved(-0.25),
  ArrowRight: () => moved(0.25),
  "+": () => scaled(0.5),
  "=": () => scaled(0.5),
  "-": () => scaled(2),
  0: () => showAll(),
  Home: () => showAll(),
  Escape: () => showAll(),
  n: () => jump(1),
  p: () => jump(-1),
};

root.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});

// The wheel scrolls the page, until the chart is selected: nobody should get stuck on the way down.
root.addEventListener(
  "wheel",
  (event) => {
    const isWanted = event.ctrlKey || event.metaKey || root.contains(document.activeElement);
    if (!isWanted && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      moved(event.deltaX / 800);
      return;
    }
    const left = event.clientX - plot.over.getBoundingClientRect().left;
    scaled(Math.pow(1.0015, event.deltaY), plot.posToVal(left, "x"));
  },
  { passive: false }
);

// One finger moves the chart sideways, two zoom; up and down still scrolls the page.
const fingers = new Map();
root.addEventListener("pointerdown", (event) => {
  if (event.pointerType === "touch") fingers.set(event.pointerId, event.clientX);
});
root.addEventListener("pointermove", (event) => {
  if (!fingers.has(event.pointerId)) return;
  const before = [...fingers.values()];
  fingers.set(event.pointerId, event.clientX);
  const now = [...fingers.values()];
  const width = plot.over.clientWidth;
  if (now.length === 1) {
    moved((before[0] - now[0]) / width);
  } else if (now.length === 2) {
    const apart = Math.max(20, Math.abs(now[0] - now[1]));
    const left = (now[0] + now[1]) / 2 - plot.over.getBoundingClientRect().left;
    scaled(Math.max(20, Math.abs(before[0] - before[1])) / apart, plot.posToVal(left, "x"));
  }
});
for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
  root.addEventListener(name, (event) => fingers.delete(event.pointerId));
}

function lookAt(event) {
  const view = VIEWS[state.axis];
  const box = overviewBox.getBoundingClientRect();
  const middle = view.first + ((event.clientX - box.left) / box.width) * (view.last - view.first);
  const half = (state.high - state.low) / 2;
  const held = Math.min(Math.max(middle, view.first + half), view.last - half);
  zoom(held - half, held + half);
}

overviewBox.addEventListener("pointerdown", (event) => {
  overviewBox.setPointerCapture(event.pointerId);
  lookAt(event);
});
overviewBox.addEventListener("pointermove", (event) => {
  if (event.buttons) lookAt(event);
});
