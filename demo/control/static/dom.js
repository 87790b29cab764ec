// Small helpers. Text goes in as text, never as HTML.
export const $ = (id) => document.getElementById(id);

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// text changes a node only when there is something new: what has not changed is not announced again.
export function text(node, value) {
  if (node.textContent !== value) node.textContent = value;
}

// once rebuilds the inside of a node only when the data it is made from has changed.
export function once(node, data, build) {
  const key = JSON.stringify(data);
  if (node.dataset.made === key) return;
  node.dataset.made = key;
  node.replaceChildren(...build(data));
}

export function human(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function seconds(s) {
  return s < 60 ? `${Math.ceil(s)} s` : `${Math.floor(s / 60)} min ${Math.ceil(s % 60)} s`;
}
