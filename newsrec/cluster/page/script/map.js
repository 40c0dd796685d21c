// The treemap: one layer of tiles for the cluster in focus, each with a glance at what is inside.

const map = document.getElementById("map");
const STEPS = [0, 0.16, 0.3, 0.08, 0.23];
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let layer = null;
let tiles = [];

function drawMap(focus, from = null) {
  const width = map.clientWidth, height = map.clientHeight;
  const last = { layer, tiles };
  tiles = divide(focus, width, height);
  layer = make("div", { class: "layer" });
  for (const tile of tiles) {
    tile.element = tileElement(tile, width, height, focus);
    layer.append(tile.element);
  }
  map.setAttribute("aria-label", `${focus.name}: ${count(tiles.length, "tile")}`);
  map.append(layer);
  setTabStop(tiles[0]);
  if (last.layer) replaceLayer(last, from, focus);
}

function replaceLayer(last, from, focus) {
  last.layer.inert = true;
  last.layer.setAttribute("aria-hidden", "true");
  const inward = from && last.tiles.find((tile) => holds(tile.node, focus) && from !== focus);
  const outward = from && tiles.find((tile) => holds(tile.node, from));
  if (calm.matches || document.hidden || !(inward || outward)) {
    last.layer.remove();
    return;
  }
  const how = { duration: 380, easing: "cubic-bezier(.3,.7,.2,1)", fill: "both" };
  const whole = "none";
  const { small, large } = zoomed(inward || outward);
  const [arrive, leave] = inward ? [small, large] : [large, small];
  layer.animate([{ transform: arrive, opacity: 0 }, { transform: whole, opacity: 1 }], how);
  last.layer
    .animate([{ transform: whole, opacity: 1 }, { transform: leave, opacity: 0 }], how)
    .finished.finally(() => last.layer.remove());
}

// Transforms that put the whole into a tile, and the tile on the whole.
function zoomed({ x, y, w, h }) {
  const sx = w / map.clientWidth, sy = h / map.clientHeight;
  return {
    small: `translate(${x}px, ${y}px) scale(${sx}, ${sy})`,
    large: `scale(${1 / sx}, ${1 / sy}) translate(${-x}px, ${-y}px)`,
  };
}

function holds(outer, inner) {
  if (outer.kind === "rest" && outer.children.some((child) => holds(child, inner))) return true;
  for (let at = inner; at; at = at.parent) if (at === outer) return true;
  return false;
}

function tileElement(tile, width, height, focus) {
  const { node, x, y, w, h } = tile;
  const step = focus.level < 0 ? 0 : STEPS[node.index % STEPS.length];
  const element = make("button", {
    type: "button", class: `tile ${node.kind}`, tabindex: -1, "aria-label": described(node, focus),
    title: `${node.name} (${number.format(node.n)})`, "--c": colour(node, step),
    onclick: () => open(node, true), onfocus: () => setTabStop(tile),
  });
  put(element, { x, y, w, h }, width, height);
  const parted = node.children.length > 0 && w >= 96 && h >= 76;
  const pad = w < 80 || h < 44 ? 3 : 7;
  const { size, whole } = letters(node.name, w - 2 * pad - 6, parted
    ? clamp(Math.sqrt(w * h) / 17, 13, 22) : clamp(Math.sqrt(w * h) / 11, 11.5, 23), FACES.serif);
  const lines = parted || !whole ? 1 : Math.floor((h - 2 * pad) / (size * 1.2));
  const fits = h >= 2 * pad + size;
  if (w >= 34 && fits && lines >= 1) {
    const inside = parted || node.kind !== "cluster" ? null : linesOf(headlinesOf(node), w, h - size * 3.4 - 12, 14);
    element.append(make("span", { class: "body", "--pad": `${pad}px` }, head(node, size, lines, w, whole), inside));
  }
  if (parted) {
    const top = size * 1.2 + 2 * pad + 2;
    glance(element, node, { x: 3, y: top, w: w - 8, h: h - top - 5 }, w, h, step);
  }
  return element;
}

function head(node, size, lines, w, whole) {
  return make(
    "span", { class: "head", "--size": `${size.toFixed(1)}px`, "--lines": Math.min(lines, 6) },
    nameOf(node, "span", { class: whole ? "name" : "name cut" }),
    w >= 150 ? make("span", { class: "n" }, number.format(node.n)) : null,
  );
}

// What is inside, to see and not to touch.
function glance(element, node, place, w, h, step) {
  const inner = divide(node, place.w, place.h, 12, 1700);
  for (const { node: child, ...at } of inner) {
    const cell = make("span", {
      class: `inner ${child.kind}`, "aria-hidden": "true",
      "--c": child.kind === "cluster"
        ? colour(child, Math.min(0.5, step + 0.1 + 0.07 * (child.index % 4)))
        : colour(node, step + 0.2),
    });
    put(cell, { x: place.x + at.x + 1, y: place.y + at.y + 1, w: at.w - 2, h: at.h - 2 }, w, h);
    const { size, whole } = letters(child.name, at.w - 17, clamp(Math.sqrt(at.w * at.h) / 9, 10.5, 15), FACES.sans);
    const lines = whole ? Math.min(at.h > 90 ? 2 : 4, Math.floor((at.h - 10) / (size * 1.2))) : 1;
    if (at.w >= 44 && at.h >= size + 10 && lines >= 1) {
      cell.append(nameOf(child, "span", { class: whole ? "name" : "name cut", "--size": `${size.toFixed(1)}px`, "--lines": lines }));
      const under = child.children.length ? child.children.slice(0, 9).map((one) => [one.tongue, one.name]) : headlinesOf(child);
      const more = child.kind === "cluster" ? linesOf(under, at.w, at.h - size * 2.6 - 10, 9) : null;
      if (more) cell.append(more);
    }
    element.append(cell);
  }
}

// As many lines of text as there is room for, those that do not fit out of sight.
function linesOf(texts, w, h, most) {
  const many = Math.min(most, Math.floor(h / 26), texts.length);
  const each = Math.min(w < 130 ? 4 : 2, Math.floor((h - 8) / 17.5));
  if (w < 80 || many < 1 || each < 1) return null;
  return make("span", { class: "lines", "--clamp": each },
    ...texts.slice(0, many).map(([language, text]) => spoken("span", {}, text, language)));
}

// Headlines other than the name, each article in another of its languages.
function headlinesOf(node) {
  const found = [];
  const most = Math.max(0, ...node.articles.map((article) => article.texts.length));
  for (let turn = 0; turn < most && found.length < 14; turn++) {
    node.articles.forEach((article, i) => {
      const text = article.texts[(turn * node.articles.length + i) % article.texts.length];
      const fresh = turn < article.texts.length && text && text[1] !== node.name;
      if (fresh && !found.some(([, title]) => title === text[1])) found.push(text);
    });
  }
  return found;
}

// Letters so small that the longest word stays whole, where words are written apart.
const WORD = /[^\s\p{P}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

const FACES = Object.fromEntries(["serif", "sans"].map((face) =>
  [face, getComputedStyle(document.documentElement).getPropertyValue(`--${face}`)]));
const ruler = document.createElement("canvas").getContext("2d");

function letters(text, width, size, face) {
  ruler.font = `600 20px ${face}`;
  const longest = Math.max(1, ...(text.match(WORD) || []).map((word) => ruler.measureText(word).width));
  const fitting = (width / longest) * 20;
  return { size: clamp(fitting, 10, size), whole: fitting >= 10 };
}

function put(element, { x, y, w, h }, width, height) {
  const share = (part, all) => `${((100 * part) / all).toFixed(3)}%`;
  element.style.left = share(x, width);
  element.style.top = share(y, height);
  element.style.width = share(Math.max(w, 0), width);
  element.style.height = share(Math.max(h, 0), height);
}

function described(node, focus) {
  const parts = [node.name];
  if (node.kind === "cluster") parts.push(levelName(node.level));
  parts.push(count(node.n, "article"), `${((100 * node.n) / focus.n).toFixed(0)} percent`);
  if (node.kind === "cluster" && node.nChildren) {
    parts.push(`${number.format(node.nChildren)} ${levelName(node.level + 1, node.nChildren)}`);
  }
  if (node.kind === "rest") parts.push("not to scale where too many");
  return parts.join(", ");
}

function setTabStop(tile) {
  for (const other of tiles) if (other.element) other.element.tabIndex = other === tile ? 0 : -1;
}

function tileOf(node) {
  return tiles.find((tile) => tile.node === node) || tiles.find((tile) => holds(tile.node, node));
}

function markChosen(node, focus) {
  const chosen = node === focus ? null : tileOf(node);
  for (const tile of tiles) {
    tile.element.classList.toggle("chosen", tile === chosen);
    if (tile === chosen) tile.element.setAttribute("aria-current", "true");
    else tile.element.removeAttribute("aria-current");
  }
  if (chosen) setTabStop(chosen);
}

// The nearest tile that way: what lies beside counts less than what lies ahead.
function neighbour(tile, key) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const gap = (a, an, b, bn) => Math.max(0, Math.max(a, b) - Math.min(a + an, b + bn));
  let best = null, least = Infinity;
  for (const other of tiles) {
    const ahead = dx
      ? dx * (other.x + other.w / 2 - tile.x - tile.w / 2)
      : dy * (other.y + other.h / 2 - tile.y - tile.h / 2);
    const beyond = dx ? (dx > 0 ? other.x - tile.x - tile.w : tile.x - other.x - other.w)
      : dy > 0 ? other.y - tile.y - tile.h : tile.y - other.y - other.h;
    if (other === tile || ahead <= 0 || beyond < -1) continue;
    const aside = dx ? gap(tile.y, tile.h, other.y, other.h) : gap(tile.x, tile.w, other.x, other.w);
    const off = dx ? Math.abs(other.y - tile.y) : Math.abs(other.x - tile.x);
    const far = beyond + 4 * aside + 0.02 * off;
    if (far < least) [best, least] = [other, far];
  }
  return best;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
