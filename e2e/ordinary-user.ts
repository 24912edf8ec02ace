/** Finds a user of this machine other than root to run commands as. */
import { readFileSync } from "node:fs";

export interface OrdinaryUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The first login user, or the user `nobody`. */
export function ordinaryUser(): OrdinaryUser {
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
  return users.find(({ uid }) => uid >= 1000 && uid < 60_000) ?? { name: "nobody", uid: 65_534, gid: 65_534 };
}
