/** Frames of the box protocol (native/PROTOCOL.md): length, type, number, payload. */

const headerBytes = 9;
/** The agent's frames are small; a longer one does not come from the agent. */
const longestFrame = 1024 * 1024;

export interface Frame {
  readonly type: string;
  readonly number: number;
  readonly payload: Buffer;
}

export function frameBytes(type: string, number: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.allocUnsafe(headerBytes + payload.length);
  bytes.writeUInt32LE(payload.length + headerBytes - 4, 0);
  bytes.write(type, 4, 1, "latin1");
  bytes.writeUInt32LE(number, 5);
  bytes.set(payload, headerBytes);
  return bytes;
}

/** Encodes words for the agent; none of them may contain a NUL. */
export function wordBytes(words: readonly string[]): Buffer {
  return Buffer.from(`${words.join("\0")}\0`);
}

/** Splits incoming bytes into whole frames. Throws on bytes that cannot be a frame. */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= headerBytes) {
      const size = bytes.readUInt32LE(at) + 4;
      if (size < headerBytes || size > longestFrame) throw new Error(`a frame of ${size} bytes`);
      if (bytes.length - at < size) break;
      const type = bytes.toString("latin1", at + 4, at + 5);
      onFrame({
        type,
        number: bytes.readUInt32LE(at + 5),
        payload: bytes.subarray(at + headerBytes, at + size),
      });
      at += size;
    }
    // A copy, so that a few bytes do not keep a large chunk alive.
    rest = at === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  };
}
