/** @lathe/web-fetch: pages of the web as text, and searching for them. */
export { createWeb, type WebOptions } from "./src/create-web.ts";
