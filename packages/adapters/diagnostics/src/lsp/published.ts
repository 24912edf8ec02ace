/** Published: findings that a language server publishes for its open files, and for which version. */
import type { OpenDocument } from "./documents.ts";

export interface Published {
  readonly isUnversioned: boolean;
  take(params: unknown): void;
  /**
   * *Contract:* resolves with the findings for exactly this version, once nothing more came for `quietMs`;
   * never returns findings for another text, or possibly another one.
   */
  wait(document: OpenDocument, quietMs: number): Promise<readonly unknown[]>;
}

interface Waiting {
  readonly document: OpenDocument;
  readonly quietMs: number;
  readonly settle: (items: readonly unknown[]) => void;
  timer?: NodeJS.Timeout;
}

interface PublishedItems {
  readonly uri: string;
  readonly version: number | undefined;
  readonly items: readonly unknown[];
}

export function createPublished(): Published {
  const latest = new Map<string, PublishedItems>();
  const waiting = new Set<Waiting>();
  let isUnversioned = false;
  const heard = (one: Waiting, said: PublishedItems | undefined): void => {
    if (!said || !isOf(said, one.document)) return;
    clearTimeout(one.timer);
    one.timer = setTimeout(() => {
      waiting.delete(one);
      one.settle(said.items);
    }, one.quietMs);
  };
  return {
    get isUnversioned() {
      return isUnversioned;
    },
    take: (params) => {
      const said = saidIn(params);
      if (!said) return;
      if (said.version === undefined) isUnversioned = true;
      latest.set(said.uri, said);
      for (const one of waiting) heard(one, said);
    },
    wait: (document, quietMs) => {
      const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
      const one: Waiting = { document, quietMs, settle: resolve };
      waiting.add(one);
      heard(one, latest.get(document.uri));
      return promise;
    },
  };
}

function isOf({ uri, version }: PublishedItems, document: OpenDocument): boolean {
  if (uri !== document.uri) return false;
  return version === document.version || (version === undefined && document.isFirst);
}

function saidIn(params: unknown): PublishedItems | undefined {
  const { uri, version, diagnostics } = Object(params) as Readonly<Record<string, unknown>>;
  if (typeof uri !== "string" || !Array.isArray(diagnostics)) return undefined;
  return {
    uri: sameUri(uri),
    version: typeof version === "number" ? version : undefined,
    items: diagnostics,
  };
}

/** Servers escape characters in different ways. */
function sameUri(uri: string): string {
  const plain = decoded(uri);
  return URL.canParse(plain) ? new URL(plain).href : uri;
}

function decoded(uri: string): string {
  try {
    return decodeURI(uri).replaceAll("%3A", ":").replaceAll("%40", "@");
  } catch {
    return uri;
  }
}
