// Words: elements made of text only, numbers and dates, and folding for search.

const number = new Intl.NumberFormat("en");
const count = (n, one, many = `${one}s`) => `${number.format(n)} ${n === 1 ? one : many}`;
const dayFormat = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", timeZone: "UTC",
});
const minuteFormat = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
  timeZone: "UTC",
});
const day = (seconds) => dayFormat.format(new Date(seconds * 1000));
const days = (from, to) => dayFormat.formatRange(new Date(from * 1000), new Date(to * 1000));
const minute = (seconds) => minuteFormat.format(new Date(seconds * 1000));

// An element; text goes in as text, never as markup.
function make(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("--")) made.style.setProperty(key, value);
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inside.filter((part) => part !== null && part !== undefined));
  return made;
}

function drawn(name, attributes = {}, ...inside) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

// Text in a language, with what was searched for marked.
function spoken(name, attributes, text, language, terms = []) {
  const how = language ? { lang: language.tag, dir: language.dir } : { lang: own, dir: "auto" };
  const made = make(name, { ...how, ...attributes }, ...marked(text, terms));
  made.classList.add("text");
  return made;
}

function nameOf(node, name, attributes = {}, terms = []) {
  const language = node.kind === "cluster" ? node.tongue : { tag: "en", dir: "ltr" };
  return spoken(name, attributes, node.name, language, terms);
}

// Letters without case, width, and marks that readers leave out: Latin, Greek and Cyrillic accents,
// Arabic vowels and tatweel, Hebrew points. Vowel signs of Tamil or Thai stay: they tell words apart.
const LEFT_OUT = /[\u0300-\u036f\u0640\u064b-\u0652\u0670\u0591-\u05c7\u200b-\u200f\u2060\ufeff]/g;

function fold(text) {
  return text.normalize("NFKD").toLowerCase().replace(LEFT_OUT, "");
}

function termsOf(query) {
  return fold(query).split(/\s+/).filter(Boolean);
}

// Pieces of text, the parts that match any term inside <mark>.
function marked(text, terms) {
  if (!terms.length) return [text];
  let folded = "";
  const from = [];
  let at = 0;
  for (const character of text) {
    const part = fold(character);
    for (let i = 0; i < part.length; i++) from.push(at);
    folded += part;
    at += character.length;
  }
  from.push(text.length);
  const hit = new Uint8Array(text.length);
  for (const term of terms) {
    for (let i = folded.indexOf(term); i >= 0; i = folded.indexOf(term, i + term.length)) {
      let end = i + term.length;
      while (end < folded.length && from[end] === from[end - 1]) end++;
      hit.fill(1, from[i], from[end]);
    }
  }
  const pieces = [];
  for (let i = 0, j; i < text.length; i = j) {
    for (j = i; j < text.length && hit[j] === hit[i]; j++);
    const piece = text.slice(i, j);
    pieces.push(hit[i] ? make("mark", {}, piece) : piece);
  }
  return pieces;
}

function link(url) {
  try {
    return /^https?:$/.test(new URL(url).protocol) ? url : null;
  } catch {
    return null;
  }
}
