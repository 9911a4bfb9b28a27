// A notebook cell. It shows the picture at once, and replaces it by the viewer when the cell is visible.
//
// The viewer is explanation.html of a built page, in a frame without an origin. The messages are those of docs/embedding.md. Python sends
// the viewer once for all cells of a notebook page, even if several cells request it while the kernel is busy. Only one cell at a time has
// a frame; the others show the picture.

const PROTOCOL = 1;
// Maximum number of frames. Each runs its own program, of about 12 MB.
const MAX_FRAMES = 1;
const MILLIS_IN_VIEW = 150;
// A page without an origin, which the embedding page fills. The attribute `sandbox` would also prevent new windows, but in Chromium it
// needs another process of 13 MB or more. The viewer's policy allows only its own script.
const EMPTY = `data:text/html,${encodeURIComponent(`<!doctype html><script>
  onmessage = ({ source, data }) => {
    if (source !== parent) return;
    document.open();
    document.write(data);
    document.close();
  };
  parent.postMessage({ glasscage: ${PROTOCOL}, type: "empty" }, "*");
</script>`)}`;
// Title of the viewer, for every explained sentence.
const TITLE = "An explanation of an answer, sentence by sentence";
const STYLE = `
  .cell { position: relative; min-width: 0 }
  .picture { max-width: 100%; min-height: 2rem; cursor: pointer }
  .picture img { display: block; width: 100%; height: auto }
  .picture img:not([src]) { display: none }
  button { position: absolute; inset: 8px 8px auto auto; font: 13px system-ui, sans-serif; opacity: 0 }
  .waiting button { opacity: 1 }
  .cell:hover button, button:focus, .cell:not(.drawn) button { opacity: 1 }
  iframe { display: block; width: 100%; height: 640px; border: 0 }
  .cell:not(.open) iframe { position: absolute; inset: 0 0 auto; visibility: hidden }
  .cell.open :is(.picture, button) { display: none }
`;

// Data that all cells of a page share: viewers by hash, the cells with a frame, oldest first, and a name of the page.
const shared = (globalThis[Symbol.for("glasscage.widget.2")] ??= { viewers: new Map(), live: [], page: `${Math.random()}` });
const EXPLORE = "Explore";
const WAITING = "Waiting for the kernel \u2026";

class Viewer {
  // Places of the widgets that have requested the viewer.
  #askers = new Set();
  #hasArrived = false;
  #page = Promise.withResolvers?.() ?? withResolvers();

  static of(hash) {
    if (!shared.viewers.has(hash)) shared.viewers.set(hash, new Viewer());
    return shared.viewers.get(hash);
  }

  arrived(bytes) {
    this.#hasArrived = true;
    this.#page.resolve(new Blob([bytes]));
  }

  // Returns the viewer's page. Each widget requests it at most once, because a kernel that is restarted does not know earlier widgets. Of
  // the requests of a notebook page, a kernel answers only the first.
  async page(model) {
    const place = model.get("_place");
    if (!this.#hasArrived && !this.#askers.has(place)) {
      this.#askers.add(place);
      model.send({ type: "viewer", page: shared.page });
    }
    return (await this.#page.promise).text();
  }
}

class Cell {
  isInView = false;
  #model;
  #element = make("div", { className: "cell" });
  #picture = make("div", { className: "picture" });
  #image = make("img", { alt: TITLE });
  #button = make("button", { type: "button", textContent: EXPLORE });
  // The picture that the notebook stores.
  #kept = null;
  #frame = null;
  #page = null;
  // The address of the picture, and the output that picture and viewer explain, as JSON.
  #address = null;
  #drawn = null;
  #said = null;
  #timer = 0;
  #observer = new IntersectionObserver(entries => this.#look(entries.at(-1).isIntersecting));

  constructor(model, place) {
    this.#model = model;
    const printed = `.${CSS.escape(model.get("_place"))}`;
    // Hide the picture that the notebook stores, to show it only once. It is visible again when this cell closes.
    const style = make("style", { textContent: `${printed} { display: none }` });
    const root = make("div", {});
    root.attachShadow({ mode: "open" }).append(make("style", { textContent: STYLE }), this.#element);
    this.#picture.append(this.#image);
    this.#element.append(this.#picture, this.#button);
    place.append(style, root);
    this.#picture.onclick = this.#button.onclick = () => this.open();
    this.#kept = document.querySelector(`${printed} img`);
    // Another view of the same widget may have taken this picture.
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
    this.isInView = false;
    clearTimeout(this.#timer);
    this.#observer.disconnect();
    this.rest();
    if (this.#kept && this.#address) {
      this.#kept.src = this.#address;
      this.#kept.alt = this.#image.alt;
      this.#kept.dataset.output = this.#drawn;
    }
    else this.#revoke();
    removeEventListener("message", this.#onMessage);
    this.#model.off("msg:custom", this.#onAnswer);
    this.#model.off("change:output", this.#onOutput);
  }

  // Replaces the picture by the viewer.
  async open() {
    if (this.#frame) return;
    if (!shared.live.includes(this)) shared.live.push(this);
    while (shared.live.length > MAX_FRAMES) (shared.live.find(cell => !cell.isInView) ?? shared.live[0]).rest();
    this.#wait(true);
    const page = await Viewer.of(this.#model.get("_viewer")).page(this.#model);
    this.#wait(false);
    if (!shared.live.includes(this) || this.#frame) return;
    const look = `data-theme="${themeAround(this.#element)}" data-hide="${this.#model.get("_hide").replace(/[^a-z]+/g, " ").trim()}"`;
    this.#page = page.replace("<html ", `<html ${look} `);
    this.#frame = make("iframe", { title: TITLE, src: EMPTY });
    this.#element.append(this.#frame);
  }

  // Shows that the kernel has not sent the viewer yet, for example because it runs another cell.
  #wait(isWaiting) {
    this.#element.classList.toggle("waiting", isWaiting);
    this.#element.ariaBusy = isWaiting;
    this.#button.textContent = isWaiting ? WAITING : EXPLORE;
  }

  // Replaces the viewer by the picture. Keeps the height, so that nothing moves.
  rest() {
    const at = shared.live.indexOf(this);
    if (at >= 0) shared.live.splice(at, 1);
    if (this.#element.matches(".open")) this.#element.style.minHeight = `${this.#element.offsetHeight}px`;
    this.#element.classList.remove("open");
    this.#wait(false);
    this.#frame?.remove();
    this.#frame = this.#page = this.#said = null;
    this.#redraw();
  }

  // Unloads an invisible picture to save memory.
  #look(isInView) {
    this.isInView = isInView;
    this.#show();
    clearTimeout(this.#timer);
    if (isInView) this.#timer = setTimeout(() => this.isInView && hasRoom() && this.open(), MILLIS_IN_VIEW);
  }

  #show() {
    if (this.isInView && this.#address) this.#image.src = this.#address;
    else this.#image.removeAttribute("src");
  }

  #draw(address, { output, width, height }) {
    this.#revoke();
    [this.#address, this.#drawn] = [address, output];
    Object.assign(this.#picture.style, { width: `${width}px`, aspectRatio: `${width} / ${height}` });
    this.#element.classList.add("drawn");
    this.#show();
  }

  #revoke() {
    if (this.#address?.startsWith("blob:")) URL.revokeObjectURL(this.#address);
  }

  #redraw() {
    if (!this.#frame && this.#drawn !== this.#output) this.#model.send({ type: "picture" });
  }

  get #output() {
    return JSON.stringify(this.#model.get("output"));
  }

  #onAnswer = ({ type, svg, alt, ...shown }) => {
    if (type === "picture" && svg) {
      this.#image.alt = alt;
      this.#draw(URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })), shown);
    }
  };

  #onOutput = () => {
    if (this.#said === null) this.#redraw();
    else if (this.#said !== this.#output) this.#post({ type: "choose", output: this.#model.get("output") });
  };

  // Use any target origin ("*"), because the frame has an opaque origin.
  #post(message) {
    this.#frame?.contentWindow?.postMessage({ glasscage: PROTOCOL, ...message }, "*");
  }

  #onMessage = event => {
    if (!this.#frame || event.source !== this.#frame.contentWindow || event.data?.glasscage !== PROTOCOL) return;
    const { type, pixels, output } = event.data;
    // The frame also sends this after the notebook has moved the cell.
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
  return shared.live.length < MAX_FRAMES || shared.live.some(cell => !cell.isInView);
}

function make(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

function withResolvers() {
  const made = {};
  made.promise = new Promise(resolve => (made.resolve = resolve));
  return made;
}

// Light text implies a dark background, regardless of the notebook's name for its theme.
function themeAround(element) {
  const [red, green, blue] = getComputedStyle(element).color.match(/[\d.]+/g).map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue > 140 ? "dark" : "light";
}

// Runs once for each widget, so that an answer also arrives if its cell was closed.
function initialize({ model }) {
  model.on("msg:custom", ({ type }, buffers) => type === "viewer" && Viewer.of(model.get("_viewer")).arrived(buffers[0]));
}

function render({ model, el }) {
  const cell = new Cell(model, el);
  return () => cell.close();
}

export default { initialize, render };
