/** The models of a session: its chain or its router, and the known failures of models. */
import type { Gateway } from "@lathe/models";
import { chooseModels } from "@lathe/models";
import { type Event, isFailure, type Ports, type RouterSettings, type Session } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { openCircuitFiles, openGateway } from "./model-gateway.ts";
import { openSessionRouter } from "./session-router.ts";

export interface OpenedModels {
  readonly gateway: Gateway;
  readonly models: readonly string[];
  readonly router?: RouterSettings;
  /** A model's context window in tokens, as far as it is known. */
  windowOf(model: string): number;
  readonly ports: Pick<Ports, "circuitNews" | "route">;
  /** Tells other sessions what this one learned about models, then the listeners of this session. */
  onEvent(event: Event, session: Session): void;
}

/** *Contract:* the first model is already loading when it returns. */
export function openModels(options: LocalOptions): OpenedModels {
  const opened = openGateway(options);
  const found = openSessionRouter(options, opened);
  const routed = isFailure(found) ? undefined : found;
  const gateway = isFailure(found) ? { ...opened, open: async () => found } : opened;
  const models = routed?.models ?? chooseModels(options.models, options.env);
  if (models[0] !== undefined && !isFailure(found)) gateway.preload(models[0]);
  const circuits = openCircuitFiles(options, gateway);
  return {
    gateway,
    models,
    windowOf: (model) => gateway.info(model).window,
    ...(routed && { router: routed.settings }),
    ports: { circuitNews: circuits.news, ...(routed && { route: routed.route }) },
    onEvent: (event, session) => {
      circuits.onEvent(event, session);
      options.onEvent(event, session);
    },
  };
}
