/** JSON-RPC 2.0 over lines, in both directions. */
import { type Failure, failure } from "@lathe/protocol";
import { boundedLines, type TooLong } from "./json-lines.ts";

/** Codes of JSON-RPC; `failed` is Lathe's own, with the failure as its data. */
export const rpcCodes = {
  noJson: -32700,
  noRequest: -32600,
  noMethod: -32601,
  wrongParams: -32602,
  bug: -32603,
  failed: -32000,
} as const;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Failure;
}

/** The result or the error of a request. */
export type RpcOutcome = { readonly result: object } | { readonly error: RpcError };

export interface RpcPeer {
  /** *Contract:* rejects if the other side answers with an error or disconnects. */
  ask(method: string, params: object): Promise<unknown>;
  tell(method: string, params: object): void;
  /** *Contract:* resolves when the input has ended and every request has its answer; never rejects. */
  serve(input: AsyncIterable<Uint8Array>): Promise<void>;
}

export interface RpcSides {
  /** Writes one line. */
  readonly write: (line: string) => void;
  /** *Contract:* rejects only because of a bug. */
  readonly answer: (method: string, params: unknown) => Promise<RpcOutcome>;
}

type Id = string | number;

/** The longest line accepted from the other side, in bytes. */
const maxBytes: number = 16 * 2 ** 20;
/** How many requests may be unanswered at once. */
const maxWaiting = 1_000;

interface Waiting {
  resolve(result: unknown): void;
  reject(why: Error): void;
}

export function createRpcPeer({ write, answer }: RpcSides): RpcPeer {
  const waiting = new Map<Id, Waiting>();
  const running = new Set<Promise<void>>();
  let asked = 0;
  const send = (message: object): void => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const respond = async (id: Id | undefined, method: string, params: unknown): Promise<void> => {
    const outcome = await answer(method, params).catch(bugOf);
    if (id !== undefined) send({ id, ...outcome });
  };
  const settle = (id: Id, { result, error }: Answer): void => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) waiter?.resolve(result);
    else waiter?.reject(new Error(String(Object(error).message ?? "an error without a message")));
  };
  const take = (line: string | TooLong): void => {
    const message = typeof line === "string" ? readMessage(line) : tooLong(line);
    if ("error" in message) send(message);
    else if ("answer" in message) settle(message.id, message.answer);
    else if (running.size >= maxWaiting) {
      if (message.id !== undefined) send({ id: message.id, error: tooMany });
    } else {
      const work = respond(message.id, message.method, message.params);
      running.add(work);
      void work.finally(() => running.delete(work));
    }
  };
  return {
    ask: (method, params) => {
      const id = ++asked;
      const answered = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
      send({ id, method, params });
      return answered;
    },
    tell: (method, params) => send({ method, params }),
    serve: async (input) => {
      try {
        for await (const lines of boundedLines(input, maxBytes)) lines.forEach(take);
      } catch {
        // Treat a broken input like a closed one.
      }
      for (const { reject } of waiting.values()) reject(new Error("the client is gone"));
      waiting.clear();
      await Promise.all(running);
    },
  };
}

interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
}

type Read =
  | { readonly id?: Id; readonly method: string; readonly params: unknown }
  | { readonly id: Id; readonly answer: Answer }
  | { readonly id: Id | null; readonly error: RpcError };

function readMessage(line: string): Read {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    return wrong(null, rpcCodes.noJson, `no JSON: ${(cause as Error).message.slice(0, 200)}`);
  }
  if (Array.isArray(value)) return wrong(null, rpcCodes.noRequest, "one message a line; no batches");
  const { jsonrpc, id, method, params, result, error } = Object(value) as Readonly<Record<string, unknown>>;
  const known = typeof id === "string" || typeof id === "number" ? id : undefined;
  if (jsonrpc !== "2.0") return wrong(known ?? null, rpcCodes.noRequest, 'a message has "jsonrpc": "2.0"');
  if (typeof method === "string") {
    if (id !== undefined && known === undefined)
      return wrong(null, rpcCodes.noRequest, "an id is a string or a number");
    return { method, params, ...(known !== undefined && { id: known }) };
  }
  if (known !== undefined && (result !== undefined || error !== undefined))
    return { id: known, answer: { result, error } };
  return wrong(known ?? null, rpcCodes.noRequest, 'a request has a "method", an answer "result" or "error"');
}

/** The answer has no ID: the line was discarded. */
function tooLong({ bytes }: TooLong): Read {
  const most = `a line has at most ${maxBytes / 2 ** 20} MiB, and is left out with more`;
  return wrong(null, rpcCodes.noRequest, `a line of ${(bytes / 2 ** 20).toFixed(1)} MiB: ${most}`);
}

const waitingText = `${maxWaiting} requests wait for their answers: ask again when some have come`;
const tooMany: RpcError = {
  code: rpcCodes.failed,
  message: waitingText,
  data: failure("invalid-arguments", waitingText, { who: "user" }),
};

function wrong(id: Id | null, code: number, message: string): Read {
  return { id, error: { code, message } };
}

function bugOf(cause: unknown): RpcOutcome {
  return { error: { code: rpcCodes.bug, message: `a bug in lathe: ${String(cause)}` } };
}
