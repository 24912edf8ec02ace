/** The settings of a session that compares attempts: it asks no model itself. */
import { isFailure, type Session } from "@lathe/protocol";
import { type SessionHost, settingsOf } from "@lathe/sessions";
import type { LocalOptions } from "../local-options.ts";
import { autoMode } from "../models/auto-models.ts";
import { chooseModels } from "../models/choose-models.ts";

export function unaskedSettings(host: Pick<SessionHost, "fork">, options: LocalOptions): Session["settings"] {
  const { models, env, effort } = options;
  const mode = autoMode(models);
  const router = mode === undefined || isFailure(mode) ? undefined : { mode };
  const chain = { models: chooseModels(models, env), ...(router && { router }) };
  return { ...settingsOf(host, chain, options), ...(effort && { effort }) };
}
