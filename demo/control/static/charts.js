// Three small charts of the last two minutes, as SVG in real pixels: text stays readable at every width.
import { $, el, human, text } from "./dom.js";

const ns = "http://www.w3.org/2000/svg", left = 52, right = 8, top = 10, bottom = 22, span = 120;
const percent = (v) => `${Math.round(v * 100)} %`;

const charts = [
  { title: "Time to a page", sub: "p95 bold, p50 thin, logarithmic", height: 190, lines: ["p95_ms", "p50_ms"], now: (p) => p.visits ? `${human(p.p95_ms)}` : "–",
    y: (v) => Math.log(Math.min(Math.max(v, 5), 10000) / 5) / Math.log(2000), ticks: [[10, "10 ms"], [100, "100 ms"], [500, "500 ms"], [2000, "2 s"], [10000, "10 s"]] },
  { title: "No page", sub: "an error, or nothing within 2 s", height: 190, lines: ["unserved"], now: (p) => p.visits ? percent(p.unserved) : "–",
    y: (v) => v, ticks: [[0, "0"], [0.5, "50 %"], [1, "100 %"]] },
  { title: "Degraded", sub: "a page that says what is missing", height: 190, lines: ["degraded"], now: (p) => p.visits ? percent(p.degraded) : "–",
    y: (v) => v, ticks: [[0, "0"], [0.5, "50 %"], [1, "100 %"]] },
];

function make(tag, attributes, content) {
  const node = document.createElementNS(ns, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (content !== undefined) node.textContent = content;
  return node;
}

function draw(chart, figure, state) {
  const width = figure.querySelector("div").clientWidth, height = chart.height, until = Date.parse(state.now) / 1000;
  const x = (at) => left + (width - left - right) * Math.min(Math.max((at - until + span) / span, 0), 1);
  const y = (v) => top + (1 - chart.y(v)) * (height - top - bottom);
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${chart.title}: ${figure.dataset.said}` });
  for (const s of state.spans) svg.append(make("rect", { class: "fault", x: x(s.from), y: top, width: Math.max(x(s.to) - x(s.from), 2), height: height - top - bottom }));
  for (const [value, label] of chart.ticks) {
    svg.append(make("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
    svg.append(make("text", { class: "end", x: left - 6, y: y(value) + 4 }, label));
  }
  for (const ago of [120, 60, 0]) {
    svg.append(make("text", { class: ago === 0 ? "end" : ago === 120 ? "" : "middle", x: x(until - ago), y: height - 5 }, ago === 0 ? "now" : `${ago} s ago`));
  }
  for (const name of ["naive", "protected"]) {
    chart.lines.forEach((field, i) => svg.append(make("path", { class: `${name} ${i ? "thin" : ""}`, d: path(state.pages[name].series, field, x, y) })));
  }
  figure.querySelector("div").replaceChildren(svg);
}

// path joins the points; a second without one is a gap.
function path(series, field, x, y) {
  let before = 0;
  return series.map((p) => {
    const verb = p.at - before === 1 ? "L" : "M";
    before = p.at;
    return `${verb}${x(p.at).toFixed(1)} ${y(p[field]).toFixed(1)}`;
  }).join("");
}

export function showCharts(state) {
  const box = $("charts");
  if (!box.firstChild) {
    box.append(...charts.map((c) => el("figure", {}, el("figcaption", {}, el("strong", {}, c.title), el("small", {}, c.sub),
      el("span", { className: "now" }, el("b", { className: "protected" }), el("b", { className: "naive" }))), el("div", {}))));
  }
  charts.forEach((chart, i) => {
    const figure = box.children[i];
    const [protectedNow, naiveNow] = ["protected", "naive"].map((name) => chart.now(state.pages[name].now));
    text(figure.querySelector(".now .protected"), protectedNow);
    text(figure.querySelector(".now .naive"), naiveNow);
    figure.dataset.said = `protected ${protectedNow}, naive ${naiveNow}`;
    draw(chart, figure, state);
  });
}
