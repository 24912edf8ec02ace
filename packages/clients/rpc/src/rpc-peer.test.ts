/** Tests the limit on unanswered requests of a JSON-RPC peer. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { createRpcPeer, type RpcOutcome } from "./rpc-peer.ts";

it("limits unanswered requests, and accepts more once some are answered", async () => {
  const told: { readonly id?: number; readonly result?: object; readonly error?: { message: string } }[] = [];
  const waiting: ((outcome: RpcOutcome) => void)[] = [];
  const peer = createRpcPeer({
    write: (line) => told.push(JSON.parse(line)),
    answer: () => new Promise((resolve) => waiting.push(resolve)),
  });
  const line = (id: number): string => `${JSON.stringify({ jsonrpc: "2.0", id, method: "m" })}\n`;
  const more = Promise.withResolvers<void>();
  async function* input(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(Array.from({ length: 1_100 }, (_, id) => line(id)).join(""));
    await more.promise;
    yield Buffer.from(line(2_000));
  }
  const served = peer.serve(input());
  await new Promise(setImmediate);
  assert.equal(waiting.length, 1_000);
  assert.deepEqual(
    told.map(({ id }) => id),
    Array.from({ length: 100 }, (_, at) => 1_000 + at),
  );
  assert.match(told[0]?.error?.message ?? "", /1000 requests wait for their answers: ask again/);
  for (const resolve of waiting.splice(0)) resolve({ result: {} });
  await new Promise(setImmediate);
  more.resolve();
  await new Promise(setImmediate);
  assert.equal(waiting.length, 1);
  waiting[0]?.({ result: {} });
  await served;
  assert.deepEqual(told.at(-1), { jsonrpc: "2.0", id: 2_000, result: {} });
});
