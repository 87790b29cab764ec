// Both pages as they look now. A new copy is loaded behind the old one and comes forward when it is there, so nothing flickers.
import { el, human, text } from "./dom.js";

const wide = 1000, high = 1240; // of the page in the frame, in its own pixels

function load(frame, page, version) {
  if (frame.dataset.version === version) return;
  frame.dataset.version = version;
  const next = el("iframe", { title: `The ${page} page as it looks now`, tabIndex: -1, width: wide, height: high, className: "coming" });
  next.setAttribute("sandbox", "");
  next.addEventListener("load", () => {
    if (frame.dataset.version !== version) return next.remove();
    for (const old of frame.querySelectorAll("iframe")) if (old !== next) old.remove();
    next.className = "";
  });
  next.src = `/frames/${page}/?v=${version}`;
  frame.prepend(next);
}

const parts = { recommendations: "recommendations", stock: "the stock count", price: "the price", catalogue: "the catalogue" };

function stateOf(shot) {
  if (!shot.version && shot.waiting_s < 2) return ["", "Asking …"];
  if (shot.waiting_s >= 1) return ["bad", `${shot.trouble && shot.trouble !== "no answer" ? `Trouble: ${shot.trouble}. ` : ""}No answer yet after ${Math.floor(shot.waiting_s)} s`];
  if (shot.degraded) {
    const lacks = shot.degraded.split(",").map((p) => parts[p.trim()] ?? p.trim()).join(", ");
    return ["warn", `Degraded, in ${human(shot.took_ms)}: ${lacks} not live, and the page says so`];
  }
  if (shot.took_ms > 1000) return ["warn", `Whole, but only after ${human(shot.took_ms)}`];
  return ["good", `Whole, in ${human(shot.took_ms)}`];
}

function fit(frame) {
  frame.style.setProperty("--scale", frame.clientWidth / wide);
}
const observer = new ResizeObserver((all) => all.forEach((e) => fit(e.target)));

export function showFrames(pages) {
  for (const article of document.querySelectorAll("[data-page]")) {
    const name = article.dataset.page, page = pages[name], frame = article.querySelector(".frame");
    if (!frame.inert) {
      frame.inert = true;
      observer.observe(frame);
    }
    const [mood, said] = stateOf(page.shot);
    article.dataset.mood = mood;
    text(article.querySelector(".state"), said);
    if (page.shot.version) load(frame, name, page.shot.version);
    const over = article.querySelector(".over");
    over.hidden = mood !== "bad";
    text(over, mood === "bad" ? `No answer yet after ${Math.floor(page.shot.waiting_s)} s. A customer looks at an empty tab.` : "");
    const link = article.querySelector(".open");
    link.hidden = !page.public;
    if (page.public) Object.assign(link, { href: page.public, target: "_blank", rel: "noopener" });
  }
}
