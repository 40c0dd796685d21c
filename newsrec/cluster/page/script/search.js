// Search over names, keywords and headlines in any script.

const query = document.getElementById("query");
const results = document.getElementById("results");
const foundList = document.getElementById("found");
const MOST_FOUND = 40;
let haystack = null;
let found = [];
let at = -1;

function straw() {
  haystack ??= [...byId.values()].filter((node) => node.level >= 0).map((node) => {
    const titles = node.articles.flatMap((article) => article.texts.map(([, title]) => title));
    const [name, words, text] = [node.name, node.keywords.join("\n"), `${titles.join("\n")}\n${node.summary}`].map(fold);
    return { node, name, words, all: `${name}\n${words}\n${text}` };
  });
  return haystack;
}

const matches = (text, terms) => terms.every((term) => text.includes(term));

function search(text) {
  const terms = termsOf(text);
  if (!terms.length) return { terms, hits: [] };
  const hits = [];
  for (const { node, name, words, all } of straw()) {
    if (!matches(all, terms)) continue;
    const rank = matches(name, terms) ? (name.startsWith(terms[0]) ? 0 : 1) : matches(words, terms) ? 2 : 3;
    hits.push({ node, rank });
  }
  hits.sort((a, b) => a.rank - b.rank || b.node.n - a.node.n);
  return { terms, hits };
}

function showFound() {
  const { terms, hits } = search(query.value);
  found = hits.slice(0, MOST_FOUND).map((hit) => hit.node);
  at = -1;
  results.hidden = !terms.length;
  query.setAttribute("aria-expanded", String(!results.hidden));
  foundList.replaceChildren(...found.map((node, i) => result(node, i, terms)));
  const words = hits.length > found.length
    ? `${count(hits.length, "cluster")} found, the first ${found.length} are shown` : hits.length ? `${count(hits.length, "cluster")} found` : "Nothing found";
  document.getElementById("n_found").textContent = words;
  if (terms.length) say(words);
  if (found.length) point(0);
}

function result(node, i, terms) {
  const path = ancestors(node.parent).slice(1).map((above) => above.name).join(" › ");
  const item = make("li", { role: "option", id: `found_${i}`, "aria-selected": "false", "--c": colour(node, darkNow() ? -0.35 : 0), onclick: () => jump(node) },
    nameOf(node, "span", { class: "name" }, terms), make("span", { class: "n" }, number.format(node.n)),
    make("span", { class: "where" }, make("bdi", {}, path ? `${levelName(node.level)} in ${path}` : levelName(node.level))));
  const hit = hitOf(node, terms);
  if (hit) item.append(spoken("span", { class: "hit" }, hit[1], hit[0], terms));
  // Else the input would lose the focus before the click.
  item.addEventListener("pointerdown", (event) => event.preventDefault());
  return item;
}

// Where it was found, when that is not the name.
function hitOf(node, terms) {
  const any = (text) => terms.some((term) => fold(text).includes(term));
  if (matches(fold(node.name), terms)) return null;
  for (const article of node.articles) {
    const text = article.texts.find(([, title]) => title !== node.name && matches(fold(title), terms)) || article.texts.find(([, title]) => title !== node.name && any(title));
    if (text) return text;
  }
  const words = node.keywords.filter(any);
  return words.length ? [null, words.join(", ")] : any(node.summary) ? [null, node.summary] : null;
}

function point(i) {
  foundList.children[at]?.setAttribute("aria-selected", "false");
  at = (i + found.length) % found.length;
  const item = foundList.children[at];
  item.setAttribute("aria-selected", "true");
  item.scrollIntoView({ block: "nearest" });
  query.setAttribute("aria-activedescendant", item.id);
}

function jump(node) {
  const terms = termsOf(query.value);
  closeFound();
  go(node, { terms });
  (node === state.focus ? tiles[0] : tileOf(node))?.element.focus({ preventScroll: true });
  if (narrow.matches) panel.scrollIntoView({ block: "start" });
}

function closeFound() {
  results.hidden = true;
  query.setAttribute("aria-expanded", "false");
  query.removeAttribute("aria-activedescendant");
}

query.addEventListener("input", showFound);
query.addEventListener("focus", () => query.value && showFound());
query.addEventListener("blur", closeFound);
query.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Escape") {
    if (results.hidden) query.value = "";
    if (results.hidden) query.blur();
    closeFound();
  } else if (found.length && !results.hidden && event.key === "ArrowDown") point(at + 1);
  else if (found.length && !results.hidden && event.key === "ArrowUp") point(at - 1);
  else if (found.length && !results.hidden && event.key === "Enter") jump(found[at]);
  else return;
  event.preventDefault();
  event.stopPropagation();
});
