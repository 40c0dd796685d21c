// Articles over time: bars of the cluster in focus, stacked by theme at the top.

const chart = document.getElementById("time_chart");
const SPANS = { 3600: "hour", 86400: "day", 604800: "week" };

function spanName() {
  const hours = time.step / 3600, days = hours / 24, weeks = days / 7;
  return SPANS[time.step] || (days < 1 ? `${hours} hours` : weeks % 1 ? `${days} days` : `${weeks} weeks`);
}

function row(node) {
  const values = new Array(time.n).fill(0);
  for (const [bucket, n] of node.time) values[bucket] = n;
  return values;
}

function drawTime(focus, chosen) {
  const figure = document.getElementById("time");
  const shown = focus.detailed ? focus : real(focus);
  figure.hidden = !time || !shown.detailed;
  if (figure.hidden) return;
  const all = row(shown), bands = bandsOf(shown, chosen, all);
  const some = shown === root && root.nChildren > COLOURS.length;
  document.getElementById("time_title").textContent =
    `Articles per ${spanName()}, ${shown.name}${some ? `; the ${COLOURS.length} largest ${levelName(0, 2)} in colour` : ""}`;
  const rest = timeNote(all);
  const at = document.getElementById("time_at");
  at.textContent = rest;
  const width = Math.max(chart.clientWidth, 200), height = width < 500 ? 64 : 78, base = height - 18;
  const most = Math.max(...all, 1), each = width / time.n;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img" });
  svg.setAttribute("aria-label", inWords(all));
  const under = new Array(time.n).fill(0);
  for (const band of bands) {
    const path = bars(band.values, under, each, base, most);
    const drawnBand = drawn("path", { d: path });
    if (band.fill) drawnBand.setAttribute("fill", band.fill);
    if (band.name) drawnBand.setAttribute("class", band.name);
    svg.append(drawnBand);
    band.values.forEach((n, i) => (under[i] += n));
  }
  svg.append(drawn("path", { class: "axis", d: `M0 ${base + 0.5}H${width}` }));
  svg.append(...ticks(width, height));
  svg.addEventListener("pointermove", (event) => {
    const i = Math.floor(((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width) * time.n);
    if (i >= 0 && i < time.n) at.textContent = `${when(i)}: ${count(all[i], "article")}`;
  });
  svg.addEventListener("pointerleave", () => (at.textContent = rest));
  chart.replaceChildren(svg);
}

const real = (node) => (node.kind === "cluster" || node.kind === "root" ? node : real(node.parent));

// Themes at the top, else the one colour of the theme; what is chosen stands out.
function bandsOf(focus, chosen, all) {
  const inside = chosen !== focus && chosen.detailed && chosen.kind === "cluster";
  const dark = darkNow();
  const tint = (node) => colour(node, dark ? -0.35 : 0);
  if (focus.level >= 0) {
    if (!inside) return [{ values: all, fill: tint(focus) }];
    const own = row(chosen);
    return [
      { values: own, fill: tint(focus) },
      { values: all.map((n, i) => Math.max(0, n - own[i])), name: "others" },
    ];
  }
  const themes = focus.children.slice(0, COLOURS.length).filter((node) => node.detailed);
  const rows = themes.map(row);
  const others = all.map((n, i) => Math.max(0, n - rows.reduce((sum, values) => sum + values[i], 0)));
  return [
    ...themes.map((node, i) => ({
      values: rows[i], fill: tint(node), name: inside && chosen.theme !== node ? "faded" : "",
    })),
    { values: others, name: inside ? "others faded" : "others" },
  ];
}

function bars(values, under, each, base, most) {
  const gap = each > 5 ? 1 : 0, scale = (base - 4) / most;
  let path = "";
  values.forEach((n, i) => {
    if (!n) return;
    const top = base - (under[i] + n) * scale;
    path += `M${(i * each).toFixed(2)} ${top.toFixed(2)}h${(each - gap).toFixed(2)}v${(n * scale).toFixed(2)}h${(gap - each).toFixed(2)}z`;
  });
  return path;
}

function ticks(width, height) {
  const many = Math.max(2, Math.min(7, Math.floor(width / 120), time.n));
  const found = [];
  for (let k = 0; k < many; k++) {
    const i = Math.round((k * (time.n - 1)) / (many - 1 || 1));
    const anchor = k === 0 ? "start" : k === many - 1 ? "end" : "middle";
    const x = k === 0 ? 0 : k === many - 1 ? width : ((i + 0.5) * width) / time.n;
    found.push(drawn("text", { x, y: height - 4, "text-anchor": anchor }, tick(i)));
  }
  return found;
}

const tick = (i) => (time.step < 86400 ? minute(start(i)) : day(from(i)));
const start = (i) => time.start + i * time.step;
// The outermost buckets begin before the first article and end after the last.
const from = (i) => Math.max(start(i), root.span[0]);
const until = (i) => Math.min(start(i + 1) - 1, root.span[1]);

function when(i) {
  if (time.step < 86400) return minute(start(i));
  return days(from(i), until(i));
}

function inWords(values) {
  const most = values.indexOf(Math.max(...values));
  return `Articles per ${spanName()} from ${day(from(0))} to ${day(until(time.n - 1))}; most ${when(most)}: ${count(values[most], "article")}`;
}

function timeNote(values) {
  const most = Math.max(...values);
  const notes = most ? [`most: ${number.format(most)}, ${when(values.indexOf(most))}`] : [];
  if (time.unknown) notes.push(`${number.format(time.unknown)} without a date`);
  if (time.outside) notes.push(`${number.format(time.outside)} far from this time`);
  return notes.join(", ");
}

// A small histogram of one cluster on the time of all.
function spark(node, height = 20) {
  const svg = drawn("svg", { class: "spark", viewBox: `0 0 ${time.n} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(drawn("path", { class: "ground", d: `M0 ${height - 1}h${time.n}v1H0z` }));
  const values = row(node);
  svg.append(drawn("path", { d: bars(values, values.map(() => 0), 1, height, Math.max(...values, 1)) }));
  return svg;
}
