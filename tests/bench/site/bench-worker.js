// Our worker as it is. Beside its messages, one says how large its memory became, in bytes.
let memory;
let largest = 0;
for (const name of ["instantiate", "instantiateStreaming"]) {
  const original = WebAssembly[name];
  WebAssembly[name] = async (...values) => {
    const result = await original.apply(WebAssembly, values);
    memory = (result.instance ?? result).exports.memory;
    return result;
  };
}
const post = self.postMessage.bind(self);
self.postMessage = (message) => {
  post(message);
  const bytes = memory?.buffer.byteLength ?? 0;
  if (bytes > largest) {
    largest = bytes;
    post({ heap: bytes });
  }
};
importScripts("./engine_loader.js");
