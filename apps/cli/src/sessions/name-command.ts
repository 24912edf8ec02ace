/** `lathe sessions name`: gives a session a name. */
import { findSession, nameSession } from "@lathe/hosts/stored";
import { type Failure, isFailure } from "@lathe/protocol";

export async function nameCommand(start: string, name: string): Promise<number | Failure> {
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  return (await nameSession(process.env, id, name)) ?? 0;
}
