/** Foreign JSON: values are checked before they are used. */

export type Fields = Readonly<Record<string, unknown>>;

/** A count of at least one, or undefined. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

export interface Asked {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly patienceMs: number;
  readonly maxBytes: number;
}

/**
 * *Contract:* rejects on a timeout, a status other than success, a body that is too long, or invalid JSON.
 */
export async function askJson(fetch: typeof globalThis.fetch, asked: Asked): Promise<unknown> {
  const { url, headers = {}, patienceMs, maxBytes } = asked;
  const { ok, status, body } = await fetch(url, {
    headers: { ...headers },
    signal: AbortSignal.timeout(patienceMs),
  });
  if (!ok) {
    await body?.cancel();
    throw new Error(`it answers with status ${status}`);
  }
  return JSON.parse(await textOf(body, maxBytes));
}

/** *Contract:* rejects if the body breaks off or is longer. */
export async function textOf(body: Response["body"], maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
