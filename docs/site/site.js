// Marks the current page in the contents, and searches the index that mdBook writes.

// mdBook's index, which loads after this file, adds to this object.
window.search = {};

const root = document.currentScript.dataset.root;
const MAX_RESULTS = 20;
// Characters of text around a hit.
const CONTEXT = 90;

const contents = document.getElementById("contents");
for (const link of contents.querySelectorAll("a")) {
  if (link.href === location.href.split(/[?#]/)[0]) link.setAttribute("aria-current", "page");
}
contents.open = matchMedia("(min-width: 861px)").matches;

const field = document.getElementById("search-field");
const results = document.getElementById("results");
let index;

field.addEventListener("input", () => {
  const words = field.value.trim();
  results.hidden = words === "";
  if (words !== "") show(words);
});
addEventListener("keydown", event => {
  if (event.key === "Escape") results.hidden = true;
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  }
});

function show(words) {
  index ??= elasticlunr.Index.load(window.search.index);
  const found = index.search(words, { ...window.search.search_options, bool: "AND", expand: true }).slice(0, MAX_RESULTS);
  const items = found.map(({ ref, doc }) => {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.href = root + window.search.doc_urls[ref];
    link.textContent = doc.breadcrumbs.split(" » ").filter((part, i, all) => part !== all[i - 1]).join(" » ");
    item.appendChild(document.createElement("small")).textContent = around(doc.body, words);
    return item;
  });
  if (items.length === 0) {
    items.push(document.createElement("li"));
    items[0].textContent = "Nothing found.";
  }
  results.replaceChildren(...items);
}

// The text around the first word that is found.
function around(text, words) {
  const places = words.toLowerCase().split(/\s+/).map(word => text.toLowerCase().indexOf(word)).filter(place => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - CONTEXT);
  return (start > 0 ? "…" : "") + text.slice(start, start + 2 * CONTEXT);
}
