// Painting on the chart's canvas: what lies behind the line, and the sticks of the owners.

// A canvas has no variables: an element that nobody sees tells what they stand for.
const probe = document.head.appendChild(document.createElement("span"));
const palette = new Map();

function colour(name) {
  if (!palette.has(name)) {
    probe.style.color = "var(--" + name + ")";
    palette.set(name, getComputedStyle(probe).color);
  }
  return palette.get(name);
}

function clipped(plot, draw) {
  const { left, top, width, height } = plot.bbox;
  plot.ctx.save();
  plot.ctx.beginPath();
  plot.ctx.rect(left, top, width, height);
  plot.ctx.clip();
  draw(plot.ctx, left, top, width, height);
  plot.ctx.restore();
}

// Time without steps, and the places of the finding that was clicked.
function drawBehind(plot, state) {
  clipped(plot, (ctx, left, top, width, height) => {
    const band = (from, to, fill, alpha, least) => {
      const begin = plot.valToPos(from, "x", true);
      const end = plot.valToPos(to, "x", true);
      const wide = Math.max(end - begin, least * uPlot.pxRatio);
      ctx.globalAlpha = alpha;
      ctx.fillStyle = fill;
      ctx.fillRect((begin + end - wide) / 2, top, wide, height);
    };
    if (state.axis === "time") {
      for (const [owner, from, to] of DATA.quiet) band(from, to, colour(owner), 0.22, 1);
    }
    if (state.finding !== null) {
      const { owner, places } = DATA.findings[state.finding];
      for (const place of places) {
        const [from, to] = placeRange(place, state.axis);
        band(from, to, colour(owner), 0.16, 6);
      }
    }
  });
}

function drawMarks(plot, state) {
  const { marks, isSparse, x } = state.shown;
  clipped(plot, (ctx) => {
    const ratio = uPlot.pxRatio;
    const room = plot.bbox.width / Math.max(1, x.length + marks.length);
    const wide = isSparse ? Math.min(5 * ratio, Math.max(1.5 * ratio, room * 0.4)) : 1.5 * ratio;
    const dot = isSparse ? Math.max(wide * 0.75, 2 * ratio) : 1.75 * ratio;
    for (const mark of marks) {
      const at = plot.valToPos(mark.x, "x", true);
      const top = plot.valToPos(state.toScale(mark.value), "y", true);
      const bottom = plot.valToPos(state.toScale(mark.floor), "y", true);
      ctx.lineWidth = wide;
      ctx.globalAlpha = 0.75;
      let from = bottom;
      for (const [owner, share] of stripes(mark.record)) {
        const to = from + share * (top - bottom);
        ctx.strokeStyle = colour(OWNERS[owner]);
        ctx.beginPath();
        ctx.moveTo(at, from);
        ctx.lineTo(at, to);
        ctx.stroke();
        from = to;
      }
      ctx.fillStyle = colour(OWNERS[mark.owner]);
      ctx.globalAlpha = 1;
      ctx.beginPath();
      ctx.arc(at, top, dot, 0, 2 * Math.PI);
      ctx.fill();
    }
  });
}

function drawRestarts(plot, state) {
  clipped(plot, (ctx, left, top, width, height) => {
    const ratio = uPlot.pxRatio;
    ctx.strokeStyle = ctx.fillStyle = colour("ink-soft");
    ctx.lineWidth = ratio;
    ctx.font = 11 * ratio + "px system-ui, sans-serif";
    ctx.textBaseline = "top";
    ctx.textAlign = "left";
    let free = left;
    for (const [time, step] of DATA.restarts) {
      const at = plot.valToPos(state.axis === "time" ? time : step, "x", true);
      if (at < left || at > left + width) continue;
      ctx.setLineDash([4 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(at, top);
      ctx.lineTo(at, top + height);
      ctx.stroke();
      const text = say("chart.restart");
      const length = ctx.measureText(text).width;
      // At the right edge the word stands before its line.
      const isLast = at + length + 8 * ratio > left + width;
      const begin = isLast ? at - length - 4 * ratio : at + 4 * ratio;
      if (begin >= free) {
        ctx.fillText(text, begin, top + 3 * ratio);
        free = begin + length + 12 * ratio;
      }
    }
  });
}

// The whole run in a strip, to see which part of it the chart shows.
function drawOverview(canvas, state) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  const view = VIEWS[state.axis];
  const whole = columns(view, view.first, view.last, width);
  const tops = whole.most.concat(whole.marks.map((mark) => mark.value)).map(state.toScale);
  const lows = whole.least.map(state.toScale);
  const high = Math.max(...tops);
  const low = state.isLog ? Math.min(...lows, ...tops) - 0.1 : 0;
  const place = (x) => ((x - view.first) / (view.last - view.first)) * width;
  const level = (value) => height - 2 - ((state.toScale(value) - low) / (high - low || 1)) * (height - 6);
  if (state.axis === "time") {
    ctx.globalAlpha = 0.3;
    for (const [owner, from, to] of DATA.quiet) {
      ctx.fillStyle = colour(owner);
      ctx.fillRect(place(from), 0, Math.max(1, place(to) - place(from)), height);
    }
    ctx.globalAlpha = 1;
  }
  ctx.fillStyle = colour("compute");
  whole.x.forEach((x, i) => {
    const next = i + 1 < whole.x.length ? whole.x[i + 1] : x;
    ctx.fillRect(place(x), level(whole.middle[i]), Math.max(1, place(next) - place(x)), height);
  });
  for (const mark of whole.marks) {
    ctx.fillStyle = colour(OWNERS[mark.owner]);
    ctx.fillRect(place(mark.x), level(mark.value), 1.2, height);
  }
}
