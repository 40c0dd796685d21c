// What is in focus, what is chosen, and every way to change it.

const state = { focus: root, chosen: root };
const narrow = matchMedia("(max-width: 899px)");
const darkMedia = matchMedia("(prefers-color-scheme: dark)");
const live = document.getElementById("live");

function say(words) {
  live.textContent = "";
  requestAnimationFrame(() => (live.textContent = words));
}

const divides = (node) => node.children.length > 0 && node.kind !== "loose";

// Go to a cluster: into it where it is divided, else to it among its neighbours.
function go(node, { terms = [], quiet = false } = {}) {
  const before = state.focus;
  const gathered = before.kind === "rest" && before.children.includes(node);
  state.focus = divides(node) ? node : gathered ? before : node.parent || root;
  state.chosen = node;
  searched = terms;
  if (state.focus !== before || !layer) drawMap(state.focus, before);
  redraw();
  if (!quiet) remember(node);
  if (!quiet) announce(node);
}

function redraw() {
  markChosen(state.chosen, state.focus);
  drawPath();
  drawTime(state.focus, state.chosen);
  drawPanel(state.chosen);
}

// Open a tile: zoom in where it is divided, else choose it.
function open(node, byTile = false) {
  const before = state.focus;
  go(node);
  if (state.focus !== before) tiles[0]?.element.focus({ preventScroll: true });
  else if (byTile && narrow.matches) panel.scrollIntoView({ block: "start" });
  if (state.focus !== before) panel.scrollTop = 0;
}

function back() {
  const from = state.focus;
  if (state.chosen !== from) return go(from);
  if (!from.parent) return;
  go(from.parent);
  tileOf(from)?.element.focus({ preventScroll: true });
}

function announce(node) {
  const inside = node.nChildren ? `, ${number.format(node.nChildren)} ${levelName(node.kind === "rest" ? node.level : node.level + 1, node.nChildren)}` : "";
  say(`${node.name}: ${count(node.n, "article")}${inside}`);
}

function remember(node) {
  const place = node.kind === "cluster" ? `#${node.id}` : "#";
  if (node.kind === "cluster" || node === root) {
    if ((location.hash || "#") !== place) history.pushState(null, "", place);
  }
}

function recall() {
  let place = "";
  try { place = decodeURIComponent(location.hash.slice(1)); } catch { /* no place has such a name */ }
  go(byId.get(place) || root, { quiet: true });
}

function drawPath() {
  const path = ancestors(state.focus);
  document.getElementById("path").replaceChildren(...path.map((node, i) =>
    make("li", {}, i + 1 < path.length
      ? nameOf(node, "button", { type: "button", onclick: () => { go(node); tileOf(path[i + 1])?.element.focus(); } })
      : nameOf(node, "span", { "aria-current": "page" }))));
  document.getElementById("back").disabled = !state.focus.parent && state.chosen === root;
}

function drawTotals() {
  const parts = [count(root.n, "article")];
  view.clusters.forEach((n, level) => parts.push(`${number.format(n)} ${levelName(level, n)}`));
  parts.push(count(languages.length, "language"));
  if (spanOf(root)) parts.push(spanOf(root));
  document.getElementById("totals").textContent = parts.join(" · ");
}

function darkNow() {
  const mode = document.documentElement.dataset.mode;
  return mode ? mode === "dark" : darkMedia.matches;
}

function setMode(mode) {
  if (mode) document.documentElement.dataset.mode = mode;
  document.getElementById("mode").setAttribute("aria-pressed", String(darkNow()));
}

// A page opened from a file may have no storage.
function stored(value) {
  try {
    if (value === undefined) return localStorage.getItem("newsrec-mode");
    localStorage.setItem("newsrec-mode", value);
  } catch {
    return null;
  }
  return null;
}

document.getElementById("mode").addEventListener("click", () => {
  const mode = darkNow() ? "light" : "dark";
  stored(mode);
  setMode(mode);
  redraw();
});
darkMedia.addEventListener("change", () => { setMode(null); redraw(); });
document.getElementById("back").addEventListener("click", back);
window.addEventListener("popstate", recall);

const isTyping = (element) => element.closest("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing || isTyping(event.target)) return;
  if (event.key === "/") query.focus();
  else if (event.key === "Escape" || event.key === "Backspace") back();
  else return;
  event.preventDefault();
});

map.addEventListener("keydown", (event) => {
  const tile = tiles.find((other) => other.element === document.activeElement);
  if (!tile || event.altKey || event.ctrlKey || event.metaKey) return;
  let next = null;
  if (event.key.startsWith("Arrow")) next = neighbour(tile, event.key);
  else if (event.key === "Home") next = tiles[0];
  else if (event.key === "End") next = tiles[tiles.length - 1];
  else return;
  event.preventDefault();
  if (!next) return;
  next.element.focus();
  state.chosen = next.node;
  redraw();
});

let waiting = 0;
let drawnSize = "";
new ResizeObserver(() => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => {
    const size = `${map.clientWidth} ${map.clientHeight}`;
    if (size === drawnSize || !layer || matchMedia("print").matches) return;
    drawnSize = size;
    const had = map.contains(document.activeElement);
    drawMap(state.focus);
    redraw();
    if (had) (tileOf(state.chosen) || tiles[0])?.element.focus({ preventScroll: true });
  });
}).observe(map);

setMode(["light", "dark"].includes(stored()) ? stored() : null);
drawTotals();
recall();
document.documentElement.dataset.ready = "";
