import load, { start } from "./viewer.js";

await load();
start();
