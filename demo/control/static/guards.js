// Every dependency of the five services: its breaker, its limit, its retry budget, and the pools of connections.
import { $, el, once } from "./dom.js";

const words = { closed: "closed", open: "open", half_open: "half-open" };

function breaker(d) {
  if (!d.has_breaker) return el("span", { className: "note" }, "none");
  const next = d.breaker === "open" && d.retry_in > 0 ? `, ${Math.ceil(d.retry_in)} s` : "";
  const chip = el("span", { className: `chip ${d.breaker}`, title: d.policy }, words[d.breaker] + (d.held ? ", forced" : next));
  return d.breaker === "closed" || !d.reason ? chip : el("span", {}, chip, el("small", { className: "reason" }, d.reason));
}

function meter(used, most) {
  if (!most) return el("span", {}, `${used}`);
  return el("span", { className: "use" }, `${used} of ${most}`, el("progress", { max: most, value: Math.min(used, most), "aria-hidden": "true" }));
}

function row(service, d) {
  return el("tr", { "data-guard": `${service}/${d.name}` }, el("th", { scope: "row" }, d.name), el("td", {}, breaker(d)), el("td", {}, meter(d.in_flight, d.limit)),
    el("td", {}, d.has_budget ? String(d.budget_left) : "–"));
}

function card(s) {
  if (s.silent) return [el("h3", {}, s.name), el("p", { className: "silent" }, "It does not answer.")];
  const head = ["Depends on", "Breaker", "In use", "Retries left"].map((h) => el("th", { scope: "col" }, h));
  const parts = [el("h3", {}, s.name), el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...s.dependencies.map((d) => row(s.name, d))))];
  if (s.pools.length) {
    parts.push(el("p", { className: "pools" }, "Connections in use: ", ...s.pools.flatMap((p, i) => [i ? ", " : "", el("span", {}, `${p.name} ${p.used}${p.max ? ` of ${p.max}` : ""}`)])));
  }
  return parts;
}

export function showGuards(services) {
  const box = $("guards");
  while (box.children.length < services.length) box.append(el("section", { className: "guard" }));
  services.forEach((s, i) => once(box.children[i], s, () => card(s)));
}
