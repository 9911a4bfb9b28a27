// wllama (llama.cpp in WASM, one thread) with the same file and the same job.
//
// It has no log-probabilities of a prompt, so this script scores a text by forced decoding: a bias makes it choose the given token, and it
// reports the probability of that token. A bias applies to a whole request, so the answer here is one repeated word. The choice of the word
// does not change the work. A request per token would cost more.
import { Wllama } from "./wllama/esm/index.js";
import { sentences, text } from "./text.js";

const END = "<|im_end|>";
const FORCED = " the";
const PREFILLS = 3;
const DECODE_TOKENS = 48;

export async function measure(model, job, now) {
  const sections = [];
  const timed = async (name, run) => {
    const begin = now();
    const result = await run();
    const section = { name, begin, end: now() };
    sections.push(section);
    return { result, section };
  };
  const wllama = new Wllama({ default: new URL("wllama/esm/wasm/wllama.wasm", location.href).href }, { suppressNativeLog: true });
  await timed("load", async () => {
    const blob = await (await fetch(model)).blob();
    await wllama.loadModel([blob], { n_ctx: 1024, n_threads: 1, n_gpu_layers: 0 });
  });
  const greedy = { temperature: 0, top_k: 1, ignore_eos: true };
  const complete = (options) => wllama.createCompletion({ ...greedy, ...options });
  const { prompt, answer } = text(job);
  // The first run does not count, as with our engine.
  const read = () => complete({ prompt: prompt + answer, max_tokens: 1, cache_prompt: false });
  await read();
  for (let i = 0; i < PREFILLS; i += 1) {
    const { result, section } = await timed("prefill", read);
    section.tokens = result.timings.prompt_n;
  }
  // The text is cached, so this only reads its last token again before it continues.
  const decode = await timed("decode", () => complete({ prompt: prompt + answer, max_tokens: DECODE_TOKENS }));
  decode.section.tokens = decode.result.usage.completion_tokens;

  const passes = texts(job);
  // The base text, a prompt sentence in the middle, and the first generated sentence. Their mean length is that of all passes.
  const chosen = [0, 1 + (passes.n_prompt >> 1), 1 + passes.n_prompt].map((i) => passes.all[i]);
  const forced = await timed("job", async () => {
    const results = [];
    for (const { context, count } of chosen) {
      results.push(await complete({ prompt: context, max_tokens: count, logprobs: 1, logit_bias: [[FORCED, 1000]] }));
    }
    return results;
  });
  const total = (some) => some.reduce((sum, pass) => sum + pass.count, 0);
  forced.section.scale = total(passes.all) / total(chosen);
  const facts = {
    backend: `wllama, ${wllama.getNumThreads()} thread`,
    passes: passes.all.length,
    measured_passes: chosen.length,
    forced_tokens: total(passes.all),
    // Empty if every forced token was generated and has a log-probability.
    wrong: forced.result.map((result) => result.choices[0]).filter((choice, i) => !isForced(choice, chosen[i].count)),
  };
  return { facts, sections };
}

function isForced({ text, logprobs }, count) {
  return text === FORCED.repeat(count) && logprobs.content.length === count && logprobs.content.every(({ logprob }) => logprob < 0);
}

/// The base text and the perturbed texts: the text to read, and the number of forced tokens after it.
function texts(job) {
  const { length, prompt } = sentences(job);
  const end = END.repeat(length);
  const answered = (n) => FORCED.repeat(n * length);
  const n_prompt = prompt.length;
  const all = [{ context: prompt.join(""), count: job.generated * length }];
  for (let j = 0; j < n_prompt; j += 1) {
    all.push({ context: prompt.with(j, end).join(""), count: job.generated * length });
  }
  for (let i = 0; i < job.generated - 1; i += 1) {
    all.push({ context: prompt.join("") + answered(i) + end, count: (job.generated - 1 - i) * length });
  }
  return { all, n_prompt };
}
