/** Limits of the sandbox as people write them, and what several sources come to. */
import type { SandboxLimits, SandboxLimitsChoice } from "@lathe/hosts/local";
import { type Failure, failure } from "@lathe/protocol";

/** As a file or the command line has them. */
export interface WrittenLimits {
  /** For example `8G`, or a number of bytes. */
  readonly memory?: string | number;
  readonly processes?: number;
  readonly fileSize?: string | number;
}

/** Less of it, and no command would start. */
const leastMemory = 64 * 2 ** 20;
const leastFile = 2 ** 20;
const leastProcesses = 16;

const factors: Readonly<Record<string, number>> = { "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Bytes of `8G`, `512 MiB` or `1.5T`; undefined for what is no size. */
function bytesOf(text: string | number): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/iu.exec(String(text).trim()) ?? [];
  const bytes = Math.floor(Number(number) * (factors[unit.toUpperCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** What is wrong with them, in words that follow the name of the setting; undefined when nothing is. */
export function wrongLimit({ memory, processes, fileSize }: WrittenLimits): string | undefined {
  return (
    wrongSize("memory", memory, { least: leastMemory, named: "64M" }) ??
    wrongSize("fileSize", fileSize, { least: leastFile, named: "1M" }) ??
    wrongCount(processes)
  );
}

function wrongSize(
  name: string,
  text: string | number | undefined,
  { least, named }: { readonly least: number; readonly named: string },
): string | undefined {
  if (text === undefined) return undefined;
  const bytes = bytesOf(text);
  if (bytes === undefined) return `${name}: a size is wanted, such as 512M or 8G, not "${text}"`;
  return bytes < least
    ? `${name}: ${named} is the least that commands can work with, not ${text}`
    : undefined;
}

function wrongCount(processes: number | undefined): string | undefined {
  if (processes === undefined || (Number.isSafeInteger(processes) && processes >= leastProcesses))
    return undefined;
  return `processes: a whole number from ${leastProcesses} up is wanted, not ${processes}`;
}

/** *Contract:* only of what `wrongLimit` finds nothing wrong with. */
function limitsOf({ memory, processes, fileSize }: WrittenLimits = {}): Partial<SandboxLimits> {
  return {
    ...(memory !== undefined && { memoryBytes: bytesOf(memory) ?? leastMemory }),
    ...(processes !== undefined && { processes }),
    ...(fileSize !== undefined && { fileBytes: bytesOf(fileSize) ?? leastFile }),
  };
}

/** Whose limits they are; a later one counts before those in front of it. */
export interface LimitSources {
  /** Sets, and is never exceeded. */
  readonly managed?: WrittenLimits | undefined;
  readonly user?: WrittenLimits | undefined;
  /** Lowers only, unless the user trusts its folder. */
  readonly project?: WrittenLimits | undefined;
  readonly isTrusted: boolean;
  readonly flags?: WrittenLimits | undefined;
}

export function chosenLimits({
  managed,
  user,
  project,
  isTrusted,
  flags,
}: LimitSources): SandboxLimitsChoice {
  const said = limitsOf(flags);
  // What the line says, the project does not lower.
  const lowering = Object.entries(isTrusted ? {} : limitsOf(project)).filter(([name]) => !(name in said));
  return {
    wanted: { ...limitsOf(managed), ...limitsOf(user), ...(isTrusted ? limitsOf(project) : {}), ...said },
    most: lowest(limitsOf(managed), Object.fromEntries(lowering)),
  };
}

function lowest(a: Partial<SandboxLimits>, b: Partial<SandboxLimits>): Partial<SandboxLimits> {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof SandboxLimits)[];
  const infinite = Number.POSITIVE_INFINITY;
  return Object.fromEntries(names.map((name) => [name, Math.min(a[name] ?? infinite, b[name] ?? infinite)]));
}

/** What the flags of `sandbox exec` say. */
export function limitFlags(values: {
  readonly memory?: string | undefined;
  readonly processes?: string | undefined;
  readonly "file-size"?: string | undefined;
}): WrittenLimits | Failure {
  const { memory, processes, "file-size": fileSize } = values;
  const written = {
    ...(memory !== undefined && { memory }),
    ...(processes !== undefined && { processes: processes.trim() === "" ? Number.NaN : Number(processes) }),
    ...(fileSize !== undefined && { fileSize }),
  };
  const wrong = wrongLimit(written);
  if (wrong === undefined) return written;
  return failure("invalid-arguments", `--${wrong.replace(/^fileSize/u, "file-size")}`, { who: "user" });
}
