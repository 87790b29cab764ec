// The page is a picture of the server's state: each event holds all of it, so a visitor who comes late sees what all others see.
import { $, el, once, seconds, text } from "./dom.js";
import { showCharts } from "./charts.js";
import { showFrames } from "./frames.js";
import { showGuards } from "./guards.js";
import { setUp } from "./switches.js";

const moods = { well: "All is well", broken: "Broken now", healing: "Healing", missing: "Something is missing", unknown: "Unknown" };

function showStory(story) {
  $("story").dataset.mood = story.mood;
  text($("mood"), moods[story.mood] ?? "");
  text($("headline"), story.headline);
  text($("told-protected"), story.protected);
  text($("told-naive"), story.naive);
  $("hurt-box").hidden = !story.hurt;
  text($("hurt"), story.hurt);
  text($("why-title"), story.mood === "well" ? "What this is" : ["healing", "missing"].includes(story.mood) ? "What happens now" : "What protects the page");
  text($("why"), story.why);
}

function showBroken(broken) {
  const list = broken.map((b) => [b.place, b.kind, b.edge, b.seconds < 0 ? "without an end" : seconds(b.seconds)]);
  once($("broken"), list, () => list.length === 0
    ? [el("li", { className: "note" }, "Nothing.")]
    : list.map(([place, kind, edge, left]) => el("li", {},
      el("span", {}, el("strong", {}, place), ` ${kind}`, el("br"), el("small", {}, edge)), el("span", { className: "left" }, left))));
}

function showIncident(playing) {
  $("playing").hidden = !playing;
  for (const b of document.querySelectorAll("button[data-incident]")) b.disabled = Boolean(playing?.running);
  if (!playing) return;
  text($("playing-title"), playing.running ? `${playing.title}, for ${Math.round(playing.seconds)} s now` : `${playing.title} is over`);
  once($("playing-said"), [playing.running, playing.sentence, playing.report], () => playing.running ? ["It is being played. Mend everything stops it."]
    : [playing.sentence, " ", ...(playing.report ? [el("a", { href: playing.report }, "Read the report")] : [])]);
  const lines = $("playing-lines");
  text(lines, (playing.lines ?? []).join("\n"));
  lines.hidden = !playing.lines?.length;
}

function showHappenings(all) {
  once($("happenings"), all ?? [], (list) => list.length === 0 ? [el("li", { className: "note" }, "Nothing so far.")]
    : list.map((h) => el("li", {}, el("time", { dateTime: h.at }, new Date(h.at).toLocaleTimeString("en-GB")), ` ${h.what}`)));
}

function show(state) {
  showStory(state.story);
  showBroken(state.broken);
  showFrames(state.pages);
  showCharts(state);
  showGuards(state.services);
  showIncident(state.incident);
  showHappenings(state.happenings);
  text($("line"), state.visitors > 1 ? `Live, ${state.visitors} are watching` : "Live");
  document.body.dataset.live = "yes";
}

function listen() {
  const events = new EventSource("/api/events"); // comes back by itself when the line was cut
  events.onmessage = (e) => show(JSON.parse(e.data));
  events.onerror = () => {
    document.body.dataset.live = "no";
    text($("line"), "The line to the control room is cut. What you see is old. Trying again …");
  };
}

await setUp();
listen();
