// The text of the job: sentences of words that are one token each, for Qwen's tokenizer and most others.
const WORDS = (
  "the man saw a dog and then his friend took it to the old house by the river where they had some food " +
  "for all of them"
).split(" ");

/// Sentences of `length` tokens: a full stop, and words before it.
function sentence(number, length) {
  const words = Array.from({ length: length - 1 }, (_, i) => WORDS[(7 * number + i) % WORDS.length]);
  // Each sentence begins with a name, so that sentences differ.
  words[0] = ["Tom", "Ann", "Bob", "Sam"][number % 4];
  return words.join(" ") + ".";
}

export function sentences({ tokens, sentences, generated }) {
  const length = Math.floor(tokens / sentences);
  const all = Array.from({ length: sentences }, (_, i) => (i ? " " : "") + sentence(i, length));
  return { length, prompt: all.slice(0, sentences - generated), answer: all.slice(sentences - generated) };
}

export function text(job) {
  const { prompt, answer } = sentences(job);
  return { prompt: prompt.join(""), answer: answer.join("") };
}
