/** Gather facts: what policy needs to know of the session and of the world to judge effects. */
import { factsNeeded, repositoriesAround } from "@lathe/policy";
import {
  type ContainmentFacts,
  type Effect,
  type Facts,
  isFailure,
  type Mode,
  noTreePermissions,
  type PathFact,
  type Ports,
  type Refusal,
  type Rule,
  type Session,
  type TreePermissions,
} from "@lathe/protocol";

/** What is known of the session that asks. */
export interface Asking {
  readonly mode: Mode;
  /** Whether the files are kept before they are changed. */
  readonly keepsFiles: boolean;
  readonly refusals: readonly Refusal[];
  /** What a person allowed for the rest of it. */
  readonly allowed?: readonly Rule[];
  /** What its commands may do beyond the sandbox's spec. */
  readonly grants?: readonly Effect[];
}

export function askingOf(
  { settings, uncovered, refusals, rules, grants }: Session,
  treePermissions: TreePermissions = noTreePermissions,
): Asking {
  return {
    mode: settings.mode,
    keepsFiles: settings.checkpoints === true && uncovered === undefined,
    refusals: [...treePermissions.refusals, ...refusals],
    allowed: [...treePermissions.rules, ...rules],
    grants: [...treePermissions.grants, ...grants],
  };
}

export async function gatherFacts(
  effects: readonly Effect[],
  { mode, keepsFiles, refusals, allowed = [] }: Asking,
  ports: Pick<Ports, "workspace" | "containment" | "surroundings">,
): Promise<Facts> {
  const needed = factsNeeded(effects);
  const { workspace, surroundings } = ports;
  const held = needed.containment ? await ports.containment() : unasked;
  const losing = needed.losing.length > 0;
  const isLosing = losing || needed.unsaved;
  const uncovered = isLosing && keepsFiles ? await surroundings.uncovered() : undefined;
  const unsaved = needed.unsaved ? await surroundings.unsaved() : undefined;
  const paths = await Promise.all(
    needed.paths.map(async (path): Promise<readonly [string, PathFact]> => {
      const real = await workspace.resolve(path);
      if (isFailure(real)) return [path, { real: path, inside: false, failure: real }];
      const isAbsent = needed.losing.includes(path) && !(await surroundings.exists(real));
      const written = needed.written.includes(path) ? await writtenFact(real, surroundings) : {};
      return [path, { real, inside: true, ...(isAbsent && { absent: true }), ...written }];
    }),
  );
  return {
    mode,
    ...held,
    paths: Object.fromEntries(paths),
    ...(uncovered && { uncovered }),
    ...(unsaved !== undefined && { unsaved }),
    ...(refusals.length > 0 && { refusals }),
    ...(allowed.length > 0 && { allowed }),
  };
}

async function writtenFact(
  path: string,
  surroundings: Ports["surroundings"],
): Promise<Pick<PathFact, "repository" | "obeyed">> {
  const obeyed = await surroundings.obeyed?.(path);
  return { ...(await repositoryAround(path, surroundings)), ...(obeyed !== undefined && { obeyed }) };
}

/** The folder that has a `HEAD` already, or gets the rest of what makes it a repository. */
async function repositoryAround(
  path: string,
  { exists }: Pick<Ports["surroundings"], "exists">,
): Promise<Pick<PathFact, "repository">> {
  for (const folder of repositoriesAround(path)) {
    if (await exists(folder === "" ? "HEAD" : `${folder}/HEAD`)) return { repository: folder };
  }
  return {};
}

/** Reads and edits need not wait until it is known what holds commands in. */
const unasked: ContainmentFacts = { containment: "none", uncontainedAllowed: false };
