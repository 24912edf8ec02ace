/** Open views: copy-on-write views of built environments, tested on this machine before they are used. */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { OpenedViews } from "@lathe/evals";
import { enterArgs, layerDifferences } from "@lathe/overlays";
import { placeRefusal } from "@lathe/overlays/fork-refusal";
import { causeText, type Failure, type ForkLayers, failure, isFailure } from "@lathe/protocol";
import { forkBinary } from "../forks/fork-binary.ts";
import { type EvalShellPlace, openEvalShell } from "./eval-shell.ts";

const run = promisify(execFile);

/** `folder`: the run's folder, which contains the views. A failure says why trials work on copies. */
export async function openViews(folder: string, place: EvalShellPlace): Promise<OpenedViews | Failure> {
  const binary = await forkBinary(place.env);
  if (isFailure(binary)) return binary;
  const refused = placeRefusal(folder, "TMPDIR");
  if (refused) return refused;
  const views: OpenedViews = {
    entering: ({ root, layers }, cwd, program) =>
      enterArgs({ base: root, ...layers }, { binary, cwd, program, isAsked: true }),
    changes: async (root, { upper }) => {
      const found = await layerDifferences(binary, { base: root, upper, id: "of a trial" });
      return isFailure(found)
        ? found
        : found.map(({ path, base, fork }) => ({ path, kind: fork.kind, base: base.kind }));
    },
  };
  return (await failureOf(views, join(folder, "try"), place)) ?? views;
}

/** The failure of a view as an agent uses it, or as a grader uses it. */
async function failureOf(
  views: OpenedViews,
  folder: string,
  place: EvalShellPlace,
): Promise<Failure | undefined> {
  const root = join(folder, "root");
  const layersOf = (name: string): ForkLayers => {
    const layers = { upper: join(folder, name, "upper"), work: join(folder, name, "work") };
    for (const path of [layers.upper, layers.work]) mkdirSync(path, { recursive: true });
    return layers;
  };
  const wrong = (why: string, cause?: unknown): Failure =>
    failure("sandbox-unavailable", `views do not work here: ${why}`, { who: "host", cause });
  try {
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, "here"), "");
    const layers = layersOf("enter");
    const [file, ...args] = views.entering({ root, layers }, root, ["/bin/rm", "here"]);
    await run(file, args, { env: {} });
    const changes = await views.changes(root, layers);
    if (isFailure(changes)) return changes;
    if (changes[0]?.kind !== "absent") return wrong("what is changed in one is not told");
    const shell = await openEvalShell(root, { reach: { hosts: [] }, layers: layersOf("shell") }, place);
    if (isFailure(shell)) return shell;
    const ran = await shell.run({ script: "test -e here && rm here", cwd: root, timeoutMs: 30_000 });
    await shell.close();
    if (isFailure(ran)) return ran;
    return ran.code === 0 ? undefined : wrong(ran.output.trim());
  } catch (cause) {
    return wrong(causeText(cause), cause);
  }
}
