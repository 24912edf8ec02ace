/** The requested effort in the form of the provider packages; each model has its own levels. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ModelRequest } from "@lathe/protocol";
import type { Endpoint } from "./wire.ts";

/** Omitted for models that do not reason: they refuse the field. Unknown models get the requested level. */
export function effortOf(
  { effort }: ModelRequest,
  { reasons }: Endpoint,
): Pick<LanguageModelV4CallOptions, "reasoning"> {
  return effort === undefined || reasons === false ? {} : { reasoning: effort };
}
