/** `/model`: another model goes on. */
import type { SlashCommand } from "./slash-command.ts";

export const modelCommand: SlashCommand = {
  name: "model",
  usage: "[ID]",
  about: "another model goes on; without an id a list to choose from",
  run: async (chat, words) => {
    const id = words === "" ? await chosen(chat) : words;
    if (id === undefined) return undefined;
    const unknown = await chat.setModel(id);
    return unknown ?? [chat.theme.dim(`${id} takes over from the next step on.`)];
  },
};

async function chosen(chat: Parameters<SlashCommand["run"]>[0]): Promise<string | undefined> {
  const { listModels } = await import("@lathe/hosts/list-models");
  const { models } = await listModels(chat.options);
  const reached = models.filter(({ reach, chosen: place }) => reach !== undefined || place !== undefined);
  const now = chat.status().model;
  const options = reached.map(({ info, circuit }) => {
    const price = info.price ? `$${info.price.input} in, $${info.price.output} out per million` : "";
    const parts = [
      info.id === now ? "now" : "",
      circuit ? "rests" : "",
      `${Math.round(info.window / 1000)}k tokens`,
      price,
    ];
    return { label: info.id, about: parts.filter(Boolean).join(", "), value: info.id };
  });
  return chat.choose("Which model?", options);
}
