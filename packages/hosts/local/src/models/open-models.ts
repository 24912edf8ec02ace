/** The models of a session: the chain it goes along, or the router that chooses, and what is known of those that failed. */
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
  /** Tokens that a model takes, as far as is known. */
  windowOf(model: string): number;
  readonly ports: Pick<Ports, "circuitNews" | "route">;
  /** Tells other sessions what this one found out, then who listens to this one. */
  onEvent(event: Event, session: Session): void;
}

/** *Contract:* the first model is being loaded when it returns. */
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
