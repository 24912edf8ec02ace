/** Lazy checkpoints: what the files were, kept outside the project; opened when first needed. */
import { existsSync } from "node:fs";
import {
  type Checkpoint,
  type Checkpoints,
  type Failure,
  type Fenced,
  failure,
  isFailure,
} from "@lathe/protocol";
import { homeFolder } from "@lathe/system";
import type { CheckpointsOptions } from "@lathe/workspace/checkpoints";
import { hostProgramPath } from "../places/host-programs.ts";
import { stateFolder, workspaceFolder } from "../places/state-folder.ts";
import { recoveryText } from "./recovery-text.ts";

export interface CheckpointPlace {
  /** Real path of the workspace. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fenced?: Fenced;
  /** Told in one sentence what had to be mended. */
  readonly onRemark?: ((text: string) => void) | undefined;
}

export interface LazyCheckpoints {
  /** *Contract:* a failure where there can be none, the same each time. */
  open(): Promise<Checkpoints | Failure>;
  take(session: string, signal: AbortSignal): Promise<Checkpoint | Failure>;
  /** What was taken last here; undefined where nothing was. */
  last(): string | undefined;
  /** *Contract:* ends what runs; now and then makes room in the stores of all folders. Idempotent. */
  close(): Promise<void>;
}

export function createLazyCheckpoints(place: CheckpointPlace): LazyCheckpoints {
  const { env } = place;
  // Not before it is needed: the folders around the workspace are looked at.
  const storesIn = () => ({
    folder: `${stateFolder(env)}/checkpoints`,
    path: hostProgramPath(env, place.root),
  });
  let opening: Promise<Checkpoints | Failure> | undefined;
  let last: string | undefined;
  const open = (): Promise<Checkpoints | Failure> => {
    opening ??= openIn(place, storesIn());
    return opening;
  };
  return {
    open,
    async take(session, signal) {
      const opened = await open();
      if (isFailure(opened)) return opened;
      const taken = await opened.take(session, { signal });
      if (!isFailure(taken)) last = taken.ref;
      return taken;
    },
    last: () => last,
    async close() {
      const opened = await opening;
      if (!opened || isFailure(opened)) return;
      opening = undefined;
      await opened.close();
      const { collectStores } = await import("@lathe/workspace/checkpoints");
      // Best effort: what could not go now goes another day.
      await collectStores(storesIn());
    },
  };
}

async function openIn(
  { root, env, fenced, onRemark }: CheckpointPlace,
  stores: Pick<CheckpointsOptions, "folder" | "path">,
): Promise<Checkpoints | Failure> {
  const [{ openCheckpoints }, { unifiedDiff }] = await Promise.all([
    import("@lathe/workspace/checkpoints"),
    import("@lathe/edits"),
  ]);
  return openCheckpoints({
    ...stores,
    root,
    journal: workspaceFolder(env, root),
    home: homeFolder(env),
    excluded: [stateFolder(env)],
    unified: unifiedDiff,
    ...(fenced && { fenced }),
    onRecovered: (recovery) => onRemark?.(recoveryText(recovery)),
  });
}

/** For one piece of work, closed after it. */
export async function withCheckpoints<T>(
  place: CheckpointPlace,
  work: (checkpoints: Checkpoints) => Promise<T | Failure>,
): Promise<T | Failure> {
  // Its store is known by the real path: of a folder that is gone it would seem empty.
  if (!existsSync(place.root)) {
    const text = `${place.root}, where it worked, is not there: bring it back to where it was first`;
    return failure("no-access", text, { who: "user" });
  }
  const lazy = createLazyCheckpoints(place);
  const checkpoints = await lazy.open();
  if (isFailure(checkpoints)) return checkpoints;
  try {
    return await work(checkpoints);
  } finally {
    await lazy.close();
  }
}
