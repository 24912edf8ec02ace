/** Where a path outside the workspace leads: as commands find it, else on this machine, and what reading it needs. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Failure, failure, type Place, type SandboxSpec } from "@lathe/protocol";
import { isBelow, realPath } from "@lathe/system/paths";
import { repositoryAbove } from "../watch/git-guards.ts";
import { controlFolder } from "./folders.ts";
import { isGrantable, isReadable, ownPlaces } from "./grantable.ts";
import type { Mount } from "./policy.ts";
import { shownMounts } from "./sandbox-policy.ts";

export interface View {
  readonly spec: SandboxSpec;
  /** Of which commands' view is made; absent when they see the machine as it is. */
  readonly mounts?: readonly Mount[] | undefined;
  /** Absolute path of the user's home. */
  readonly home: string;
}

/** Links from one name of a place to another, at most: in a circle they lead nowhere. */
const maxTurns = 8;

export function findPlace(asked: string, { spec, home, ...view }: View): Place | Failure {
  if (asked.includes("\0")) return failure("invalid-arguments", "A path may not contain a NUL character.");
  const { workspace, scratch, hidden = [], closed = [] } = spec;
  const path = resolve(workspace, asked);
  const shown = shownTo(path, spec, view.mounts ?? ownMounts(spec));
  const real = shown?.path ?? realPath(path);
  if (real === undefined) return failure("not-found", `${asked} does not exist.`);
  const isBelowAny = (folders: readonly string[]): boolean => folders.some((one) => isBelow(real, one));
  const denied = failure("no-access", `${asked} is granted to nobody.`);
  const kept = [...closed, ...ownPlaces(home)];
  const apart = [workspace, scratch, ...hidden, ...kept];
  const known = { asked: path, closed: apart.filter((one) => one !== real && isBelow(one, real)) };
  if (isBelowAny([join(scratch, controlFolder), ...hidden])) return denied;
  // What is said of reading in the workspace holds for it.
  if (isBelow(real, workspace)) return { path: real, name: real, ...known };
  if (shown) return { ...shown, ...known };
  if (isBelowAny([scratch, ...kept]) || !isReadable(real, realPath(home) ?? home)) return denied;
  return { path: real, name: real, ...known, needs: { kind: "read", target: wholeOf(real, home, apart) } };
}

/** Where nothing is shown to commands but all is theirs, what they leave for themselves can be read. */
function ownMounts(spec: SandboxSpec): readonly Mount[] {
  const { scratch } = spec;
  return [
    ...shownMounts(spec),
    { kind: "writable", from: scratch, to: scratch },
    { kind: "hidden", at: join(scratch, controlFolder) },
  ];
}

type Shown = Pick<Place, "path" | "name" | "isWritable">;

/** What the spec shows is found by any name; some drivers know it only by where it lies. */
function shownTo(path: string, spec: SandboxSpec, mounts: readonly Mount[]): Shown | undefined {
  const real = spec.shown && realPath(path);
  const isShown =
    real !== undefined && shownMounts(spec).some((one) => "from" in one && isBelow(real, one.from));
  return shownPlace(path, mounts) ?? (isShown ? shownPlace(real, mounts) : undefined);
}

/** What commands find there; undefined for nothing, and for what lies only on this machine. */
function shownPlace(path: string, mounts: readonly Mount[], turns = 0): Shown | undefined {
  if (turns > maxTurns) return undefined;
  const mount = mounts.findLast((one) => one.kind !== "pinned" && isBelow(path, placeOf(one)));
  if (!mount) return undefined;
  const rest = path.slice(placeOf(mount).length);
  if (mount.kind === "link") {
    const target = resolve(dirname(mount.at), mount.target);
    return shownPlace(`${target}${rest}`, mounts, turns + 1);
  }
  if (mount.kind !== "read-only" && mount.kind !== "writable") return undefined;
  const [real, from] = [realPath(`${mount.from}${rest}`), realPath(mount.from) ?? mount.from];
  if (real === undefined) return undefined;
  if (!isBelow(real, from)) return shownPlace(real, mounts, turns + 1);
  // By a link within: something else may lie on top of where it leads.
  const name = `${mount.to}${real.slice(from.length)}`;
  if (name !== path) return shownPlace(name, mounts, turns + 1);
  return { path: real, name, ...(mount.kind === "writable" && { isWritable: true }) };
}

function placeOf(mount: Mount): string {
  return "to" in mount ? mount.to : mount.at;
}

/** Files of a repository belong together, where it holds nothing that is apart; all else is granted as it was named. */
function wholeOf(real: string, home: string, apart: readonly string[]): string {
  const realHome = realPath(home) ?? home;
  const top = existsSync(join(real, ".git")) ? real : repositoryAbove(real, realHome);
  if (top === undefined || !isGrantable(top, false, realHome)) return real;
  return apart.some((one) => isBelow(one, top)) ? real : top;
}
