/** Lazy checkpoints: what the files were, kept outside the project; opened when first needed. */
import { type Checkpoints, type Failure, type Fenced, isFailure } from "@lathe/protocol";
import { homeFolder } from "./home-folder.ts";
import { stateFolder, workspaceFolder } from "./state-folder.ts";

export interface CheckpointPlace {
  /** Real path of the workspace. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fenced?: Fenced;
}

/** *Contract:* a failure where there can be none, the same each time. */
export type LazyCheckpoints = () => Promise<Checkpoints | Failure>;

export function createLazyCheckpoints({ root, env, fenced }: CheckpointPlace): LazyCheckpoints {
  let opening: Promise<Checkpoints | Failure> | undefined;
  const open = async (): Promise<Checkpoints | Failure> => {
    const [{ openCheckpoints }, { unifiedDiff }] = await Promise.all([
      import("@lathe/workspace/checkpoints"),
      import("@lathe/edits"),
    ]);
    const state = stateFolder(env);
    return openCheckpoints({
      root,
      folder: `${state}/checkpoints`,
      journal: workspaceFolder(env, root),
      home: homeFolder(env),
      path: env.PATH ?? "",
      excluded: [state],
      unified: unifiedDiff,
      ...(fenced && { fenced }),
    });
  };
  return () => {
    opening ??= open();
    return opening;
  };
}

/** One method of checkpoints that may not be there. */
export async function withCheckpoints<T>(
  open: LazyCheckpoints,
  work: (checkpoints: Checkpoints) => Promise<T | Failure>,
): Promise<T | Failure> {
  const checkpoints = await open();
  return isFailure(checkpoints) ? checkpoints : work(checkpoints);
}
