/**
 * Keeps undici unloaded: the provider packages touch the global `Headers` while they build a request, and Node loads
 * all of undici for it, 20-40 ms before the first byte of the first request. Until our transport has taken that
 * request over, a small class stands in for the global; then the real one is back, still unloaded.
 */

/** The part of `Headers` that is used between a call and its request. */
class LightHeaders {
  readonly #values = new Map<string, string>();

  constructor(init: Readonly<Record<string, string>> | Iterable<readonly [string, string]> = {}) {
    const entries = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of entries as Iterable<readonly [string, string]>) this.set(name, value);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value);
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  append(name: string, value: string): void {
    const old = this.get(name);
    this.set(name, old === null ? value : `${old}, ${value}`);
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  forEach(take: (value: string, name: string) => void): void {
    this.#values.forEach((value, name) => void take(value, name));
  }

  entries(): IterableIterator<[string, string]> {
    return this.#values.entries();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

/** Calls that are on their way to their request, the oldest first. */
const waiting = new Set<symbol>();

/** Puts the small class in place; the answer takes it away again. */
export function lightenHeaders(): () => void {
  // Only an assignment leaves undici alone: to define the property, or to look at its descriptor, would load it.
  if (waiting.size === 0) (globalThis as { Headers: unknown }).Headers = LightHeaders;
  const call = Symbol("call");
  waiting.add(call);
  return () => done(call);
}

/** Says that a request has reached the transport. */
export function requestTaken(): void {
  const [oldest] = waiting;
  if (oldest) done(oldest);
}

function done(call: symbol): void {
  if (!waiting.delete(call) || waiting.size > 0) return;
  const real = (): unknown => new Response().headers.constructor;
  const shared = { configurable: true, enumerable: false } as const;
  Object.defineProperty(globalThis, "Headers", {
    get: real,
    set: (value) => void Object.defineProperty(globalThis, "Headers", { value, writable: true, ...shared }),
    ...shared,
  });
}
