// <glasscage-explanation src="explanation.json">, and functions for documents, links and attributions: element.d.ts has the types.
//
// The element holds the viewer (embed.html beside this file) in a frame, so that styles and scripts of the page around do not touch it,
// and speaks with it as docs/embedding.md says.

import load, { documentOf, fragmentOf, sharesOf, svgOf } from "./viewer.js";

export { documentOf, fragmentOf, sharesOf, svgOf };

const PROTOCOL = 1;
const VIEWER = new URL("embed.html", import.meta.url);
const STYLE = ":host { display: block } iframe { display: block; width: 100%; height: 640px; border: 0 }";
// What goes into the viewer's address.
const OPTIONS = ["hide", "theme", "lang"];

let program;

// Loads the program, once: before that none of the functions works.
export function ready() {
  program ??= load();
  return program;
}

export class GlasscageExplanation extends HTMLElement {
  static observedAttributes = ["src", ...OPTIONS];
  #frame = document.createElement("iframe");
  #document = null;
  #isReady = false;
  // Of the document that was asked for last.
  #request = 0;

  constructor() {
    super();
    const style = document.createElement("style");
    style.textContent = STYLE;
    this.#frame.title = "Explanation";
    this.attachShadow({ mode: "open" }).append(style, this.#frame);
  }

  connectedCallback() {
    addEventListener("message", this.#hear);
    this.#load();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#hear);
    this.#isReady = false;
  }

  attributeChangedCallback(name) {
    if (!this.isConnected) return;
    if (name === "src") this.#open();
    else this.#load();
  }

  get document() {
    return this.#document;
  }

  set document(value) {
    this.#document = value;
    this.#open();
  }

  choose(output) {
    this.#say({ type: "choose", output });
  }

  #load() {
    const address = new URL(VIEWER);
    for (const name of OPTIONS) if (this.hasAttribute(name)) address.searchParams.set(name, this.getAttribute(name));
    this.#isReady = false;
    this.#frame.src = address;
  }

  async #open() {
    if (!this.#isReady) return;
    const request = ++this.#request;
    const src = this.getAttribute("src");
    try {
      const document = this.#document ?? (src && (await text(src)));
      if (document && request === this.#request) this.#say({ type: "open", document });
    } catch (error) {
      if (request === this.#request) this.#tell("refused", { problem: `${src} did not come: ${error.message}` });
    }
  }

  #say(message) {
    this.#frame.contentWindow?.postMessage({ glasscage: PROTOCOL, ...message }, VIEWER.origin);
  }

  #hear = event => {
    if (event.source !== this.#frame.contentWindow || event.origin !== VIEWER.origin || event.data?.glasscage !== PROTOCOL) return;
    const { glasscage, type, ...detail } = event.data;
    if (type === "ready") {
      this.#isReady = true;
      this.#say({ type: "hello" });
      this.#open();
    }
    if (type === "height") this.#frame.style.height = `${detail.pixels}px`;
    if (["opened", "chosen", "refused"].includes(type)) this.#tell(type, detail);
  };

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

async function text(src) {
  const response = await fetch(new URL(src, document.baseURI));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.text();
}

customElements.define("glasscage-explanation", GlasscageExplanation);
