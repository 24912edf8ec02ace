/**
 * Keeps undici unloaded: the provider packages use the global `Headers` while they build a request, and Node
 * then loads all of undici, 20-40 ms before the first request's first byte. Until Lathe's transport has taken
 * that request, a small class replaces the global; afterwards the real one is restored, still unloaded.
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

/** Calls whose request has not been sent yet, oldest first. */
const waiting = new Set<symbol>();

/** Installs the small class; call the returned function to remove it. */
export function lightenHeaders(): () => void {
  // Only an assignment leaves undici unloaded: defining the property, or reading its descriptor, would load
  // it.
  if (waiting.size === 0) (globalThis as { Headers: unknown }).Headers = LightHeaders;
  const call = Symbol("call");
  waiting.add(call);
  return () => done(call);
}

/** Call when a request has reached the transport. */
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
