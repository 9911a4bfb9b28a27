// Tells the visitor why the page does not start. It runs before everything else and needs no other file. The page removes these messages
// when it starts.
(() => {
  const show = (id, detail) => {
    const box = document.getElementById(id);
    if (!box) return;
    box.hidden = false;
    const code = box.querySelector("code");
    if (code && !code.textContent.includes(detail)) code.textContent += `${detail} `;
  };
  const fail = detail => {
    const [id, text] = typeof WebAssembly === "undefined" ? ["start-without-wasm", ""] : ["start-failed", detail];
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => show(id, text));
    else show(id, text);
  };
  // Errors of elements do not bubble, so listen in the capture phase. A style sheet that fails does not keep the page from starting.
  addEventListener("error", ({ target, message }) => {
    if (target === window) fail(message);
    else if (target.localName === "script" || /preload/.test(target.rel)) fail(target.src ?? target.href);
  }, true);
  addEventListener("unhandledrejection", ({ reason }) => fail(String(reason)));
})();
