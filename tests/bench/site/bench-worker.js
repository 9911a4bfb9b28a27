// Our unchanged worker. Also sends messages with the size of its memory in bytes when it grows.
// The name of an engine may end with the number of cores that it sees.
const cores = Number(self.name.split(" ")[1]);
if (cores) Object.defineProperty(WorkerNavigator.prototype, "hardwareConcurrency", { get: () => cores });
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
