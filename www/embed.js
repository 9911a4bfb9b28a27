import load, { start } from "./viewer.js";

try {
  await load();
  start();
} catch (error) {
  document.body.append("This explanation could not be shown here. Reload the page, or use a newer browser.");
  throw error;
}
