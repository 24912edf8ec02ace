/** @lathe/web-fetch: web pages as text, and web search. */
export { createWeb, type WebOptions } from "./src/create-web.ts";
