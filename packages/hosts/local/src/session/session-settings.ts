/** Session settings: what the options come to in the log of a session, and which models those stand for when it goes on. */
import { isFailure, type Session } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { autoMode } from "../models/auto-models.ts";
import { chooseModels } from "../models/choose-models.ts";

type Settings = Session["settings"];
type Chain = Pick<Settings, "models" | "router">;

/** As they were asked for; of a session that no model was asked for yet the one that it was begun for. */
export function modelsOf({ settings: { models, router }, prompt }: Session): readonly string[] {
  if (router) return [`auto:${router.mode}`];
  return models.length === 0 && prompt.model !== undefined ? [prompt.model] : models;
}

export function settingsOf(
  { models, router }: Chain,
  { env, mode, attended, checkpoints, planner, assigned, guardRails }: LocalOptions,
): Settings {
  const routed = { ...(router && { router }), ...(planner !== undefined && { planner }) };
  const tried = assigned && assigned.length > 0 ? { experiments: assigned } : {};
  const inFork = env.LATHE_FORK ? { inFork: env.LATHE_FORK } : {};
  const rest = { ...inFork, ...tried, ...(guardRails && { guardRails }) };
  return { models, ...routed, mode, attended, checkpoints, ...rest };
}

/** The same for a session that asks no model itself. */
export function unaskedSettings(options: LocalOptions): Settings {
  const { models, env, effort } = options;
  const mode = autoMode(models);
  const router = mode === undefined || isFailure(mode) ? undefined : { mode };
  const chain = { models: chooseModels(models, env), ...(router && { router }) };
  return { ...settingsOf(chain, options), ...(effort && { effort }) };
}
