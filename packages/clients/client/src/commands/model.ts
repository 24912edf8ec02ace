/** `/model`: switches to another model. */
import type { AgentOptions } from "@lathe/config";
import { listModels, priceOfTakeOver } from "@lathe/hosts/models";
import type { Session } from "@lathe/protocol";
import { wrap } from "@lathe/terminal";
import type { Option } from "@lathe/terminal/choice";
import { takeOverText } from "../texts/take-over-text.ts";
import type { CommandContext, SharedCommand } from "./command-context.ts";

export const modelCommand: SharedCommand = {
  name: "model",
  usage: "[ID]",
  about: "switch to another model; without an ID, choose from a list",
  run: async (chat, words) => {
    const id = words === "" ? await chosen(chat) : words;
    if (id === undefined) return undefined;
    const before = chat.conversation.session?.session();
    const unknown = await chat.conversation.setModel(id);
    if (unknown) return unknown;
    const price = before && (await priceLine(chat, before, id));
    return [`Switched to ${id}.`, ...(price ?? [])].map(chat.theme.dim);
  },
};

/** Below this many tokens a switch costs almost nothing, so its price is not shown. */
const fewTokens = 20_000;

async function priceLine(chat: CommandContext, session: Session, id: string): Promise<readonly string[]> {
  const price = await priceOfTakeOver(chat.conversation.options, session, id);
  return price && price.tokens >= fewTokens ? wrap(takeOverText(price), chat.width) : [];
}

async function chosen(chat: CommandContext): Promise<string | undefined> {
  return chat.choose("Which model?", await modelOptions(chat.conversation.options, chat.conversation.model));
}

/** The models that the user has keys for; the one named by `now` is marked. */
export async function modelOptions(options: AgentOptions, now: string): Promise<readonly Option[]> {
  const { models } = await listModels(options);
  const reached = models.filter(({ reach, chosen: place }) => reach !== undefined || place !== undefined);
  return reached.map(({ info, circuit }) => {
    const price = info.price ? `$${info.price.input} in, $${info.price.output} out per million` : "";
    const parts = [
      info.id === now ? "now" : "",
      circuit ? "rests" : "",
      `${Math.round(info.window / 1000)}k tokens`,
      price,
    ];
    return { label: info.id, about: parts.filter(Boolean).join(", "), value: info.id };
  });
}
