// Words and numbers in the language that is chosen. Texts only ever go in as textContent.

const WORDS = JSON.parse(document.getElementById("words").textContent);
let spoken = document.documentElement.lang;

function say(key, values) {
  const text = WORDS[spoken][key];
  return values ? text.replace(/\{(\w+)\}/g, (_, name) => values[name]) : text;
}

function number(value, digits) {
  return new Intl.NumberFormat(spoken, {
    minimumFractionDigits: digits || 0,
    maximumFractionDigits: digits || 0,
    useGrouping: true,
  }).format(value);
}

function unit(name, value, digits) {
  return say("unit." + name, { number: number(value, digits) });
}

// A duration as the sentences of the report write it.
function duration(seconds) {
  if (seconds === 0) return unit("s", 0);
  if (seconds < 0.0995) return unit("ms", 1e3 * seconds, 1);
  if (seconds < 0.9995) return unit("ms", 1e3 * seconds);
  if (seconds < 9.995) return unit("s", seconds, 2);
  if (seconds < 600) return unit("s", seconds, 1);
  return parts(seconds, 2);
}

// The largest units of a long duration; an axis leaves out those that are zero.
function parts(seconds, most, isAxis) {
  let rest = Math.round(seconds);
  const days = rest >= 48 * 3600 ? Math.floor(rest / 86400) : 0;
  rest -= 86400 * days;
  const hours = Math.floor(rest / 3600);
  const minutes = Math.floor((rest % 3600) / 60);
  const all = [["d", days], ["h", hours], ["min", minutes], ["s", rest % 60]];
  const first = all.findIndex((each) => each[1] > 0);
  const kept = all
    .slice(Math.max(first, 0), Math.max(first, 0) + most)
    .filter((each) => !isAxis || each[1] > 0);
  return kept.map((each) => unit(each[0], each[1])).join(say("unit.between"));
}

function ownerName(owner) {
  return say("owner." + owner);
}

// An owner of a record, with its part of the time where there are others.
function ownerText([owner, seconds]) {
  const name = ownerName(OWNERS[owner]);
  return seconds === null ? name : say("chart.part", { owner: name, time: duration(seconds) });
}

// Put every text of the page into another language.
function speak(code) {
  spoken = code;
  document.documentElement.lang = code;
  document.title = say("title");
  for (const element of document.querySelectorAll("[data-t]")) {
    element.textContent = say(element.dataset.t);
  }
  for (const element of document.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", say(element.dataset.tLabel));
  }
}
