/** `web_fetch` and `web_search`: fetch pages of the web; network rules judge each host. */
import { type Effect, isFailure, type Tool, type ToolIdentity, type Web } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, failed, ok } from "./define-tool.ts";
import { count, text } from "./schema.ts";

const defaultHits = 5;
const maxHits = 20;

export const webSearchIdentity: ToolIdentity = { name: "web_search", kind: "fetch", knownAs: ["websearch"] };

export const webFetchIdentity: ToolIdentity = { name: "web_fetch", kind: "fetch", knownAs: ["webfetch"] };

export function createWebTools(web: Web): readonly Tool[] {
  const { search } = web;
  return search ? [createFetch(web), createSearch(search)] : [createFetch(web)];
}

function createFetch(web: Web): Tool {
  return defineTool({
    ...webFetchIdentity,
    description: "Read a page of the public web as text; another host it leads to is named, not followed.",
    schema: { url: text() },
    counterpart: ({ url }) => ({ tool_name: "WebFetch", tool_input: { url } }),
    problem: ({ url }) => (URL.canParse(url) ? web.barred(url) : `${url} is no address`),
    effects: ({ url }) => [hostEffect(new URL(url).host)],
    async run({ url }, { signal }) {
      const page = await web.fetch(url, signal);
      if (isFailure(page)) return failed(page);
      if ("to" in page) return ok(`${url} leads to another host: fetch ${page.to} if you want it.`);
      const head = page.url === url ? "" : `[${page.url}]\n\n`;
      return ok(`${head}${page.text.trim() === "" ? "(the page has no text)" : page.text}`);
    },
  });
}

function createSearch({ host, find }: NonNullable<Web["search"]>): Tool {
  return defineTool({
    ...webSearchIdentity,
    description: "Search the web; returns titles, addresses and excerpts.",
    schema: { query: text(), limit: v.optional(count()) },
    counterpart: ({ query }) => ({ tool_name: "WebSearch", tool_input: { query } }),
    effects: () => [hostEffect(host)],
    async run({ query, limit = defaultHits }, { signal }) {
      const hits = await find(query, Math.min(Math.max(1, limit), maxHits), signal);
      if (isFailure(hits)) return failed(hits);
      if (hits.length === 0) return ok(`Nothing was found for: ${query}`);
      return ok(hits.map(({ title, url, text: said }) => `${title}\n${url}\n${said}`).join("\n\n"));
    },
  });
}

function hostEffect(host: string): Effect {
  return { kind: "network", target: host, traits: ["named"] };
}
