// A cell of a notebook: the picture at once, and the viewer in its place where the cell is in view.
//
// The viewer is explanation.html of a built page, in a frame without an origin; the messages are those of docs/embedding.md.
// Python sends it once for all cells of a notebook's page, and only one of them holds a frame at a time: the others show the picture.

const PROTOCOL = 1;
// Frames at a time. Each holds a program of its own, of some 12 MB.
const MOST_FRAMES = 1;
const MILLIS_IN_VIEW = 150;
// Whether an answer may still come, of a kernel that has not been restarted in between.
const MILLIS_FOR_AN_ANSWER = 20_000;
// A page of no origin, which is whatever the page around it makes of it. The attribute `sandbox` would also keep it from opening windows,
// but gives it a process of its own in Chromium, of 13 MB and more; the viewer's policy lets no script but its own run.
const EMPTY = `data:text/html,${encodeURIComponent(`<!doctype html><script>
  onmessage = ({ source, data }) => {
    if (source !== parent) return;
    document.open();
    document.write(data);
    document.close();
  };
  parent.postMessage({ glasscage: ${PROTOCOL}, type: "empty" }, "*");
</script>`)}`;
// Of the viewer, whichever sentence it explains.
const TITLE = "An explanation of an answer, sentence by sentence";
const STYLE = `
  .cell { position: relative; min-width: 0 }
  .picture { max-width: 100%; min-height: 2rem; cursor: pointer }
  .picture img { display: block; width: 100%; height: auto }
  .picture img:not([src]) { display: none }
  button { position: absolute; inset: 8px 8px auto auto; font: 13px system-ui, sans-serif; opacity: 0 }
  .cell:hover button, button:focus, .cell:not(.drawn) button { opacity: 1 }
  iframe { display: block; width: 100%; height: 640px; border: 0 }
  .cell:not(.open) iframe { position: absolute; inset: 0 0 auto; visibility: hidden }
  .cell.open :is(.picture, button) { display: none }
`;

// What the cells of a page share, whichever of them was rendered first: viewers by their hash, and the cells with a frame, oldest first.
const shared = (globalThis[Symbol.for("glasscage.widget.1")] ??= { viewers: new Map(), live: [] });

class Viewer {
  asked = -Infinity;
  #page = Promise.withResolvers?.() ?? withResolvers();

  static of(hash) {
    if (!shared.viewers.has(hash)) shared.viewers.set(hash, new Viewer());
    return shared.viewers.get(hash);
  }

  arrived(bytes) {
    this.#page.resolve(new Blob([bytes]));
  }

  // Its page, once a cell's kernel has sent it.
  async page(model) {
    if (performance.now() - this.asked > MILLIS_FOR_AN_ANSWER) {
      this.asked = performance.now();
      model.send({ type: "viewer" });
    }
    const page = await this.#page.promise;
    this.asked = Infinity;
    return page.text();
  }
}

class Cell {
  isInView = false;
  #model;
  #element = make("div", { className: "cell" });
  #picture = make("div", { className: "picture" });
  #image = make("img", { alt: TITLE });
  #button = make("button", { type: "button", textContent: "Explore" });
  // The picture that the notebook keeps.
  #kept = null;
  #frame = null;
  #page = null;
  // The picture's address; what it shows, and what the viewer explains, as JSON.
  #address = null;
  #drawn = null;
  #said = null;
  #observer = new IntersectionObserver(entries => this.#look(entries.at(-1).isIntersecting));

  constructor(model, place) {
    this.#model = model;
    const printed = `.${CSS.escape(model.get("_place"))}`;
    // The picture that the notebook keeps is not shown twice; it comes back when this cell goes.
    const style = make("style", { textContent: `${printed} { display: none }` });
    const root = make("div", {});
    root.attachShadow({ mode: "open" }).append(make("style", { textContent: STYLE }), this.#element);
    this.#picture.append(this.#image);
    this.#element.append(this.#picture, this.#button);
    place.append(style, root);
    this.#picture.onclick = this.#button.onclick = () => this.open();
    this.#kept = document.querySelector(`${printed} img`);
    // Another view of the same widget may have taken it.
    if (this.#kept?.hasAttribute("src")) {
      this.#image.alt = this.#kept.alt;
      this.#draw(this.#kept.src, this.#kept.dataset);
      this.#kept.removeAttribute("src");
    }
    else this.#model.send({ type: "picture" });
    this.#model.on("msg:custom", this.#onAnswer);
    this.#model.on("change:output", this.#onOutput);
    addEventListener("message", this.#onMessage);
    this.#observer.observe(this.#element);
  }

  close() {
    this.rest();
    if (this.#kept && this.#address) {
      this.#kept.src = this.#address;
      this.#kept.alt = this.#image.alt;
      this.#kept.dataset.output = this.#drawn;
    }
    this.#observer.disconnect();
    removeEventListener("message", this.#onMessage);
    this.#model.off("msg:custom", this.#onAnswer);
    this.#model.off("change:output", this.#onOutput);
  }

  // Puts the viewer in the place of the picture.
  async open() {
    if (this.#frame) return;
    if (!shared.live.includes(this)) shared.live.push(this);
    while (shared.live.length > MOST_FRAMES) (shared.live.find(cell => !cell.isInView) ?? shared.live[0]).rest();
    const page = await Viewer.of(this.#model.get("_viewer")).page(this.#model);
    if (!shared.live.includes(this) || this.#frame) return;
    const look = `data-theme="${themeAround(this.#element)}" data-hide="${this.#model.get("_hide").replace(/[^a-z]+/g, " ").trim()}"`;
    this.#page = page.replace("<html ", `<html ${look} `);
    this.#frame = make("iframe", { title: TITLE, src: EMPTY });
    this.#element.append(this.#frame);
  }

  // Puts the picture in the place of the viewer, as high, so that nothing moves.
  rest() {
    const at = shared.live.indexOf(this);
    if (at >= 0) shared.live.splice(at, 1);
    if (this.#element.matches(".open")) this.#element.style.minHeight = `${this.#element.offsetHeight}px`;
    this.#element.classList.remove("open");
    this.#frame?.remove();
    this.#frame = this.#page = this.#said = null;
    this.#redraw();
  }

  // A picture that nobody sees takes no memory.
  #look(isInView) {
    this.isInView = isInView;
    this.#show();
    if (isInView) setTimeout(() => this.isInView && hasRoom() && this.open(), MILLIS_IN_VIEW);
  }

  #show() {
    if (this.isInView && this.#address) this.#image.src = this.#address;
    else this.#image.removeAttribute("src");
  }

  #draw(address, { output, width, height }) {
    if (this.#address?.startsWith("blob:")) URL.revokeObjectURL(this.#address);
    [this.#address, this.#drawn] = [address, output];
    Object.assign(this.#picture.style, { width: `${width}px`, aspectRatio: `${width} / ${height}` });
    this.#element.classList.add("drawn");
    this.#show();
  }

  #redraw() {
    if (!this.#frame && this.#drawn !== this.#output) this.#model.send({ type: "picture" });
  }

  get #output() {
    return JSON.stringify(this.#model.get("output"));
  }

  #onAnswer = ({ type, svg, alt, ...shown }, buffers) => {
    if (type === "viewer") Viewer.of(this.#model.get("_viewer")).arrived(buffers[0]);
    if (type === "picture" && svg) {
      this.#image.alt = alt;
      this.#draw(URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })), shown);
    }
  };

  #onOutput = () => {
    if (this.#said === null) this.#redraw();
    else if (this.#said !== this.#output) this.#post({ type: "choose", output: this.#model.get("output") });
  };

  // The frame has an origin that cannot be named.
  #post(message) {
    this.#frame?.contentWindow?.postMessage({ glasscage: PROTOCOL, ...message }, "*");
  }

  #onMessage = event => {
    if (!this.#frame || event.source !== this.#frame.contentWindow || event.data?.glasscage !== PROTOCOL) return;
    const { type, pixels, output } = event.data;
    // Again, where the notebook has moved the cell.
    if (type === "empty") this.#frame.contentWindow.postMessage(this.#page, "*");
    if (type === "ready") {
      this.#said = null;
      this.#post({ type: "hello" });
      this.#post({ type: "open", document: { ...JSON.parse(this.#model.get("_document")), output: this.#model.get("output") } });
    }
    if (type === "height" && pixels > 0) this.#frame.style.height = `${pixels}px`;
    if (["opened", "refused"].includes(type)) {
      this.#element.classList.add("open");
      this.#element.style.minHeight = "";
    }
    if (type === "opened") {
      this.#said = JSON.stringify(output);
      this.#onOutput();
    }
    if (type === "chosen") {
      this.#said = JSON.stringify(output);
      this.#model.set("output", output);
      this.#model.save_changes();
    }
  };
}

function hasRoom() {
  return shared.live.length < MOST_FRAMES || shared.live.some(cell => !cell.isInView);
}

function make(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

function withResolvers() {
  const made = {};
  made.promise = new Promise(resolve => (made.resolve = resolve));
  return made;
}

// Light text stands on a dark ground, whatever the notebook calls its theme.
function themeAround(element) {
  const [red, green, blue] = getComputedStyle(element).color.match(/[\d.]+/g).map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue > 140 ? "dark" : "light";
}

function render({ model, el }) {
  const cell = new Cell(model, el);
  return () => cell.close();
}

export default { render };
