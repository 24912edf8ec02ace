/** Made hello: the first bytes of a real TLS client, for tests. */
import { Duplex } from "node:stream";
import { connect } from "node:tls";

/** The first bytes that Node's own TLS client sends. */
export function helloOf(servername: string | undefined): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const wire = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      resolve(chunk);
      done();
    },
  });
  const client = connect({ socket: wire, ...(servername !== undefined && { servername }) });
  client.on("error", () => {});
  return promise.finally(() => client.destroy());
}

/** The same hello in records of at most `size` bytes. */
export function inRecords(hello: Buffer, size: number): Buffer {
  const body = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size);
    const head = Buffer.from(hello.subarray(0, 5));
    head.writeUInt16BE(piece.length, 3);
    records.push(head, piece);
  }
  return Buffer.concat(records);
}
