/** Blob paths: the name under which a model can read all of an output that it saw in part. */
import { type Failure, isFailure, type ToolContext } from "@lathe/protocol";

const prefix = "blob:";

export function isBlobPath(path: string | undefined): path is string {
  return path?.startsWith(prefix) === true;
}

export async function readBlobPath(path: string, { blobs }: ToolContext): Promise<string | Failure> {
  const whole = await blobs.get(path.slice(prefix.length));
  return isFailure(whole) ? { ...whole, text: `there is no output ${path}: copy its name whole` } : whole;
}
