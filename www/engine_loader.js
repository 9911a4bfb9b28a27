// Loads the engine's program in a worker, instead of Trunk's script. It tells the page that bytes are arriving, so the page keeps waiting.
// If a connection breaks or falls silent, it continues from the bytes that are here, even in the next worker.

importScripts("./engine.js");

// In a scope of its own: workers that measure or test put scripts before this one.
(() => {
  // The page takes this message for a sign of life (src/worker/role.rs).
  const LOADING = "loading";
  const PROGRAM = "./engine_bg.wasm";
  const PARTIAL = "glasscage-partial";
  const SILENT_MILLIS = 20_000;
  const TRIES = 4;

  // The bytes so far, and the version of the program that they belong to. Without a version, nothing can be appended.
  let chunks = [];
  let bytes = 0;
  let version = null;

  load().catch(error => setTimeout(() => { throw error; }));

  async function load() {
    await recall();
    if (bytes === 0 && (await loadAsItComes())) return;
    let tries = 0;
    for (let isWhole = false; !isWhole; ) {
      const before = bytes;
      try {
        await readOn();
        isWhole = true;
      } catch (error) {
        await keep();
        tries = bytes > before ? 0 : tries + 1;
        if (tries > TRIES) throw error;
        await new Promise(resolve => setTimeout(resolve, 1000 * tries));
      }
    }
    // If these bytes are not a valid program, the next worker must start over.
    try {
      await wasm_bindgen({ module_or_path: new Blob(chunks).arrayBuffer() });
    } finally {
      await forget();
    }
  }

  // Compiles the program while it arrives. Returns whether all of it arrived.
  async function loadAsItComes() {
    let isWhole = false;
    const copied = async (response, controller) => {
      await read(response, controller);
      isWhole = true;
    };
    const controller = new AbortController();
    let copying;
    try {
      const response = await begin({}, controller);
      copying = copied(response.clone(), controller);
      await Promise.all([wasm_bindgen({ module_or_path: response }), copying]);
      return true;
    } catch (error) {
      // Stop copying before the next request starts.
      controller.abort();
      await copying?.catch(() => {});
      if (isWhole) throw error;
      await keep();
      return false;
    }
  }

  // Reads the program from where the last connection ended.
  async function readOn() {
    const controller = new AbortController();
    const canGoOn = bytes > 0 && version !== null;
    const response = await begin(canGoOn ? { range: `bytes=${bytes}-`, "if-range": version } : {}, controller);
    await read(response, controller);
  }

  // Sends a request with these headers. A response that does not continue at the requested byte contains the whole program.
  async function begin(headers, controller) {
    const response = await unlessSilent(fetch(PROGRAM, { headers, signal: controller.signal }), controller);
    if (response.status === 416) {
      // Nothing follows what is here: it is of another version, or whole, and the connection broke after its last byte.
      [chunks, bytes, version] = [[], 0, null];
      await forget();
    }
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const goesOn = response.status === 206 && (response.headers.get("content-range") || "").startsWith(`bytes ${bytes}-`);
    if (response.status === 206 && !goesOn) throw new Error("other bytes came than those requested");
    if (!goesOn) {
      [chunks, bytes] = [[], 0];
      version = versionOf(response.headers);
    }
    return response;
  }

  // The validator for If-Range. A weak tag, or the tag of a compressed answer, does not identify the bytes themselves.
  function versionOf(headers) {
    const tag = headers.get("etag");
    const isOfBytes = tag && !tag.startsWith("W/") && !headers.has("content-encoding");
    return isOfBytes ? tag : headers.get("last-modified");
  }

  async function read(response, controller) {
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await unlessSilent(reader.read(), controller);
      if (done) return;
      chunks.push(value);
      bytes += value.length;
      postMessage(LOADING);
    }
  }

  async function unlessSilent(promise, controller) {
    const timer = setTimeout(() => controller.abort(), SILENT_MILLIS);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  // The page ends a worker that is silent for long. The next worker finds the bytes here. If nothing can be stored, it starts over.
  async function keep() {
    if (bytes === 0 || version === null) return;
    try {
      const cache = await caches.open(PARTIAL);
      await cache.put(PROGRAM, new Response(new Blob(chunks), { headers: { "x-version": version } }));
    } catch {
      return;
    }
  }

  async function recall() {
    try {
      const kept = await caches.match(PROGRAM, { cacheName: PARTIAL });
      if (!kept) return;
      chunks = [new Uint8Array(await kept.arrayBuffer())];
      bytes = chunks[0].length;
      version = kept.headers.get("x-version");
    } catch {
      return;
    }
  }

  async function forget() {
    try {
      await caches.delete(PARTIAL);
    } catch {
      return;
    }
  }
})();
