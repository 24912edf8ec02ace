/** `session.created`: the first event; pins the prompt's bytes. */
import * as v from "valibot";
import { type Prompt, promptSchema } from "../prompt.ts";
import type { EventType } from "../session/event-type.ts";

export interface SessionCreated {
  readonly id: string;
  /** Real path of the workspace. */
  readonly cwd: string;
  readonly title: string;
  /** The version of Lathe that created the session. */
  readonly harness: string;
  readonly prompt: Prompt;
  /** For a session created by another one: that session, and the root session, whose ledger it charges. */
  readonly parent?: string;
  readonly root?: string;
  /** The session it was forked from, and the last event that both share. */
  readonly forkOf?: { readonly session: string; readonly seq: number };
  /** For a subagent: its definition. */
  readonly agent?: string;
}

const schema: v.GenericSchema<unknown, SessionCreated> = v.object({
  id: v.string(),
  cwd: v.string(),
  title: v.string(),
  harness: v.string(),
  prompt: promptSchema,
  parent: v.exactOptional(v.string()),
  root: v.exactOptional(v.string()),
  forkOf: v.exactOptional(v.object({ session: v.string(), seq: v.number() })),
  agent: v.exactOptional(v.string()),
});

export const sessionCreated: EventType<"session.created", SessionCreated> = {
  name: "session.created",
  version: 1,
  schema,
  apply: (session, { data, at }) => ({
    ...session,
    id: data.id,
    cwd: data.cwd,
    title: data.title,
    prompt: data.prompt,
    model: data.prompt.model ?? session.model,
    createdAt: at,
    ...(data.parent !== undefined && { parent: data.parent }),
    ...(data.root !== undefined && { root: data.root }),
    ...(data.agent !== undefined && { agent: data.agent }),
  }),
};
