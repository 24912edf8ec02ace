/** The rules of a session: the built-in ones and those of the user and the project. */
import { defaultRules } from "@lathe/policy";
import type { Rule } from "@lathe/protocol";

export function sessionRules(own: readonly Rule[]): readonly Rule[] {
  return [...own, ...defaultRules];
}
