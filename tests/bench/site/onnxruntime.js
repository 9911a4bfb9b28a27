// onnxruntime-web with the same weights, which onnx/convert.py wrote as ONNX, and a job of the same size.
//
// It returns logits, from which this script computes log-probabilities. It needs a pass over the whole text for each source. It has no
// tokenizer, so `scores.json` has ids instead of a text, and our engine's log-probability of each id.

const PREFILLS = 3;
/// Maximum number of generated tokens, and maximum time in milliseconds.
const DECODE_TOKENS = 48;
const DECODE_MILLIS = 12000;
/// Number of tokens to compare with our engine, and the largest allowed difference in nats.
const COMPARED = 50;
const TOLERANCE = 1e-3;
/// Replaces the tokens of a source. The choice of the id does not change the work.
const END = 0;
/// For each execution provider: its build, and the model file that is faster with it.
const BUILDS = { wasm: ["ort.wasm.bundle.min.mjs", "f32.onnx"], webgpu: ["ort.webgpu.bundle.min.mjs", "q8.onnx"] };

export async function measure(provider, job, now) {
  const sections = [];
  const timed = async (name, tokens, run) => {
    const begin = now();
    const result = await run();
    sections.push({ name, begin, end: now(), tokens });
    return result;
  };
  const { ids, logprobs } = await (await fetch("onnx/scores.json")).json();
  const decoder = await timed("load", 0, () => Decoder.load(provider));
  const facts = { backend: `onnxruntime-web, ${provider}, one thread, ${BUILDS[provider][1]}` };
  // The first run does not count, as with our engine.
  facts.largest_difference_nats = await difference(decoder, ids, logprobs);
  if (!(facts.largest_difference_nats < TOLERANCE)) throw new Error(`wrong by ${facts.largest_difference_nats} nat`);
  let token;
  for (let i = 0; i < PREFILLS; i += 1) {
    decoder.forget();
    token = await timed("prefill", ids.length, () => decoder.next(ids));
  }
  const decode = { name: "decode", begin: now(), tokens: 0 };
  for (; decode.tokens < DECODE_TOKENS && now() - decode.begin < DECODE_MILLIS; decode.tokens += 1) token = await decoder.next([token]);
  sections.push({ ...decode, end: now() });
  // With software WebGPU this would take many minutes.
  if (provider === "wasm") {
    const passes = texts(ids, job);
    facts.passes = passes.length;
    await timed("job", 0, async () => {
      for (const pass of passes) await decoder.score(pass.ids, pass.first);
    });
  }
  return { facts, sections };
}

/// A session, with the keys and values of the ids read so far.
class Decoder {
  static async load(provider) {
    const [build, file] = BUILDS[provider];
    const decoder = new Decoder();
    decoder.ort = await import(`./onnx/onnxruntime-web/dist/${build}`);
    decoder.ort.env.wasm.numThreads = 1;
    decoder.ort.env.wasm.wasmPaths = new URL("onnx/onnxruntime-web/dist/", location.href).href;
    const options = { executionProviders: [provider] };
    if (provider === "webgpu") {
      options.executionProviders = [{ name: provider, device: await device() }];
      options.preferredOutputLocation = "gpu-buffer";
    }
    const model = await (await fetch(`onnx/${file}`)).arrayBuffer();
    decoder.session = await decoder.ort.InferenceSession.create(model, options);
    decoder.forget();
    return decoder;
  }

  forget() {
    this.length = 0;
    this.keep({});
    for (const { name, shape } of this.session.inputMetadata.filter(({ name }) => name.startsWith("past"))) {
      const empty = shape.map((size) => (typeof size === "number" ? size : 0));
      this.past[name] = new this.ort.Tensor("float32", [], empty);
    }
  }

  /// Replaces the keys and values.
  keep(past) {
    Object.values(this.past ?? {}).forEach((tensor) => tensor.dispose());
    this.past = past;
  }

  /// Reads `ids` after the previous ones. Returns the logits after the ids at `rows`, row by row.
  async read(ids, rows) {
    const { Tensor } = this.ort;
    const list = (numbers, shape) => new Tensor("int64", BigInt64Array.from(numbers, BigInt), shape);
    this.length += ids.length;
    const { logits, ...present } = await this.session.run({
      ids: list(ids, [1, ids.length]),
      rows: list(rows, [rows.length]),
      seqlens_k: new Tensor("int32", [this.length - 1], [1]),
      total_length: new Tensor("int32", [this.length], []),
      ...this.past,
    });
    this.keep(Object.fromEntries(Object.entries(present).map(([name, tensor]) => [name.replace("present", "past"), tensor])));
    const data = await logits.getData();
    logits.dispose();
    return data;
  }

  /// The most likely id after `ids`.
  async next(ids) {
    const logits = await this.read(ids, [ids.length - 1]);
    let best = 0;
    for (let id = 1; id < logits.length; id += 1) if (logits[id] > logits[best]) best = id;
    return best;
  }

  /// ln p of each id of a text, from index `first` on.
  async score(ids, first) {
    this.forget();
    const targets = ids.slice(first);
    const logits = await this.read(ids, Array.from(targets, (_, i) => first - 1 + i));
    const size = logits.length / targets.length;
    return targets.map((id, i) => logProb(logits.subarray(i * size, (i + 1) * size), id));
  }
}

/// A device without subgroups. With SwiftShader's subgroups of 4 lanes, attention is wrong by several nats.
async function device() {
  const adapter = await navigator.gpu.requestAdapter();
  const requiredLimits = {};
  for (const name in adapter.limits) requiredLimits[name] = adapter.limits[name];
  return adapter.requestDevice({ requiredLimits });
}

/// Largest difference from our engine, for a text that is read at once and for one more token.
async function difference(decoder, ids, logprobs) {
  // ln p of id i is at index i - 1.
  const [last, end] = [ids.length - 1, ids.length - 2];
  const first = Math.max(1, end - COMPARED);
  const scores = await decoder.score(ids.slice(0, end), first);
  scores.push(logProb(await decoder.read([ids[end]], [0]), ids[last]));
  const expected = [...logprobs.slice(first - 1, end - 1), logprobs[last - 1]];
  return Math.max(...scores.map((score, i) => Math.abs(score - expected[i])));
}

function logProb(logits, id) {
  let [largest, sum] = [-Infinity, 0];
  // Index loops are the fastest.
  for (let i = 0; i < logits.length; i += 1) if (logits[i] > largest) largest = logits[i];
  for (let i = 0; i < logits.length; i += 1) sum += Math.exp(logits[i] - largest);
  return logits[id] - largest - Math.log(sum);
}

/// The base text, and the texts without one source, each with the first id to score.
function texts(ids, { tokens, sentences, generated }) {
  const length = Math.floor(tokens / sentences);
  const answer = (sentences - generated) * length;
  const without = (source) => ({
    ids: ids.map((id, i) => (Math.floor(i / length) === source ? END : id)),
    first: Math.max(answer, (source + 1) * length),
  });
  return [{ ids, first: answer }, ...Array.from({ length: sentences - 1 }, (_, source) => without(source))];
}
