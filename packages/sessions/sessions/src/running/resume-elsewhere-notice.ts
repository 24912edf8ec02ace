/** Resume elsewhere: why a session must be resumed in another place than this host. */
import { type Failure, failure, type Session } from "@lathe/protocol";
import type { SessionHost } from "../host/session-host.ts";
import type { ExplicitOptions } from "./inherit-settings.ts";

/** *Contract:* undefined if it can be resumed here, also if its folder is gone or its fork was settled. */
export async function resumeElsewhereNotice(
  host: Pick<SessionHost, "cwd" | "hasFolder" | "forkOf">,
  session: Session,
  { folder }: ExplicitOptions,
): Promise<Failure | undefined> {
  const { id, cwd: own } = session;
  if (own !== host.cwd && !folder && host.hasFolder(own)) {
    const text = `session ${id} works in ${own}: go on with it there, or say --cwd to have it go on in ${host.cwd}`;
    return failure("invalid-arguments", text, { who: "user" });
  }
  const fork = await host.forkOf(session);
  if (!fork) return undefined;
  const ways = `\`lathe run --resume ${id}\` goes on in it, \`lathe fork keep ${fork.id}\` takes its changes over`;
  return failure("invalid-arguments", `session ${id} works in a fork of the folder, which waits: ${ways}`, {
    who: "user",
  });
}
