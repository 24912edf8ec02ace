/** `lathe fork diff`: what one fork differs in from its folder as it is now. */
import { compareFork, type Fork } from "@lathe/hosts/forks";
import { type Failure, isFailure } from "@lathe/protocol";
import { paletteFor } from "../render/palette.ts";
import { countText, listingText } from "./fork-text.ts";

const mostLines = 1_000;

export async function diffCommand(fork: Fork, json: boolean): Promise<number | Failure> {
  const compared = await compareFork(process.env, fork);
  if (isFailure(compared)) return compared;
  const { differences, held } = compared;
  if (json) {
    const told = differences.map((one) => ({
      ...one,
      path: Buffer.from(one.path, "latin1").toString(),
      ...(held.has(one.path) && { heldBack: held.get(one.path) }),
    }));
    process.stdout.write(`${JSON.stringify(told)}\n`);
    return 0;
  }
  const paint = paletteFor(process.stdout, process.env);
  process.stdout.write(listingText(compared, paint, mostLines));
  process.stdout.write(paint.dim(`${countText(differences)}\n`));
  return 0;
}
