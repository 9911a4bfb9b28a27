import load, { start } from "./viewer.js";

// The catalogs of the page come with the program, and this is for when there is none.
const FAILED = {
  en: "This explanation could not be shown here. Reload the page, or use a newer browser.",
  de: "Diese Erklärung kann hier nicht angezeigt werden. Laden Sie die Seite neu, oder verwenden Sie einen neueren Browser.",
  zh: "无法在此显示这个解释。请重新加载页面，或使用更新的浏览器。",
};

try {
  await load();
  start();
} catch (error) {
  const tag = new URLSearchParams(location.search).get("lang") ?? navigator.language;
  document.body.append(FAILED[tag.slice(0, 2)] ?? FAILED.en);
  throw error;
}
