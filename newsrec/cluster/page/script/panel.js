// All about the chosen cluster, in words.

const panel = document.getElementById("panel");
const SHORT = { languages: 7, headlines: 8, children: 12 };
let wanted = null; // the language to read headlines in
let searched = []; // folded terms to mark

function drawPanel(node) {
  const tint = colour(node, darkNow() && node.level >= 0 && node.kind === "cluster" ? -0.35 : 0);
  panel.style.setProperty("--c", tint);
  const parts = [
    make("p", { class: "kicker" }, kicker(node)),
    nameOf(node, "h2", {}, searched),
    make("p", { class: "facts" }, ...facts(node)),
  ];
  if (node.summary) parts.push(spoken("p", { class: "summary" }, node.summary, null, searched));
  if (node.keywords.length) {
    parts.push(make("ul", { class: "keywords", "aria-label": "Keywords" },
      ...node.keywords.map((word) => spoken("li", {}, word, null, searched))));
  }
  if (node.kind === "cluster" && !node.detailed) {
    parts.push(make("p", { class: "note" }, "Only the largest clusters carry their languages and times on this page."));
  }
  panel.replaceChildren(...parts, ...sections(node).filter(Boolean));
}

function sections(node) {
  return [
    time && node.detailed && node.level >= 0 ? overTime(node) : null,
    node.languages.length ? languageBars(node) : null,
    headlines(node),
    node.children.length ? childList(node) : null,
    unlistedNote(node),
  ];
}

function kicker(node) {
  if (node.kind === "root") return "Everything";
  if (node.kind === "rest") return "Gathered";
  return node.kind === "loose" ? "Unclustered" : levelName(node.level);
}

function facts(node) {
  const found = [make("b", {}, number.format(node.n)), node.n === 1 ? " article" : " articles"];
  const say = (n, words) => found.push(" · ", make("b", {}, number.format(n)), ` ${words}`);
  if (node.kind === "root") {
    view.clusters.forEach((n, level) => say(n, levelName(level, n)));
  } else if (node.nChildren) {
    say(node.nChildren, levelName(node.kind === "rest" ? node.level : node.level + 1, node.nChildren));
  }
  if (node.languages.length) say(node.languages.length, node.languages.length === 1 ? "language" : "languages");
  const span = spanOf(node);
  if (span) found.push(` · ${span}`);
  return found;
}

function spanOf(node) {
  return node.span.length ? days(...node.span) : "";
}

function titled(title, note, ...inside) {
  return make("section", {}, make("h3", {}, title, note ? make("span", {}, note) : null), ...inside);
}

function overTime(node) {
  const most = Math.max(...node.time.map(([, n]) => n), 0);
  return titled("Over time", most ? `at most ${number.format(most)} per ${spanName()}` : "no dates", spark(node, 34));
}

function languageBars(node) {
  const bars = node.languages.map(([place, n]) => {
    const language = languages[place];
    return make("li", {}, make("button", {
      type: "button", "aria-pressed": String(wanted === language),
      "aria-label": `${language.name}, ${count(n, "article")}: show headlines in ${language.name}`,
      onclick: () => readIn(wanted === language ? null : language),
    },
    make("span", {}, language.name),
    make("span", { class: "bar" }, make("i", { "--w": `${(100 * n) / node.n}%` })),
    make("span", { class: "n" }, number.format(n))));
  });
  return titled("Languages", "choose one to read in it",
    folded(make("ul", { class: "languages" }), bars, SHORT.languages, "languages"));
}

function readIn(language) {
  wanted = language;
  const name = language ? language.name : null;
  drawPanel(state.chosen);
  const again = [...panel.querySelectorAll(".languages button")];
  (again.find((button) => name && button.getAttribute("aria-label").startsWith(`${name},`)) || again[0])?.focus();
  say(name ? `Headlines in ${name}` : "Headlines in all languages");
}

// A list with its first items, and a button for the next hundred.
function folded(list, items, few, what) {
  list.append(...items.slice(0, few));
  if (items.length <= few) return list;
  let at = few;
  const more = make("button", { type: "button", class: "more" }, "");
  const label = () => (more.textContent = `Show ${number.format(Math.min(100, items.length - at))} more ${what}`);
  label();
  more.addEventListener("click", () => {
    const first = items[at];
    list.append(...items.slice(at, (at += 100)));
    (first.querySelector("button, a") || more).focus();
    if (at >= items.length) more.remove();
    else label();
  });
  const both = document.createDocumentFragment();
  both.append(list, more);
  return both;
}

// The articles of a story; of anything larger, the first of each of its largest stories.
function articlesOf(node, most = 40) {
  if (node.articles.length) return node.articles;
  const found = [];
  const leaves = [];
  (function walk(at) {
    if (at.articles.length) leaves.push(at);
    for (const child of at.children) if (leaves.length < 400) walk(child);
  })(node);
  leaves.sort((a, b) => b.n - a.n);
  for (const leaf of leaves.slice(0, most)) found.push(leaf.articles[0]);
  return found;
}

function headlines(node) {
  const all = articlesOf(node);
  const shown = wanted ? all.filter((article) => article.texts.some(([language]) => language === wanted)) : all;
  if (!all.length) return null;
  const items = shown.map((article) => headline(article));
  const note = wanted ? `in ${wanted.name}` : all.length < node.n ? `${number.format(all.length)} of ${number.format(node.n)}` : "";
  if (!items.length) return titled("Headlines", note, make("p", { class: "note" }, `None of those on this page is in ${wanted.name}.`));
  return titled("Headlines", note, folded(make("ul", { class: "headlines" }), items, SHORT.headlines, "headlines"));
}

function headline(article) {
  const texts = article.texts;
  const at = Math.max(0, texts.findIndex(([language, title]) => wanted ? language === wanted : searched.length && matches(fold(title), searched)));
  const [language, title] = texts[at] || [null, article.id];
  const href = link(article.url);
  const head = spoken(href ? "a" : "span", href ? { class: "title", href, target: "_blank", rel: "noopener noreferrer" } : { class: "title" }, title, language, searched);
  const known = [language ? language.name : "language unknown", article.published === null ? "" : minute(article.published), texts.length ? article.id : ""];
  const others = texts.filter((_, i) => i !== at);
  return make("li", {}, head, make("p", { class: "meta" }, known.filter(Boolean).join(" · ")),
    others.length ? versions(others) : null);
}

function versions(texts) {
  return make("details", { class: "versions" },
    make("summary", {}, `in ${count(texts.length, "more language")}`),
    make("ul", {}, ...texts.map(([language, title]) =>
      make("li", {}, make("span", {}, language.name), spoken("span", {}, title, language, searched)))));
}

function childList(node) {
  const level = node.kind === "rest" ? node.level : node.level + 1;
  const items = node.children.map((child) => make("li", {}, make("button", {
    type: "button", "--c": colour(child, darkNow() ? -0.35 : 0), "aria-label": described(child, node), onclick: () => open(child),
  },
  nameOf(child, "span", { class: "name" }),
  time && child.detailed ? spark(child) : make("span", {}),
  make("span", { class: "n" }, number.format(child.n)))));
  const name = levelName(level, 2);
  return titled(name[0].toUpperCase() + name.slice(1), time ? "over time, articles" : "articles",
    folded(make("ul", { class: "children" }), items, SHORT.children, name));
}

function unlistedNote(node) {
  const level = node.kind === "rest" ? node.level : node.level + 1;
  const missing = node.kind === "rest" ? node.unlisted : node.nChildren - node.children.length;
  const notes = [];
  if (missing > 0) notes.push(`${number.format(missing)} ${node.children.length ? "smaller " : ""}${levelName(level, missing)} ${missing === 1 ? "is" : "are"} counted but not listed on this page.`);
  if (node.loose > 0) notes.push(`${count(node.loose, "article")} ${node.loose === 1 ? "is" : "are"} in no ${levelName(level)}.`);
  return notes.length ? make("p", { class: "note" }, notes.join(" ")) : null;
}
