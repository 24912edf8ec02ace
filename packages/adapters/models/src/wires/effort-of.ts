/** The effort that a request asks for, as the provider packages take it: each knows the levels of its models. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ModelRequest } from "@lathe/protocol";
import type { Endpoint } from "./wire.ts";

/** Nothing to those that do not reason: they refuse the field. Who is not known is asked for what was wished. */
export function effortOf(
  { effort }: ModelRequest,
  { reasons }: Endpoint,
): Pick<LanguageModelV4CallOptions, "reasoning"> {
  return effort === undefined || reasons === false ? {} : { reasoning: effort };
}
