/** Own bench: where the person's commands run before there is a session; what goes on in its background does so until they leave. */
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

  /** By names that no session has. */
  processes(): ReturnType<Workbench["processes"]> {
    return (this.#bench?.processes() ?? []).map((process) => ({ ...process, id: `!${process.id}` }));
  }

  async close(): Promise<void> {
    await this.#bench?.close();
    this.#bench = undefined;
  }
}
