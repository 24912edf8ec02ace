/** Lazy hooks: the hooks of a session, loaded before its first turn where any are written down. */

import { join } from "node:path";
import { loadHooks, type SessionHooks } from "@lathe/extensions";
import type { Ports, Session } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { stateFolder } from "../places/state-folder.ts";

interface Hooked {
  /** Theirs from then on. */
  readonly ports: Ports;
  readonly isNew: boolean;
  session(): Session;
  cancel(by: string): Promise<unknown>;
}

export interface LazyHooks {
  /** *Contract:* before a turn; they have their say from then on. */
  open(): Promise<SessionHooks | undefined>;
  close(): Promise<void>;
}

export function lazyHooks(
  { cwd, env, onRemark = () => undefined }: LocalOptions,
  { ports, isNew, session, cancel }: Hooked,
): LazyHooks {
  let opening: Promise<SessionHooks | undefined> | undefined;
  const load = async (): Promise<SessionHooks | undefined> => {
    const tell = session().agent === undefined ? onRemark : (): void => undefined;
    const log = join(stateFolder(env), "sessions", `${session().id}.jsonl`);
    const place = { cwd, env, log, session, ports, onRemark: tell, cancel: (by: string) => void cancel(by) };
    const hooks = await loadHooks(place);
    // The ports say their rules anew each time: they are not to be copied.
    if (hooks) Object.assign(ports, { hooks });
    await hooks?.begin(isNew ? "startup" : "resume");
    return hooks;
  };
  return {
    open: () => {
      opening ??= load();
      return opening;
    },
    close: async () => (await opening)?.end(),
  };
}
