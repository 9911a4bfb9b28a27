// Measurements in a browser. Each function returns facts, and sections {name, begin, end, ..} with times in Unix milliseconds. The test
// reads the CPU time of the sections from the operating system and sums those with the same name.
import { text } from "./text.js";

const now = () => performance.timeOrigin + performance.now();
const MODEL = new URL("model.gguf", location.href).href;
const PREFILLS = 3;
/// Decoding stops after this time in milliseconds, at this many tokens in all, or after this many generations.
const DECODE_MILLIS = 6000;
const DECODE_TOKENS = 64;
const DECODE_RUNS = 8;

/// Our engine in its worker, with the page's protocol: see src/worker/envelope.rs and src/worker/engine/protocol.rs.
class Engine {
  facts = {};
  id = 0;

  /// `cores`: the number of cores that the engine sees, or nothing for all.
  constructor(cores = "") {
    this.worker = new Worker("./bench-worker.js", { name: `engine ${cores}` });
    this.worker.onerror = (error) => this.fail?.(new Error(error.message));
    this.listening = new Promise((resolve) => (this.listens = resolve));
    this.worker.onmessage = ({ data }) => {
      if (data.heap) this.facts.heap_bytes = data.heap;
      else if (data === "listening") this.listens();
      else if (data === "loading") return;
      else if (data === "incompatible") this.fail?.(new Error("the worker does not understand the benchmark"));
      else this.receive(JSON.parse(data));
    };
  }

  receive({ id, body }) {
    if (id !== this.id) return;
    if (body.Failed) this.fail(new Error(body.Failed.what));
    else this.deliver(body);
  }

  /// Sends a request and calls `take` with every event that answers it, until `take` returns a value.
  async ask(request, take) {
    await this.listening;
    this.id += 1;
    return new Promise((resolve, reject) => {
      this.fail = reject;
      this.deliver = (event) => {
        const result = take(event);
        if (result !== undefined) resolve(result);
      };
      this.post(request);
    });
  }

  cancel() {
    this.post("Cancel");
  }

  post(body) {
    this.worker.postMessage([{ id: this.id, body }, []]);
  }

  async load(backend, has_spare_core = false) {
    const begin = now();
    const options = { backend, tile_shape: null };
    const ready = await this.ask({ Load: { source: { Url: MODEL }, options, has_spare_core } }, (event) => event.Ready);
    return { ready, section: { name: "load", begin, end: now() } };
  }

  /// Generates up to `limit` tokens after `prompt`. Returns the times of the request and of the first and the last token, and the number of
  /// tokens.
  async generate(prompt, limit) {
    const run = { begin: now(), tokens: 0 };
    // The engine caches its last answer. Another seed makes this a new question.
    this.seed = (this.seed ?? 0) + 1;
    await this.ask({ Explain: question(prompt, null, 4 * limit, this.seed) }, (event) => {
      if (event.Progress?.Token !== undefined && !run.enough) {
        run.tokens += 1;
        run.end = now();
        run.first ??= run.end;
        run.enough = run.tokens >= limit || run.end - run.first > DECODE_MILLIS;
        if (run.enough) this.cancel();
      }
      if (event.Progress?.Answered) this.cancel();
      return event === "Stopped" || event.Explained;
    });
    return run;
  }

  /// Explains a given answer.
  async job(prompt, answer) {
    let begin;
    const { document, problem } = await this.ask({ Explain: question(prompt, answer, 1) }, (event) => {
      if (event.Progress?.Answered) begin = now();
      return event.Explained;
    });
    if (problem) throw new Error(problem.what);
    return { document, section: { name: "job", begin, end: now() } };
  }
}

const question = (prompt, answer, max_tokens, seed = 0) => ({
  prompt,
  answer,
  use_template: false,
  sampling: { temperature: 0, top_k: null, top_p: null, seed },
  branches: [],
  max_tokens,
  max_context: null,
  method: "pert",
  unit: "sentence",
  sentence_rule: "punkt",
});

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

async function ours(backend, job, cores) {
  const engine = new Engine(cores);
  const { ready, section } = await engine.load(backend, cores > 1);
  const { prompt, answer } = text(job);
  // Browsers recompile frequently used code, so the first runs do not count.
  await engine.generate(prompt + answer, 2);
  const read = [];
  for (let i = 0; i < PREFILLS; i += 1) read.push(await engine.generate(prompt + answer, 1));
  const decodes = await decoded(engine, prompt + answer);
  const { document, section: explained } = await engine.job(prompt, answer);
  const { heap_bytes } = engine.facts;
  const facts = { backend: ready.backend, notice: ready.notice, heap_bytes, passes: document.method.passes };
  facts.prompt_tokens = sum(document.prompt.tokens);
  facts.answer_tokens = sum(document.generation.tokens);
  facts.sentences = document.prompt.sentences.length + document.generation.sentences.length;
  const tokens = facts.prompt_tokens + facts.answer_tokens;
  const prefills = read.map(({ begin, first }) => ({ name: "prefill", begin, end: first, tokens }));
  return { facts, sections: [section, ...prefills, ...decodes, explained] };
}

/// Generates until there are enough tokens, because some models end their answers soon.
async function decoded(engine, prompt) {
  const runs = [];
  let [tokens, millis] = [0, 0];
  while (tokens < DECODE_TOKENS && millis < DECODE_MILLIS && runs.length < DECODE_RUNS) {
    const { first, end, tokens: more } = await engine.generate(prompt, DECODE_TOKENS);
    if (more < 2) throw new Error("the model ends its answer at once");
    runs.push({ name: "decode", begin: first, end, tokens: more - 1 });
    [tokens, millis] = [tokens + more, millis + end - first];
  }
  return runs;
}

/// The backend that the page would choose.
async function choice() {
  const engine = new Engine();
  const { ready, section } = await engine.load("Auto");
  return { facts: { backend: ready.backend, notice: ready.notice, heap_bytes: engine.facts.heap_bytes }, sections: [section] };
}

async function wllama(job) {
  const { measure } = await import("./wllama.js");
  return measure(MODEL, job, now);
}

async function onnxruntime(provider, job) {
  const { measure } = await import("./onnxruntime.js");
  return measure(provider, job, now);
}

/// Time from scores to influence, as for each click, for graphs of tokens and of sentences. Times are in milliseconds.
async function graph() {
  const { instance } = await WebAssembly.instantiateStreaming(fetch("./graph.wasm"));
  const timed = (...sizes) => {
    const begin = now();
    instance.exports.click(...sizes);
    return now() - begin;
  };
  const each = (nodes, times) => (timed(nodes / 2, nodes / 2, times) - timed(nodes / 2, nodes / 2, 0)) / times;
  return { facts: { tokens: 4096, of_tokens: each(4096, 20), sentences: 20, of_sentences: each(20, 20000) }, sections: [] };
}

window.measure = (name, job) => {
  window.result = null;
  const runs = {
    "wasm-cpu": () => ours("Cpu", job, 1),
    "wasm-cpu-2": () => ours("Cpu", job, 2),
    webgpu: () => ours("Gpu", job),
    choice,
    graph,
    wllama: () => wllama(job),
    "onnxruntime-wasm": () => onnxruntime("wasm", job),
    "onnxruntime-webgpu": () => onnxruntime("webgpu", job),
  };
  runs[name]().then(
    (result) => (window.result = result),
    (error) => (window.result = { error: String(error?.stack ?? error) }),
  );
};
