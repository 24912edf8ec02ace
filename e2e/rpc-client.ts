/** A client of `lathe rpc` for tests, which checks each line of either side against the schema. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Event } from "@lathe/protocol";
import { Ajv } from "ajv";
import type { Running } from "./lathe.ts";

export type Fields = Readonly<Record<string, unknown>>;

export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Fields };
}

const schema = JSON.parse(readFileSync(new URL("../schemas/rpc.json", import.meta.url), "utf8"));
const ajv = new Ajv({ strict: false });
ajv.addSchema(schema, "rpc");
const isLine = ajv.compile({ $ref: "rpc" });

export class Client {
  readonly running: Running;
  readonly told: Message[] = [];
  readonly #asked = new Map<unknown, string>();
  readonly #heard = new Set<() => void>();
  #id = 0;

  constructor(running: Running) {
    this.running = running;
    let rest = "";
    running.child.stdout?.on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line));
      for (const look of this.#heard) look();
    });
  }

  #take(message: Message): void {
    assert.ok(isLine(message), `${JSON.stringify(message)}: ${JSON.stringify(isLine.errors)}`);
    const method = this.#asked.get(message.id);
    if (message.result && method !== undefined) {
      const check = ajv.compile({ $ref: `rpc#/$defs/${method.replaceAll("/", "~1")}.result` });
      assert.ok(check(message.result), `${method}: ${JSON.stringify(check.errors)}`);
    }
    this.told.push(message);
  }

  raw(line: string): void {
    this.running.child.stdin?.write(`${line}\n`);
  }

  send(message: Fields): void {
    this.raw(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** Resolves with the first message that meets the condition, even an earlier one. */
  until(meets: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.told.find(meets);
        if (!found) return;
        this.#heard.delete(look);
        resolve(found);
      };
      this.#heard.add(look);
      void this.running.ended.then(({ err }) => reject(new Error(`it never came; ${err}`)));
      look();
    });
  }

  async ask(method: string, params: Fields): Promise<Message> {
    const id = ++this.#id;
    this.#asked.set(id, method);
    this.send({ id, method, params });
    return this.until((message) => message.id === id && message.method === undefined);
  }

  async result(method: string, params: Fields): Promise<Fields> {
    const { result, error } = await this.ask(method, params);
    assert.ok(result, JSON.stringify(error));
    return result;
  }

  events(): readonly Event[] {
    return this.told.flatMap(({ method, params }) =>
      method === "session/event" ? [params?.event as Event] : [],
    );
  }

  async leave(): Promise<number | null> {
    this.running.child.stdin?.end();
    return (await this.running.ended).code;
  }
}
