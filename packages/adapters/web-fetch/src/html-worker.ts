/** HTML worker: turns one page into text, in its own thread, which can be ended. */
import { parentPort, workerData } from "node:worker_threads";
import { htmlText } from "./html-text.ts";

export interface Page {
  readonly html: string;
  readonly href: string;
}

const { html, href } = workerData as Page;
parentPort?.postMessage(htmlText(html, new URL(href)));
