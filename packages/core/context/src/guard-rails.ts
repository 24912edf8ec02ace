/** Guard rails of a session: those of its model's profile, overridden by the user's settings. */
import type { GuardRails, Session } from "@lathe/protocol";
import { profileOf } from "./profiles/profile-of.ts";

export type Railed = Pick<Session, "model"> & {
  readonly settings: Pick<Session["settings"], "guardRails">;
};

export function guardRailsOf({ model, settings }: Railed): GuardRails {
  return { ...profileOf(model).guardRails, ...settings.guardRails };
}
