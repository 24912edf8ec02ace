/** Completed values: shell completions while a command is typed; contacts no server, opens no session. */
import type { LocalOptions } from "./local-options.ts";

export interface CompletedValue {
  readonly value: string;
  readonly about: string;
}

/** The most completions that are useful to a person. */
const most = 100;

/** Sessions that people started, newest first. */
export async function completedSessions(env: LocalOptions["env"]): Promise<readonly CompletedValue[]> {
  const { listSessions } = await import("./stored-sessions.ts");
  const found = (await listSessions(env, {})).filter(({ agent }) => agent === undefined);
  return found.slice(0, most).map(({ id, title }) => ({ value: id, about: title }));
}

/** The models that the user's keys and configuration can reach. */
export async function completedModels(
  options: Pick<LocalOptions, "env" | "providers" | "catalogue">,
): Promise<readonly CompletedValue[]> {
  const [{ openGateway }, { builtinModel, isReached }] = await Promise.all([
    import("./models/model-gateway.ts"),
    import("@lathe/models"),
  ]);
  const gateway = openGateway({ ...options, version: "0" });
  const reached = gateway.known().filter(({ info }) => isReached(info.id, options));
  gateway.close();
  return [
    { value: "auto", about: "a router chooses" },
    { value: builtinModel, about: "needs no key" },
    ...reached.map(({ info }) => ({ value: info.id, about: "" })),
  ];
}

export async function completedForks(env: LocalOptions["env"]): Promise<readonly CompletedValue[]> {
  const [{ listForks }, { forksFolder }] = await Promise.all([
    import("@lathe/overlays/fork"),
    import("./places/state-folder.ts"),
  ]);
  const forks = listForks(forksFolder(env));
  return forks.map(({ id, about }) => ({ value: id, about }));
}
