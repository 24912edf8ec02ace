/** Where a path outside the workspace leads: as commands find it, else on this machine, and what reading it needs. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Failure, failure, type Place, type SandboxSpec } from "@lathe/protocol";
import { isBelow } from "../paths/path-order.ts";
import { realPath } from "../paths/real-path.ts";
import { repositoryAbove } from "../watch/git-guards.ts";
import { controlFolder } from "./folders.ts";
import { isGrantable, isReadable } from "./grantable.ts";
import type { Mount } from "./policy.ts";

export interface View {
  readonly spec: SandboxSpec;
  /** Of which commands' view is made; absent when they see the machine as it is. */
  readonly mounts?: readonly Mount[] | undefined;
  /** Absolute path of the user's home. */
  readonly home: string;
}

/** Links from one name of a place to another, at most: in a circle they lead nowhere. */
const mostTurns = 8;

export function findPlace(asked: string, { spec, home, ...view }: View): Place | Failure {
  if (asked.includes("\0")) return failure("invalid-arguments", "A path may not contain a NUL character.");
  const path = resolve(spec.workspace, asked);
  const shown = shownPlace(path, view.mounts ?? ownMounts(spec));
  if (shown !== undefined) return { path: shown };
  const real = realPath(path);
  if (real === undefined) return failure("not-found", `${asked} does not exist.`);
  const closed = [spec.scratch, ...(spec.hidden ?? [])];
  if (!isReadable(real, realPath(home) ?? home) || closed.some((folder) => isBelow(real, folder)))
    return failure("no-access", `${asked} is granted to nobody.`);
  return { path: real, needs: { kind: "read", target: wholeOf(real, home) } };
}

/** Where nothing is shown to commands but all is theirs, what they leave for themselves can be read. */
function ownMounts({ scratch }: SandboxSpec): readonly Mount[] {
  return [
    { kind: "writable", from: scratch, to: scratch },
    { kind: "hidden", at: join(scratch, controlFolder) },
  ];
}

/** Real path of what commands find there; undefined for nothing, and for what lies only on this machine. */
function shownPlace(path: string, mounts: readonly Mount[], turns = 0): string | undefined {
  if (turns > mostTurns) return undefined;
  const mount = mounts.findLast((one) => one.kind !== "pinned" && isBelow(path, placeOf(one)));
  if (!mount) return undefined;
  const rest = path.slice(placeOf(mount).length);
  if (mount.kind === "link") {
    const target = resolve(dirname(mount.at), mount.target);
    return shownPlace(`${target}${rest}`, mounts, turns + 1);
  }
  if (mount.kind !== "read-only" && mount.kind !== "writable") return undefined;
  const real = realPath(`${mount.from}${rest}`);
  if (real === undefined || isBelow(real, realPath(mount.from) ?? mount.from)) return real;
  return shownPlace(real, mounts, turns + 1);
}

function placeOf(mount: Mount): string {
  return "to" in mount ? mount.to : mount.at;
}

/** Files of a repository belong together; all else is granted as it was named. */
function wholeOf(real: string, home: string): string {
  const realHome = realPath(home) ?? home;
  const top = existsSync(join(real, ".git")) ? real : repositoryAbove(real, realHome);
  return top !== undefined && isGrantable(top, false, realHome) ? top : real;
}
