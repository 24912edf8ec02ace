/** Status line: model, permissions, how full the window is, what it cost, where; the least of them goes first where it is narrow. */
import { count, money } from "../render/figures.ts";
import { fit } from "../render/fit.ts";

export interface Status {
  readonly model: string;
  readonly mode: string;
  /** Tokens of the last request, and how many the model takes. */
  readonly tokens?: number;
  readonly window?: number;
  readonly cost?: { readonly dollars: number; readonly isUnknown: boolean };
  readonly folder: string;
  /** What a key would do now. */
  readonly hint?: string;
}

const separator = " · ";

export function statusLine(status: Status, width: number): string {
  const { model, mode, folder, hint } = status;
  const name = model.slice(model.indexOf("/") + 1);
  const parts = [hint, name, mode, contextText(status), costText(status), folder].filter(
    (part) => part !== undefined && part !== "",
  );
  while (parts.length > 2 && parts.join(separator).length > width) parts.pop();
  return fit(parts.join(separator), width);
}

function contextText({ tokens = 0, window = 0 }: Status): string | undefined {
  if (tokens === 0) return undefined;
  if (window === 0) return `${count(tokens)} tokens`;
  return `${count(tokens)} of ${count(window)} (${Math.round((100 * tokens) / window)}%)`;
}

function costText({ cost }: Status): string | undefined {
  if (!cost || (cost.dollars === 0 && !cost.isUnknown)) return undefined;
  if (!cost.isUnknown) return money(cost.dollars);
  return cost.dollars > 0 ? `at least ${money(cost.dollars)}` : "cost unknown";
}
