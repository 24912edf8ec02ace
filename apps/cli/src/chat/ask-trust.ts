/** Ask trust: at the start of a chat the person is asked about what the project would have run and they have not looked at yet. */
import { isFailure } from "@lathe/protocol";
import { wrap } from "@lathe/terminal";
import type { Chat } from "../tui/chat.ts";

/** *Contract:* resolves once everything is answered or left. */
export async function askTrust(chat: Chat): Promise<undefined> {
  const { trustChoices, trustQuestions } = await import("@lathe/config/trust-questions");
  for (const question of trustQuestions(chat.options)) {
    const [head = "", ...items] = question.lines;
    // Whole, as it is written: what is not shown cannot be agreed to.
    chat.print(["", ...wrap(head, chat.width - 2).map(chat.theme.bold), ...items]);
    const said = await chat.choose(question.title, trustChoices, { settles: true });
    const answer = trustChoices.find(({ value }) => value === said) ?? trustChoices[0];
    if (!answer) break;
    const options = question.answer(answer.value, chat.options);
    if (isFailure(options)) chat.complain(options.text);
    else {
      chat.print([chat.theme.dim(`${answer.label}: ${answer.about}.`)]);
      chat.conversation.adopt(options);
    }
  }
  return undefined;
}
