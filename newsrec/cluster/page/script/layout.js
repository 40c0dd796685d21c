// Where tiles go: squarified treemap (Bruls, Huizing, van Wijk 2000), as near to squares as can be.

const SMALLEST = 60 * 40;
const MOST_TILES = 60;
const REST_SHARE = 0.18;
const EDGE = 64;

// {x, y, w, h} for each value (sorted, largest first), filling the given place.
function squarify(values, place) {
  const places = [];
  let total = values.reduce((sum, value) => sum + value, 0);
  let { x, y, w, h } = place;
  for (let start = 0, end; start < values.length; start = end) {
    const side = Math.min(w, h), scale = (w * h) / total;
    let sum = 0, worst = Infinity;
    for (end = start; end < values.length; end++) {
      const more = sum + values[end];
      const across = (more * scale) / side;
      const longest = Math.max(
        across / ((values[end] * scale) / across), ((values[start] * scale) / across) / across,
      );
      if (longest > worst) break;
      [sum, worst] = [more, longest];
    }
    const across = (sum * scale) / side;
    for (let i = start, at = 0; i < end; i++) {
      const along = (values[i] / sum) * side;
      places.push(w >= h ? { x, y: y + at, w: across, h: along } : { x: x + at, y, w: along, h: across });
      at += along;
    }
    if (w >= h) [x, w] = [x + across, Math.max(w - across, 1e-9)];
    else [y, h] = [y + across, Math.max(h - across, 1e-9)];
    total -= sum;
  }
  return places;
}

// What a cluster is divided into on a place of this size: its largest children, and one tile for
// all that would be too small to see or to touch.
function divide(node, width, height, most = MOST_TILES, smallest = SMALLEST) {
  const children = node.children;
  const held = children.reduce((sum, child) => sum + child.n, 0);
  const beyond = node.n - held;
  let shown = fitting(children, width * height, beyond, most, smallest);
  // One tile for a single small one says less than that one.
  if (shown === children.length - 1 && !beyond && shown < most) shown++;
  const tiles = children.slice(0, shown).map((child) => ({ node: child, value: child.n }));
  const rest = restOf(node, shown);
  let place = { x: 0, y: 0, w: width, h: height };
  const edge = [];
  if (rest) {
    const sum = tiles.reduce((all, tile) => all + tile.value, 0) || rest.n;
    const least = (smallest / Math.max(width * height, 1)) * sum * 1.2;
    const value = Math.max(Math.min(rest.n, sum * REST_SHARE / (1 - REST_SHARE)), least);
    const across = (value / (sum + value)) * Math.max(width, height);
    // At the far edge where that makes no sliver, else among the others.
    if (tiles.length && across >= EDGE) {
      const wide = width >= height;
      edge.push({ node: rest, ...place, ...(wide ? { x: width - across, w: across } : { y: height - across, h: across }) });
      place = { ...place, ...(wide ? { w: width - across } : { h: height - across }) };
    } else tiles.push({ node: rest, value });
  }
  tiles.sort((a, b) => b.value - a.value);
  const places = squarify(tiles.map((tile) => tile.value), place);
  return [...tiles.map((tile, i) => ({ node: tile.node, ...places[i] })), ...edge];
}

function fitting(children, area, beyond, most, smallest) {
  let sum = 0, m = 0;
  const all = children.reduce((total, child) => total + child.n, 0) + beyond;
  while (m < children.length && m < most) {
    const next = sum + children[m].n;
    const rest = Math.min(REST_SHARE, (all - next) / all);
    if (m && (children[m].n / next) * area * (1 - rest) < smallest) break;
    [sum, m] = [next, m + 1];
  }
  return m;
}

// The clusters from the given one on, those not listed, and articles in none, as if they were one.
function restOf(node, shown) {
  const children = node.children.slice(shown);
  const held = node.children.reduce((sum, child) => sum + child.n, 0);
  const unlisted = Math.max(0, node.nChildren - node.children.length - (node.skipped || 0));
  const n = children.reduce((sum, child) => sum + child.n, 0) + node.n - held;
  if (n <= 0) return null;
  const many = children.length + unlisted;
  const level = node.kind === "rest" ? node.level : node.level + 1;
  const alone = many === 0;
  return {
    id: `${node.id}+${shown}`, kind: alone ? "loose" : "rest", level, parent: node, index: 0, n,
    name: alone
      ? `${number.format(n)} in no ${levelName(level)}`
      : `${number.format(many)} smaller ${shown ? "ones" : levelName(level, many)}`,
    children, nChildren: many, loose: node.loose, unlisted, theme: node.theme, detailed: false,
    articles: [], languages: [], time: [], span: [], keywords: [], summary: "",
  };
}
