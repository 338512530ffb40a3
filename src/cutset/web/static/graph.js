// The service graph: pan, zoom, search, and calls that fail in one's mind. What is said of them comes from the server.

const svg = document.getElementById("graph");
const form = document.getElementById("graph-form");
const panel = document.getElementById("graph-panel");
const LOOKS = ["failed", "survived", "degraded", "unknown"];
const NEAR = 1.6, FAR = 0.55, READABLE = 0.8;  // scales: the largest of a fit, the smallest to read, a good one
const STEP = 1.25, KEY = 60, DRAG = 4;  // a step of zoom; pixels: of an arrow key, and before a click is a drag

// ---- What fails: faults by their points. Whoever clicks faster than the server answers is told of the last click.

let failing = new Map();
let asking = null;
let waiting = 0;

function query() {
  const asked = new URLSearchParams({ campaign: form.elements.campaign.value });
  if (form.elements.request.value) asked.set("request", form.elements.request.value);
  for (const fault of failing.values()) asked.append("cut", fault);
  return asked;
}

// The answer to the last question alone; of the others, nothing.
async function answered(address) {
  asking?.abort();
  clearTimeout(waiting);
  asking = new AbortController();
  try {
    const answer = await fetch(address, { signal: asking.signal });
    if (answer.ok) return await answer.text();
    say("This cannot be answered any more: load the page again.");
  } catch (error) {
    if (error.name !== "AbortError") say("The dashboard does not answer.");
  }
  return null;
}

async function ask() {
  const html = await answered(`/graph/panel?${query()}`);
  if (html === null) return;
  show(html);
  history.replaceState(null, "", `/graph?${query()}`);
}

function show(html) {
  const focused = document.activeElement?.closest?.("#graph-panel select")?.dataset.point;
  panel.innerHTML = html;
  if (focused) [...panel.querySelectorAll("select")].find((each) => each.dataset.point === focused)?.focus();
  settle();
}

// Picture and list follow the panel.
function settle() {
  const told = [...panel.querySelectorAll("[data-fault]")];
  failing = new Map(told.map((each) => [each.dataset.point, each.dataset.fault]));
  for (const row of svg.querySelectorAll("[data-point]")) press(row, failing.has(row.dataset.point));
  for (const box of document.querySelectorAll("#graph-points input")) box.checked = failing.has(box.value);
  const verdicts = new Map([...panel.querySelectorAll("[data-verdict]")].map((each) => [each.dataset.request, each]));
  for (const row of svg.querySelectorAll("[data-request]")) {
    const told = verdicts.get(row.dataset.request);
    for (const look of LOOKS) row.classList.toggle(look, told?.dataset.verdict === look);
    row.querySelector(".sign").textContent = told?.querySelector(".sign").textContent ?? "";
    const words = told?.querySelector(".verdict").lastChild.textContent.trim();
    row.setAttribute("aria-label", words ? `${row.dataset.request}, ${words}` : row.dataset.request);
  }
  const root = panel.firstElementChild;
  say(root.dataset.said);
  if (root.hasAttribute("data-under-way")) waiting = setTimeout(ask, 500);
}

function press(row, pressed) {
  row.setAttribute("aria-pressed", pressed);
  row.classList.toggle("pressed", pressed);
}

function say(words) {
  const said = document.getElementById("graph-said");
  if (said.textContent !== words) said.textContent = words;
}

function toggle(point) {
  if (!failing.delete(point)) failing.set(point, point);
  press(rowOf("point", point), failing.has(point));
  ask();
}

function rowOf(kind, name) {
  return [...svg.querySelectorAll(`[data-${kind}]`)].find((row) => row.dataset[kind] === name);
}

// Another request is chosen: the same places, other colours.
async function choose(request) {
  form.elements.request.value = request;
  const address = `/graph?${query()}`;
  const html = await answered(address);
  if (html === null) return;
  const other = new DOMParser().parseFromString(html, "text/html");
  const focused = document.activeElement?.dataset?.request;
  for (const id of ["graph-content", "graph-points", "graph-legend", "graph-panel"]) {
    document.getElementById(id).replaceChildren(...other.getElementById(id).childNodes);
  }
  history.replaceState(null, "", address);
  if (focused !== undefined) rowOf("request", focused)?.focus();
  settle();
}

function activate(row) {
  if (row.dataset.point !== undefined) toggle(row.dataset.point);
  else choose(row.dataset.request === form.elements.request.value ? "" : row.dataset.request);
}

panel.addEventListener("change", (event) => {
  if (event.target.name !== "effect") return;
  failing.set(event.target.dataset.point, event.target.value);
  ask();
});
panel.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-cut]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  failing = new Map(new URL(link.href).searchParams.getAll("cut").map((fault) => [fault, fault]));
  ask();
});
panel.addEventListener("submit", async (event) => {
  event.preventDefault();
  const sent = new URLSearchParams(new FormData(event.target));
  event.target.querySelector("button").disabled = true;
  const answer = await fetch(event.target.action, { method: "POST", body: sent, redirect: "manual" });
  if (answer.type !== "opaqueredirect" && !answer.ok) say("It could not be started.");
  ask();
});
document.getElementById("graph-list").addEventListener("change", (event) => toggle(event.target.value));
form.addEventListener("change", (event) => {
  if (event.target.name === "request") choose(event.target.value);
  if (event.target.name === "campaign") location.assign(`/graph?campaign=${encodeURIComponent(event.target.value)}`);
});
form.addEventListener("submit", (event) => event.preventDefault());

// ---- Pan and zoom: the view is the picture's viewBox.

const whole = svg.viewBox.baseVal;
const all = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
let view = { ...all };

const scale = () => svg.clientWidth / view.width;

function look(to) {
  view = to;
  svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  svg.classList.toggle("far", scale() < FAR);
}

function fit() {
  const wide = Math.max(all.width, all.height * svg.clientWidth / svg.clientHeight, svg.clientWidth / NEAR);
  const high = wide * svg.clientHeight / svg.clientWidth;
  look({ x: all.x + (all.width - wide) / 2, y: all.y + (all.height - high) / 2, width: wide, height: high });
}

// What is large begins where users do, at a size that can be read.
function begin() {
  fit();
  if (scale() >= FAR) return;
  const entry = svg.querySelector(".entry .body").getBBox();
  const width = svg.clientWidth / READABLE, height = svg.clientHeight / READABLE;
  look({ x: entry.x - 40, y: entry.y + entry.height / 2 - height / 2, width, height });
}

function zoom(by, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
  const width = Math.min(Math.max(view.width / by, svg.clientWidth / 4), 3 * Math.max(all.width, svg.clientWidth));
  const factor = width / view.width;
  const at = { x: view.x + x / scale(), y: view.y + y / scale() };
  look({ x: at.x - (at.x - view.x) * factor, y: at.y - (at.y - view.y) * factor, width, height: view.height * factor });
}

const pan = (x, y) => look({ ...view, x: view.x + x / scale(), y: view.y + y / scale() });

function centre(element, always) {
  const box = element.getBBox();
  const beside = box.x < view.x || box.x + box.width > view.x + view.width;
  const above = box.y < view.y || box.y + box.height > view.y + view.height;
  if (!beside && !above && !always) return;
  if (scale() < FAR) zoom(READABLE / scale());
  look({ ...view, x: box.x + box.width / 2 - view.width / 2, y: box.y + box.height / 2 - view.height / 2 });
}

const pointers = new Map();
let travelled = 0;

svg.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  pointers.set(event.pointerId, event);
  if (pointers.size === 1) travelled = 0;
});
addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
  if (pointers.size === 2) {
    const other = [...pointers.values()].find((each) => each.pointerId !== event.pointerId);
    const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    const corner = svg.getBoundingClientRect();
    const [x, y] = [(event.clientX + other.clientX) / 2 - corner.x, (event.clientY + other.clientY) / 2 - corner.y];
    zoom(apart(event) / Math.max(apart(before), 1), x, y);
    pan(-dx / 2, -dy / 2);
  } else {
    travelled += Math.hypot(dx, dy);
    if (travelled > DRAG) {
      pan(-dx, -dy);
      svg.classList.add("dragged");
    }
  }
  pointers.set(event.pointerId, event);
});
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, (event) => {
    pointers.delete(event.pointerId);
    svg.classList.remove("dragged");
  });
}
svg.addEventListener("click", (event) => {
  const row = event.target.closest("[role=button]");
  if (row && travelled <= DRAG) activate(row);
});
svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const corner = svg.getBoundingClientRect();
  const speed = event.deltaMode ? 0.05 : event.ctrlKey ? 0.01 : 0.0015;  // of lines, of a touchpad's pinch, of pixels
  zoom(Math.exp(-event.deltaY * speed), event.clientX - corner.x, event.clientY - corner.y);
}, { passive: false });
svg.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const pressed = event.target.matches("[role=button]") ? () => activate(event.target) : undefined;
  const act = {
    ArrowLeft: () => pan(-KEY, 0),
    ArrowRight: () => pan(KEY, 0),
    ArrowUp: () => pan(0, -KEY),
    ArrowDown: () => pan(0, KEY),
    "+": () => zoom(STEP),
    "=": () => zoom(STEP),
    "-": () => zoom(1 / STEP),
    "0": fit,
    Enter: pressed,
    " ": pressed,
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
svg.addEventListener("focusin", (event) => {
  if (event.target !== svg && event.target.matches(":focus-visible")) centre(event.target, false);
});
document.getElementById("graph-tools").addEventListener("click", (event) => {
  const act = { in: () => zoom(STEP), out: () => zoom(1 / STEP), fit }[event.target.dataset.zoom];
  act?.();
});
let size = svg.clientWidth / svg.clientHeight;
new ResizeObserver(() => {  // the view keeps its middle and its scale
  const now = svg.clientWidth / svg.clientHeight;
  if (!svg.clientHeight || Math.abs(now - size) < 0.001) return;
  size = now;
  look({ ...view, height: view.width / now });
}).observe(svg);

// ---- Search.

const search = document.querySelector("#graph-search input");
let found = [], at = -1;

const nameOf = (element) => element.querySelector("title").textContent.split("\n")[0].toLowerCase();

// Calls of that name, and services of which no call has it.
function matches(words) {
  return [...svg.querySelectorAll(".box")].flatMap((box) => {
    const rows = [...box.querySelectorAll(".row")].filter((row) => nameOf(row).includes(words));
    return rows.length ? rows : nameOf(box).includes(words) ? [box] : [];
  });
}

search.addEventListener("input", () => {
  const words = search.value.trim().toLowerCase();
  at = -1;
  found = words ? matches(words) : [];
  for (const each of svg.querySelectorAll(".found")) each.classList.remove("found");
  for (const each of found) each.classList.add("found");
  for (const label of document.querySelectorAll("#graph-points label")) {
    label.hidden = Boolean(words) && !label.querySelector("input").value.toLowerCase().includes(words);
  }
  for (const group of document.querySelectorAll("#graph-points fieldset")) {
    group.hidden = Boolean(words) && !group.querySelector("label:not([hidden])");
  }
  tell();
  if (found.length) centre(found[0], true);
});
search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  if (!found.length) return;
  at = (at + (event.shiftKey ? found.length - 1 : 1)) % found.length;
  centre(found[at], true);
  tell();
});

function tell() {
  const told = at < 0 ? `${found.length} found` : `${at + 1} of ${found.length}`;
  const words = search.value.trim() ? (found.length ? told : "nothing found") : "";
  document.querySelector("#graph-search [role=status]").textContent = words;
}

for (const id of ["graph-search", "graph-tools"]) document.getElementById(id).hidden = false;
svg.tabIndex = 0;
svg.classList.add("moves");
begin();
settle();
