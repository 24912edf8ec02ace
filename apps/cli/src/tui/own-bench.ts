/**
 * Runs the person's commands before there is a session; its background commands run until the person leaves.
 */
import { openWorkbench, type Workbench } from "@lathe/hosts/local";
import { type Failure, isFailure } from "@lathe/protocol";

export class OwnBench {
  #bench: Workbench | undefined;

  open(options: Parameters<typeof openWorkbench>[0]): Workbench | Failure {
    if (this.#bench) return this.#bench;
    const bench = openWorkbench(options, new AbortController().signal);
    if (!isFailure(bench)) this.#bench = bench;
    return bench;
  }

  /** The IDs start with `!`, so that they differ from a session's. */
  processes(): ReturnType<Workbench["processes"]> {
    return (this.#bench?.processes() ?? []).map((process) => ({ ...process, id: `!${process.id}` }));
  }

  async close(): Promise<void> {
    await this.#bench?.close();
    this.#bench = undefined;
  }
}
