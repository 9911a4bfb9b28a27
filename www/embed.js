import start from "./viewer.js";

start();
