// Tells the visitor why the page does not start. It runs before everything else and needs no other file. The page removes the message
// when it starts.
(() => {
  const show = detail => {
    const box = document.getElementById("start-failed");
    if (!box) return;
    box.hidden = false;
    const code = box.querySelector("code");
    if (!code.textContent.includes(detail)) code.textContent += `${detail} `;
  };
  const fail = detail => {
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => show(detail));
    else show(detail);
  };
  // Errors of elements do not bubble, so listen in the capture phase. A style sheet that fails does not keep the page from starting.
  addEventListener("error", ({ target, message }) => {
    if (target === window) fail(message);
    else if (target.localName === "script" || /preload/.test(target.rel)) fail(target.src ?? target.href);
  }, true);
  addEventListener("unhandledrejection", ({ reason }) => fail(String(reason)));
})();
