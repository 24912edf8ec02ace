/** The settings that an editor offers for a session. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk";
import { type Conversation, effortNow, effortOptions, setEffort } from "@lathe/client";
import { type Failure, failure } from "@lathe/protocol";
import type { Option } from "@lathe/terminal/choice";
import { modeOf, sessionModes } from "./session-modes.ts";

interface Select {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly now: string;
  readonly options: readonly Option[];
}

/** The settings in display order; `models` lists the models the person can choose. */
export function configOptions(conversation: Conversation, models: readonly Option[]): SessionConfigOption[] {
  return selects(conversation, models).map(optionOf);
}

/**
 * *Contract:* permissions apply from the next prompt, a model from the next step; a failure changes nothing.
 */
export async function configure(
  conversation: Conversation,
  { configId: id, value }: { readonly configId: string; readonly value: unknown },
  models: readonly Option[],
): Promise<Failure | undefined> {
  const all = selects(conversation, models);
  const select = all.find((one) => one.id === id);
  if (!select)
    return refused(
      `there is no option ${id}`,
      all.map((one) => one.id),
    );
  const chosen = select.options.find((one) => one.value === value)?.value;
  if (chosen === undefined)
    return refused(
      `${select.name} cannot be ${String(value)}`,
      select.options.map((one) => one.value),
    );
  if (chosen === select.now) return undefined;
  if (id === "model") return conversation.setModel(chosen);
  if (id === "effort") return setEffort(conversation, chosen);
  conversation.setMode(modeOf(chosen));
  return undefined;
}

function refused(text: string, there: readonly string[]): Failure {
  return failure("invalid-arguments", `${text}; there are ${there.join(", ")}`, { who: "user" });
}

function selects(conversation: Conversation, models: readonly Option[]): readonly Select[] {
  const { mode } = conversation.options;
  const modes = sessionModes(mode).availableModes.map(({ id, name, description }) => {
    return { label: name, about: description ?? "", value: id };
  });
  const model = conversation.model;
  const isKnown = model === "" || models.some(({ value }) => value === model);
  const all = isKnown ? models : [{ label: model, value: model }, ...models];
  const effort = effortNow(conversation);
  return [
    { id: "mode", name: "Permissions", category: "mode", now: mode, options: modes },
    { id: "model", name: "Model", category: "model", now: model, options: all },
    { id: "effort", name: "Effort", category: "thought_level", now: effort, options: effortOptions },
  ];
}

function optionOf({ id, name, category, now, options }: Select): SessionConfigOption {
  return {
    type: "select",
    id,
    name,
    category,
    currentValue: now,
    options: options.map(({ label, about = "", value }) => {
      return { value, name: label, ...(about !== "" && { description: about }) };
    }),
  };
}
