/** Descriptors that this process inherited and would pass on: Node closes only those it opened itself. */
import { readdirSync, readFileSync } from "node:fs";

const closeOnExec = 0o2000000;
const highest = 1023;

let found: readonly number[] | undefined;

/** Above 2, in order; found once, because later ones are not passed on. */
export function inheritedFds(): readonly number[] {
  found ??= process.platform === "linux" ? find() : [];
  return found;
}

function find(): readonly number[] {
  return readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((fd) => fd > 2 && fd <= highest && isPassedOn(fd))
    .sort((a, b) => a - b);
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/mu.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}
