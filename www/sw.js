// Keeps page, engine and built-in model, so that they work without a network. VERSION and FILES ([path, SHA-256], ..) stand
// above this line: `cargo xtask finish` writes them after a build.
//
// One version is kept as a whole or not at all: every file is checked against its hash before the version counts, and files of
// two versions are never served side by side. A new version waits until the visitor activates it, or has closed every tab.

const FAMILY = `glasscage ${self.registration.scope} `;
const CACHE = FAMILY + VERSION;

self.addEventListener("install", event => event.waitUntil(keepAll()));
self.addEventListener("activate", event => event.waitUntil(takeOver()));
self.addEventListener("message", event => {
  if (event.data === "take over") self.skipWaiting();
});
self.addEventListener("fetch", event => {
  const path = pathOf(event.request);
  if (path !== null) event.respondWith(answer(event, path));
});

// Keeps the existing cache whatever happens here, because it may be the only one.
async function keepAll() {
  const isNew = !(await caches.has(CACHE));
  const older = await Promise.all((await ours()).map(name => caches.open(name)));
  const cache = await caches.open(CACHE);
  try {
    for (const [path, hash] of FILES) await keep(cache, older, path, hash);
  } catch (error) {
    if (isNew) await caches.delete(CACHE);
    throw error;
  }
}

// Takes a file from an older version if its hash is right, else from the browser's cache, and else past every cache. Pages and scripts
// come from the host first, because its headers say what they may do.
async function keep(cache, older, path, hash) {
  const stored = older.map(cache => () => cache.match(address(path)));
  const fetched = ["force-cache", "reload"].map(mode => () => fetch(address(path), { cache: mode }).catch(() => null));
  const sources = /\.(html|js)$/.test(path) ? [...fetched, ...stored] : [...stored, ...fetched];
  for (const source of sources) {
    const response = await source();
    if (!response || !response.ok) continue;
    const bytes = await response.arrayBuffer();
    if ((await sha256(bytes)) !== hash) continue;
    return cache.put(address(path), new Response(bytes, { headers: headersOf(response, bytes.byteLength) }));
  }
  throw new Error(`${path} is not that of this version`);
}

// The host's headers, without those about the transfer.
function headersOf(response, length) {
  const headers = new Headers(response.headers);
  for (const name of ["content-encoding", "content-range", "transfer-encoding", "vary"]) headers.delete(name);
  if (!headers.has("content-type")) headers.set("content-type", "application/octet-stream");
  headers.set("content-length", length);
  return headers;
}

async function takeOver() {
  await Promise.all((await ours()).filter(name => name !== CACHE).map(name => caches.delete(name)));
  await self.clients.claim();
}

async function answer(event, path) {
  const { request } = event;
  if (await isOfAnotherPage(event)) return fetch(request);
  const kept = await keptFile(path);
  if (!kept) return fetch(request);
  const range = /^bytes=(\d*)-(\d*)$/i.exec(request.headers.get("range") || "");
  return range && isWanted(kept, request.headers.get("if-range")) ? part(kept, range[1], range[2]) : kept;
}

// Where the browser's storage fails, the network answers.
async function keptFile(path) {
  try {
    return await (await caches.open(CACHE)).match(address(path));
  } catch {
    return undefined;
  }
}

// Whether the kept file has the version that the request names. Bytes of two versions must not be joined.
function isWanted(kept, version) {
  return version === null || [kept.headers.get("etag"), kept.headers.get("last-modified")].includes(version);
}

// Other pages of this site, such as the viewer in a frame, are not cached. Everything that they load comes from the network, as one
// version. They have no workers.
//
// `clients.get` would wait for a worker until it has started, and the worker waits for the script that it asks for here.
async function isOfAnotherPage({ request, clientId }) {
  if (request.mode === "navigate") return false;
  const pages = await self.clients.matchAll({ type: "window" });
  return pages.some(({ id, url }) => id === clientId && keptPath(url) === null);
}

// A range of a file, as RFC 9110 (14.2) answers it: "first-last", "first-", or "-length" for the end. A header that asks for something
// else, such as several ranges, is ignored.
async function part(kept, first, last) {
  const isReversed = first !== "" && last !== "" && Number(last) < Number(first);
  if (isReversed || first + last === "") return kept;
  const whole = await kept.blob();
  const start = first === "" ? Math.max(whole.size - Number(last), 0) : Number(first);
  const end = first === "" || last === "" ? whole.size : Math.min(Number(last) + 1, whole.size);
  const headers = headersOf(kept, Math.max(end - start, 0));
  if (start >= end) {
    headers.set("content-range", `bytes */${whole.size}`);
    return new Response(null, { status: 416, headers });
  }
  headers.set("content-range", `bytes ${start}-${end - 1}/${whole.size}`);
  return new Response(whole.slice(start, end), { status: 206, headers });
}

// The file of this version that is asked for; null for anything else. Query and fragment are ignored.
function pathOf(request) {
  return request.method === "GET" ? keptPath(request.url) : null;
}

function keptPath(href) {
  const scope = new URL(self.registration.scope);
  const url = new URL(href);
  if (url.origin !== scope.origin || !url.pathname.startsWith(scope.pathname)) return null;
  const path = decoded(url.pathname.slice(scope.pathname.length)) || "index.html";
  return FILES.some(([known]) => known === path) ? path : null;
}

// Broken escapes, such as %E0%A4%A, stay as they are.
function decoded(path) {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

async function ours() {
  return (await caches.keys()).filter(name => name.startsWith(FAMILY));
}

function address(path) {
  return new URL(path, self.registration.scope).href;
}

async function sha256(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, byte => byte.toString(16).padStart(2, "0")).join("");
}
