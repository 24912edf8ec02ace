/** Asks the person at the editor about extensions of the project that are not trusted yet. */
import {
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { AgentOptions } from "@lathe/config";
import {
  type TrustAnswer,
  type TrustQuestion,
  trustChoices,
  trustQuestions,
} from "@lathe/config/trust-questions";
import { isFailure } from "@lathe/protocol";
import type { Editor } from "./ask-editor.ts";
import { verbatim } from "./outcome-update.ts";

const kinds: Readonly<Record<TrustAnswer, PermissionOption["kind"]>> = {
  later: "reject_once",
  yes: "allow_always",
  never: "reject_always",
};

/**
 * The session's options after the answers; undefined if the person cancelled. Rejects if the editor cannot be
 * asked.
 */
export async function askTrust(before: AgentOptions, editor: Editor): Promise<AgentOptions | undefined> {
  let options = before;
  for (const question of trustQuestions(options)) {
    const said = await asked(question, editor);
    if (said === undefined) return undefined;
    const next = question.answer(said, options);
    if (isFailure(next)) options.onRemark?.(next.text);
    else options = next;
  }
  return options;
}

async function asked(
  { about, title, lines }: TrustQuestion,
  { client, sessionId, signal }: Editor,
): Promise<TrustAnswer | undefined> {
  const toolCallId = `trust-${about}`;
  const shown = { toolCallId, title, kind: "other" as const, content: [verbatim(lines.join("\n"))] };
  const tell = (update: SessionUpdate): Promise<void> =>
    client.notify(methods.client.session.update, { sessionId, update });
  await tell({ sessionUpdate: "tool_call", status: "pending", ...shown });
  const options = trustChoices.map(({ value, label, about: means }) => {
    return { optionId: value, name: `${label} (${means})`, kind: kinds[value] };
  });
  const params: RequestPermissionRequest = {
    sessionId,
    toolCall: { status: "pending" as const, ...shown },
    options,
  };
  const { outcome } = await client.request(methods.client.session.requestPermission, params, {
    cancellationSignal: signal,
  });
  const chosen = outcome.outcome === "selected" ? outcome.optionId : undefined;
  const said = trustChoices.find(({ value }) => value === chosen)?.value;
  const status = said === "yes" ? "completed" : "failed";
  await tell({ sessionUpdate: "tool_call_update", toolCallId, status });
  if (outcome.outcome === "cancelled") return undefined;
  // Without an answer, no extension runs.
  return said ?? "later";
}
