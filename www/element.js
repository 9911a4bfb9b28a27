// <glasscage-explanation src="explanation.json">, and functions for documents, links and attributions: element.d.ts has the types.
//
// The element holds the viewer (embed.html next to this file) in a frame, so that styles and scripts of the embedding page do not touch it;
// their messages are those of docs/embedding.md.

import load, { documentOf, fragmentOf, sharesOf, svgOf } from "./viewer.js";

export { documentOf, fragmentOf, sharesOf, svgOf };

const PROTOCOL = 1;
const VIEWER = new URL("embed.html", import.meta.url);
const STYLE = ":host { display: block } iframe { display: block; width: 100%; height: 640px; border: 0 }";
// Attributes that become parameters of the viewer's address.
const OPTIONS = ["hide", "theme", "lang"];
// The title of the frame, and what comes before the reason of a failure.
const TEXTS = {
  en: ["Explanation", "The explanation could not be read: "],
  de: ["Erklärung", "Die Erklärung konnte nicht gelesen werden: "],
  zh: ["解释", "无法读取解释："],
};

let program;

// Loads the program once. Await it before you call the functions. After a failure, the next call tries again.
export function ready() {
  program ??= load().catch(error => {
    program = undefined;
    throw error;
  });
  return program;
}

export class GlasscageExplanation extends HTMLElement {
  static observedAttributes = ["src", ...OPTIONS];
  #frame = document.createElement("iframe");
  #document = null;
  #isReady = false;
  // Whether an explanation is on screen, and whether it is the one that was asked for last.
  #isShown = false;
  #isOpen = false;
  // The chosen sentences, until a document is open.
  #output = null;
  // Number of the last request; answers to earlier requests are ignored.
  #request = 0;

  constructor() {
    super();
    const style = document.createElement("style");
    style.textContent = STYLE;
    this.attachShadow({ mode: "open" }).append(style, this.#frame);
  }

  connectedCallback() {
    // Set before this file was loaded.
    if (Object.hasOwn(this, "document")) {
      const own = this.document;
      delete this.document;
      this.document = own;
    }
    addEventListener("message", this.#onMessage);
    this.#load();
  }

  disconnectedCallback() {
    removeEventListener("message", this.#onMessage);
    this.#isReady = this.#isShown = this.#isOpen = false;
    this.#frame.removeAttribute("src");
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
    this.#output = output;
    this.#postOutput();
  }

  #postOutput() {
    if (!this.#isOpen || this.#output === null) return;
    this.#post({ type: "choose", output: this.#output });
    this.#output = null;
  }

  #load() {
    const address = new URL(VIEWER);
    for (const name of OPTIONS) if (this.hasAttribute(name)) address.searchParams.set(name, this.getAttribute(name));
    this.#frame.title = this.#texts()[0];
    this.#isReady = this.#isShown = this.#isOpen = false;
    // Another address in a frame that has one would be a step of the page's history.
    if (this.#frame.hasAttribute("src")) this.#frame.contentWindow.location.replace(address);
    else this.#frame.src = address;
  }

  // In the language that the frame has.
  #texts() {
    return TEXTS[(this.getAttribute("lang") ?? navigator.language).slice(0, 2)] ?? TEXTS.en;
  }

  async #open() {
    if (!this.#isReady) return;
    // What is chosen from now on is chosen in the new document.
    this.#isOpen = false;
    const request = ++this.#request;
    const src = this.getAttribute("src");
    try {
      // As text, because an object may contain values that cannot be cloned.
      const own = typeof this.#document === "object" ? this.#document && JSON.stringify(this.#document) : this.#document;
      const document = own ?? (src && (await text(src)));
      if (request !== this.#request) return;
      if (document) this.#post({ type: "open", document });
      else this.#isOpen = this.#isShown;
    } catch (error) {
      if (request !== this.#request) return;
      this.#isOpen = this.#isShown;
      this.#dispatch("refused", { problem: this.#texts()[1] + error.message });
    }
  }

  #post(message) {
    this.#frame.contentWindow?.postMessage({ glasscage: PROTOCOL, ...message }, VIEWER.origin);
  }

  #onMessage = event => {
    if (event.source !== this.#frame.contentWindow || event.origin !== VIEWER.origin || event.data?.glasscage !== PROTOCOL) return;
    const { glasscage, type, ...detail } = event.data;
    if (type === "ready") {
      this.#isReady = true;
      this.#post({ type: "hello" });
      this.#open();
    }
    // None where the element is not laid out, as on a slide that is not shown.
    if (type === "height" && detail.pixels > 0) this.#frame.style.height = `${detail.pixels}px`;
    if (type === "opened") {
      this.#isShown = this.#isOpen = true;
      this.#postOutput();
    }
    if (type === "refused") this.#isOpen = this.#isShown;
    if (["opened", "chosen", "refused"].includes(type)) this.#dispatch(type, detail);
  };

  #dispatch(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

async function text(src) {
  const response = await fetch(new URL(src, document.baseURI));
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.text();
}

customElements.define("glasscage-explanation", GlasscageExplanation);
