/** MCP place: where a server works that is about to start, and whether what it runs of the workspace is still what the person said yes to. */
import { mkdirSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { digestOf, isAsKnown, maxFiles, type ServerFiles, serverFiles } from "@lathe/extensions/servers";
import type { ServerSpec } from "@lathe/protocol";
import { type Failure, failure } from "@lathe/protocol";
import { leadsInto } from "@lathe/system";
import type { LocalOptions } from "../local-options.ts";
import { stateFolder } from "../places/state-folder.ts";

export interface StartingServer {
  readonly name: string;
  readonly spec: ServerSpec;
  /** The server's own part of the state folder; made if it is to work there. */
  readonly folder: string;
}

/**
 * A server has the user's own rights and works in the workspace itself, where its program finds its data, writes its
 * files and asks git. So it is neither put into the sandbox nor started from a copy, which would take that from ordinary
 * servers, and no copy is mounted over its files: a rename by a command takes such a mount away. In place of that all
 * commands in the workspace stand still from before this look until the server has greeted: what was looked at is what it
 * has loaded by then. What it loads only later may have been changed meanwhile; the next start looks at it again.
 * *Contract:* for each start anew: files of the workspace may have changed since the last one. Commands stand still.
 */
export function placeOfServer(
  { name, spec, folder }: StartingServer,
  { cwd, env }: Pick<LocalOptions, "cwd" | "env">,
): string | Failure {
  const isProjects = spec.trusted !== undefined;
  const found = serverFiles(spec, { cwd, env, isProjects });
  if (!found.isAll) return notStarted(name, tooMany);
  const isSame = isProjects
    ? digestOf(found) === spec.trusted
    : isAsYesWasSaid(name, spec, { found, cwd, env });
  if (!isSame) return notStarted(name, changed);
  if ("url" in spec) return cwd;
  if (isProjects) return resolve(cwd, spec.cwd ?? ".");
  return spec.cwd === undefined ? ownFolder(folder, { cwd, env }) : resolve(cwd, spec.cwd);
}

type Checked = Pick<LocalOptions, "cwd" | "env"> & { readonly found: ServerFiles };

/** Nobody needs to say anything to one that runs nothing of the workspace. */
function isAsYesWasSaid(name: string, spec: ServerSpec, { found, ...place }: Checked): boolean {
  return found.files.length === 0 || isAsKnown({ name, spec, files: found.files }, place);
}

const changed =
  "files of this project that it may load are not as they were when you said yes to it; `lathe mcp trust` shows and allows them to new sessions";
const tooMany = `it may load more than ${maxFiles} files of this project, and nobody can see whether they change: put it outside of the project`;

function notStarted(name: string, why: string): Failure {
  return failure("no-access", `the MCP server ${name} is not started: ${why}`, { who: "user" });
}

/**
 * Programs look up other programs, libraries and settings where they start (npx prefers the `node_modules` there and
 * above), so the user's own start where nobody else puts any. An empty `node_modules` ends npm's search upwards.
 */
function ownFolder(folder: string, { cwd, env }: Pick<LocalOptions, "cwd" | "env">): string {
  if (leadsInto(stateFolder(env), cwd)) return sep;
  try {
    mkdirSync(join(folder, "node_modules"), { recursive: true, mode: 0o700 });
    return folder;
  } catch {
    return sep;
  }
}
