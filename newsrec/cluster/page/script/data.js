// The view as written by newsrec, each cluster linked to what holds it.

const view = JSON.parse(document.getElementById("view").textContent);
const languages = view.languages.map(([code, name, tag, dir]) => ({ code, name, tag, dir }));
const own = view.names[0] || null;
const time = view.time;

// Eight colours told apart with any kind of colour vision, all dark enough for white text.
const COLOURS = [
  "#343c8e", "#956918", "#078470", "#741c47", "#8361c3", "#884726", "#1f637b", "#243c03",
];
const GREY = "#54585f";

const byId = new Map();
const root = read(view.root, null, 0);
root.name = "All news";
for (const node of byId.values()) fillIn(node);

function read(raw, parent, index) {
  const level = parent ? parent.level + 1 : -1;
  const articles = (raw.a || []).map(readArticle);
  const node = {
    id: `${level}-${raw.c}`, kind: parent ? "cluster" : "root", level, parent, index, articles,
    n: raw.n, name: raw.t || "", children: [], nChildren: raw.m || 0, loose: raw.o || 0,
    detailed: Boolean(raw.d), languages: pairs(raw.l), time: pairs(raw.h), span: raw.p || [], keywords: raw.k || [],
    summary: raw.s || "",
  };
  if (!node.name && parent) nameByHeadline(node);
  node.theme = level <= 0 ? node : parent.theme;
  node.children = (raw.x || []).map((child, i) => read(child, node, i));
  byId.set(node.id, node);
  return node;
}

function readArticle([id, published, url, ...texts]) {
  return { id, published, url: url || "", texts: pairs(texts).map(([l, t]) => [languages[l], t]) };
}

function pairs(flat) {
  const found = [];
  for (let i = 0; i < (flat || []).length; i += 2) found.push([flat[i], flat[i + 1]]);
  return found;
}

function nameByHeadline(node) {
  const text = node.articles.length && node.articles[0].texts[0];
  node.name = text ? text[1] : `${levelName(node.level)} ${node.id.split("-")[1]}`;
  if (text) node.tongue = text[0];
}

// A cluster whose articles are all here needs no counts of its own.
function fillIn(node) {
  if (node.detailed || node.articles.length !== node.n) return;
  const inLanguage = new Map(), inBucket = new Map(), moments = [];
  for (const article of node.articles) {
    for (const [language] of article.texts) add(inLanguage, languages.indexOf(language));
    if (time && article.published !== null) {
      const bucket = Math.floor((article.published - time.start) / time.step);
      if (bucket < 0 || bucket >= time.n) continue;
      add(inBucket, bucket);
      moments.push(article.published);
    }
  }
  node.languages = [...inLanguage].sort((a, b) => b[1] - a[1]);
  node.time = [...inBucket].sort((a, b) => a[0] - b[0]);
  if (moments.length) node.span = [Math.min(...moments), Math.max(...moments)];
  node.detailed = true;
}

function add(counts, key) {
  counts.set(key, (counts.get(key) || 0) + 1);
}

function levelName(level, n = 1) {
  if (level < 0) return "all";
  return view.levels[level] ? view.levels[level][n === 1 ? 0 : 1] : "article";
}

function ancestors(node) {
  const path = [];
  for (let at = node; at; at = at.parent) path.unshift(at);
  return path;
}

// Colours follow the theme; what lies deeper is a darker step of it.
function colour(node, step = 0) {
  if (node.kind === "rest" || node.kind === "loose" || node.level < 0) return GREY;
  return shade(COLOURS[node.theme.index % COLOURS.length], step);
}

function shade(hex, step) {
  const keep = step >= 0 ? 1 - step : 1 + step;
  const to = step >= 0 ? 0 : 255;
  const parts = [1, 3, 5].map((i) => {
    const part = parseInt(hex.slice(i, i + 2), 16);
    return Math.round(part * keep + to * (1 - keep)).toString(16).padStart(2, "0");
  });
  return `#${parts.join("")}`;
}
