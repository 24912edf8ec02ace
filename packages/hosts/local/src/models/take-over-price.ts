/** The price for this user of continuing a session with another model. */
import { type TakeOverPrice, takeOverPrice } from "@lathe/context/take-over-price";
import type { Session } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { openGateway } from "./model-gateway.ts";

export interface TakeOver extends TakeOverPrice {
  /** The model that would summarize. */
  readonly by: string;
}

/** Undefined if no model has read anything yet, or the same model continues. */
export async function priceOfTakeOver(
  options: Parameters<typeof openGateway>[0] & Pick<LocalOptions, "summaryModel">,
  session: Session,
  to: string,
): Promise<TakeOver | undefined> {
  const { asked, model } = session;
  const gateway = openGateway(options);
  try {
    const next = gateway.info(to);
    if (!asked || next.id === gateway.info(model).id) return undefined;
    const by = gateway.info(options.summaryModel ?? model);
    return { ...takeOverPrice(asked.tokens, next, by), by: by.id };
  } finally {
    await gateway.close();
  }
}
