/** Light headers: a stand-in for Node's `Headers`, whose first use loads all of undici (40 ms, 6 MB, before the first request). */

/** What the provider packages use of `Headers`: names without case, values joined, entries sorted. */
class LightHeaders {
  readonly #values = new Map<string, string>();

  constructor(init: Iterable<readonly [string, string]> | Readonly<Record<string, string>> = {}) {
    const pairs = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value));
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  forEach(visit: (value: string, name: string, headers: LightHeaders) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  entries(): IterableIterator<[string, string]> {
    return [...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)).values();
  }

  keys(): IterableIterator<string> {
    return [...this].map(([name]) => name).values();
  }

  values(): IterableIterator<string> {
    return [...this].map(([, value]) => value).values();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

/** *Contract:* for a process of our own; whoever needs the real one gets it from undici's `Response`. */
export function useLightHeaders(): void {
  // Overwriting the property would read it first, and so load what is to be avoided.
  Reflect.deleteProperty(globalThis, "Headers");
  Reflect.defineProperty(globalThis, "Headers", { value: LightHeaders, writable: true, configurable: true });
}
