/** Local forks: the forks of this user on this machine. What only some commands need is loaded when it is called. */
import type { ForkHost } from "@lathe/overlays";
import type { Fork } from "@lathe/overlays/fork";
import {
  allForks,
  compareFork,
  dropFork,
  type EnteringFork,
  enteringFork,
  findFork,
  isCutOff,
  type ListedFork,
  listForks,
  mendBase,
  mendFolder,
  type NewFork,
  openFork,
} from "@lathe/overlays/forks";
import type { AppliedCopy, ApplyOptions, ComparedCopy, Failure } from "@lathe/protocol";
import { newSessionId } from "@lathe/sessions";
import { type Env, homeFolder } from "@lathe/system";
import { systemClock } from "../machine/system-clock.ts";
import { forksFolder, workspaceFolder } from "../places/state-folder.ts";
import { ownChangeReason } from "../rules/own-places.ts";
import { recoveryText } from "../session/recovery-text.ts";
import { attemptsUse } from "./attempts-use.ts";
import { forkBinary } from "./fork-binary.ts";

export interface Forks {
  /** The oldest first. */
  all(): readonly Fork[];
  /** By its id or the start of it; undefined where there is none. */
  find(start: string): Fork | Failure | undefined;
  /** *Contract:* `sandbox-unavailable` where forks do not work; `invalid-arguments` for a folder that cannot have one. */
  open(wish: NewFork): Promise<Fork | Failure>;
  /** The command line that starts a program so that it sees the fork in place of its base. */
  entering(fork: Fork, entering: EnteringFork): Promise<readonly [string, ...string[]] | Failure>;
  compare(fork: Fork): Promise<ComparedCopy | Failure>;
  /** The oldest first. Removes empty forks that dead processes have left. */
  list(): Promise<readonly ListedFork[] | Failure>;
  /** *Contract:* all or none, across `kill -9`; once nothing is held back the fork is gone. */
  keep(fork: Fork, options: ApplyOptions): Promise<AppliedCopy | Failure>;
  /** *Contract:* a failure while the fork is open. */
  drop(fork: Fork): Promise<Failure | undefined>;
  /** Whether a session in the fork died in the middle of a change: then `mend` has to run inside the fork. */
  isCutOff(fork: Fork): boolean;
  /** Restores what a process that died in the middle of a change has left in a folder. */
  mend(folder: string): Promise<void>;
  /** *Contract:* as `mend`, for the base of forks; a failure where not everything could be restored. */
  mendBase(base: string, onRemark: (text: string) => void): Promise<Failure | undefined>;
}

export function localForks(env: Env): Forks {
  const host: ForkHost = {
    folder: forksFolder(env),
    home: homeFolder(env),
    inFork: env.LATHE_FORK || undefined,
    newId: () => newSessionId(systemClock),
    binary: () => forkBinary(env),
    journal: (root) => workspaceFolder(env, root),
    ownPlaces: (base) => ownChangeReason(env, base),
    isAwaited: async (session) => ["open", "waits"].includes((await attemptsUse(env, session)) ?? "none"),
  };
  return {
    all: () => allForks(host),
    find: (start) => findFork(host, start),
    open: (wish) => openFork(host, wish),
    entering: (fork, entering) => enteringFork(host, fork, entering),
    compare: (fork) => compareFork(host, fork),
    list: () => listForks(host),
    keep: async (fork, options) =>
      (await import("@lathe/overlays/keep-fork")).keepFork(host, fork, withRecovery(options)),
    drop: (fork) => dropFork(host, fork),
    isCutOff,
    mend: (folder) => mendFolder(host, folder),
    mendBase: (base, onRemark) => mendBase(host, base, withRecovery({ onRemark })),
  };
}

/** What was restored is told like any other remark. */
export function withRecovery<Options extends Pick<ApplyOptions, "onRemark">>(
  options: Options,
): Options & { readonly onRecovered: (recovery: Parameters<typeof recoveryText>[0]) => void } {
  return { ...options, onRecovered: (recovery) => options.onRemark?.(recoveryText(recovery)) };
}
