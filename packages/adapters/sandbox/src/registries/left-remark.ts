/** Left remark: tells a person which of their registries commands cannot use. */
import type { LeftRegistry } from "./registry-keeping.ts";

const programs = { npm: "npm", pypi: "pip", go: "Go", crates: "Cargo" } as const;

const reasons: Readonly<Record<LeftRegistry["why"], string>> = {
  "own-address":
    "is an address that commands have for themselves; name the registry by another of this machine",
  login: "wants a login, which commands are not given",
  key: "has what looks like a key in its address, which commands are not given",
};

/** One sentence; undefined if nothing is left out. */
export function leftRemark(left: readonly LeftRegistry[]): string | undefined {
  const texts = left.map(
    ({ kind, host, why }) => `the registry ${host} of ${programs[kind]} ${reasons[why]}`,
  );
  if (texts.length === 0) return undefined;
  return `commands are not brought to registries of your settings: ${[...new Set(texts)].join("; ")}`;
}
