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
  fill(element, node, w, h, step);
  return element;
}

// Its name, and below what it is divided into; where that is nothing, headlines.
function fill(element, node, w, h, step) {
  const inside = only(node);
  const parted = inside.children.length > 0 && w >= 96 && h >= 76;
  const pad = w < 80 || h < 44 ? 3 : 7;
  const beside = w >= 150 ? 52 : 0;
  const wish = Math.sqrt(w * h) / (parted ? 17 : 11);
  const name = letters(node.name, w - 2 * pad - 6 - beside, clamp(wish, parted ? 13 : 11.5, 23), FACES.serif,
    parted ? h * 0.36 : h - 2 * pad);
  if (w < 34 || h < 2 * pad + name.size) return;
  const body = make("span", { class: "body", "--pad": `${pad}px` }, head(node, name, w));
  element.append(body);
  const top = name.rows * name.size * 1.2 + 2 * pad + 2;
  if (parted) glance(element, inside, { x: 3, y: top, w: w - 8, h: h - top - 5 }, w, h, step);
  else if (node.kind === "cluster") body.append(...linesOf(under(inside, node), w, h - top, 14));
}

function head(node, name, w) {
  return make(
    "span", { class: "head", "--size": `${name.size.toFixed(1)}px`, "--lines": name.rows },
    nameOf(node, "span", { class: name.whole ? "name" : "name cut" }),
    w >= 150 ? make("span", { class: "n" }, number.format(node.n)) : null,
  );
}

// A cluster that is all one smaller cluster says nothing by showing that one inside.
function only(node) {
  const one = node.children.length === 1 && node.nChildren === 1 && node.children[0].n === node.n;
  return one ? only(node.children[0]) : node;
}

// What is inside, to see and not to touch.
function glance(element, node, place, w, h, step) {
  for (const { node: child, ...at } of divide(node, place.w, place.h, 12, 1700)) {
    const cell = make("span", {
      class: `inner ${child.kind}`, "aria-hidden": "true",
      "--c": child.kind === "cluster"
        ? colour(child, Math.min(0.5, step + 0.1 + 0.07 * (child.index % 4)))
        : colour(node, step + 0.2),
    });
    put(cell, { x: place.x + at.x + 1, y: place.y + at.y + 1, w: at.w - 2, h: at.h - 2 }, w, h);
    const name = letters(child.name, at.w - 17, clamp(Math.sqrt(at.w * at.h) / 9, 10.5, 15), FACES.sans, at.h - 10);
    if (at.w >= 44 && at.h >= name.size + 10) {
      cell.append(nameOf(child, "span", {
        class: name.whole ? "name" : "name cut", "--size": `${name.size.toFixed(1)}px`, "--lines": name.rows,
      }));
      if (child.kind === "cluster") {
        cell.append(...linesOf(under(only(child), child), at.w, at.h - name.rows * name.size * 1.2 - 12, 9));
      }
    }
    element.append(cell);
  }
}

// Names of what is inside, or headlines; never the name that stands above.
function under(inside, node) {
  const texts = inside.children.length
    ? inside.children.slice(0, 14).map((one) => [one.tongue, one.name])
    : [[inside.tongue, inside.name], ...headlinesOf(inside)];
  return texts.filter(([, text]) => text !== node.name);
}

// As many lines of text as there is room for, those that do not fit out of sight.
function linesOf(texts, w, h, most) {
  const many = Math.min(most, Math.floor(h / 26), texts.length);
  const each = Math.min(w < 130 ? 4 : 2, Math.floor((h - 8) / 17.5));
  if (w < 80 || many < 1 || each < 1) return [];
  return [make("span", { class: "lines", "--clamp": each },
    ...texts.slice(0, many).map(([language, text]) => spoken("span", {}, text, language)))];
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

// The size of the letters, whether the longest word fits, and how many rows there will be.
function letters(text, width, size, face, height) {
  ruler.font = `600 20px ${face}`;
  const wide = (word) => ruler.measureText(word).width / 20;
  const fitting = width / Math.max(0.1, ...(text.match(WORD) || []).map(wide));
  const chosen = clamp(fitting, 10, size);
  const room = clamp(Math.floor(height / (chosen * 1.2)), 1, 6);
  const whole = fitting >= 10;
  return { size: chosen, whole, rows: whole ? Math.min(room, Math.ceil((wide(text) * chosen) / width + 0.2)) : 1 };
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
