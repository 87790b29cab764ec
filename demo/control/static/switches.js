// The switches, and the command that does the same as each of them.
import { $, el, text } from "./dom.js";

const curl = (path, body) => `curl -X POST ${location.origin}${path}` + (body ? ` -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'` : "");

// command shows a line that can be copied.
function command(box, line) {
  if (!box.firstChild) {
    const copy = el("button", { type: "button", className: "copy" }, "Copy");
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(box.querySelector("code").textContent);
      text(copy, "Copied");
      setTimeout(() => text(copy, "Copy"), 1500);
    });
    box.append(el("code", {}), copy);
  }
  text(box.querySelector("code"), line);
  box.lastChild.setAttribute("aria-label", `Copy the command ${line.slice(0, 60)}`);
}

async function post(path, body) {
  const said = $("answer");
  text(said, "");
  try {
    const options = { method: "POST" };
    if (body) Object.assign(options, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const response = await fetch(path, options);
    if (!response.ok) text(said, (await response.json()).detail);
  } catch {
    text(said, "The control room does not answer.");
  }
}

const isPlan = (places) => places[$("place").selectedIndex].edges[0] === "recommendations-plan";

function chosen(places) {
  const kind = document.querySelector("input[name=kind]:checked").value;
  if (isPlan(places)) return { for: $("for").value };
  const order = { edges: places[$("place").selectedIndex].edges, kind, for: $("for").value };
  if (kind === "latency") order.latency = $("latency").value;
  return order;
}

function fill(choices) {
  choices.places = choices.places.filter((p) => choices.plan || p.edges[0] !== "recommendations-plan");
  $("place").append(...choices.places.map((p) => el("option", { value: p.name }, `${p.name} (${p.from} → ${p.to})`)));
  $("place").value = choices.places[1]?.name ?? choices.places[0].name;
  $("kinds").append(...choices.kinds.map((k, i) => el("label", {},
    el("input", { type: "radio", name: "kind", value: k.name, checked: i === 0 }),
    el("span", {}, el("strong", {}, k.name), el("small", {}, k.sentence.replace(", by -latency", ""))))));
  $("incidents").append(...choices.incidents.map((i) => {
    const box = el("div", { className: "command" });
    command(box, curl(`/api/incidents/${i.name}`));
    const start = el("button", { type: "button", "data-incident": i.name }, "Play it");
    start.addEventListener("click", () => post(`/api/incidents/${i.name}`));
    return el("div", { className: "incident" }, el("p", {}, i.sentence), start, box);
  }));
  text($("rate"), String(choices.visitors_per_second));
}

export async function setUp() {
  const choices = await (await fetch("/api/choices")).json();
  fill(choices);
  const form = $("break");
  const refresh = () => {
    const order = chosen(choices.places), plan = isPlan(choices.places);
    $("late").hidden = order.kind !== "latency";
    $("kinds").hidden = plan; // a plan can only flip
    $("cure").hidden = !plan;
    command(document.querySelector("[data-command=break]"), curl(plan ? "/api/plan" : "/api/faults", order));
  };
  form.addEventListener("change", refresh);
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    post(isPlan(choices.places) ? "/api/plan" : "/api/faults", chosen(choices.places));
  });
  $("analyze").addEventListener("click", () => post("/api/plan/analyze"));
  command(document.querySelector("[data-command=analyze]"), curl("/api/plan/analyze"));
  $("mend").addEventListener("click", () => post("/api/mend"));
  command(document.querySelector("[data-command=mend]"), curl("/api/mend"));
  refresh();
}
