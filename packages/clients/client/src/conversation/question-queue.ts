/** Question queue: the questions of a session that wait for a person, and the answers of this client to them. */

import {
  type EditPart,
  type Event,
  type Failure,
  isSettledBy,
  type OpenQuestion,
  openQuestions,
  type QuestionAnswered,
  type Session,
} from "@lathe/protocol";
import type { OpenSession } from "@lathe/sessions";

export interface QuestionListener {
  opened?(question: OpenQuestion): void;
  /** *Contract:* once for each that opened; `answered` by this client or another one, absent when its turn ended instead. */
  over?(question: OpenQuestion, answered?: QuestionAnswered): void;
}

type Answerable = Pick<OpenSession, "answer" | "askedCall">;

interface Sent {
  readonly answer: string;
  /** `seq` of the question that was answered: a lasting answer settles others with it. */
  readonly to: number;
}

export class QuestionQueue {
  readonly #session: () => Answerable | undefined;
  readonly #by: string;
  readonly #listener: QuestionListener;
  #known: readonly OpenQuestion[] = [];
  /** By `seq`, the questions that were answered here until the log says so. */
  readonly #sent = new Map<number, Sent>();

  /** `by`: the kind of client that answers, for the log. */
  constructor(session: () => Answerable | undefined, by: string, listener: QuestionListener) {
    this.#session = session;
    this.#by = by;
    this.#listener = listener;
  }

  /** In the order in which they were asked, without those that were answered here. */
  get open(): readonly OpenQuestion[] {
    return this.#known.filter(({ seq }) => !this.#sent.has(seq));
  }

  /** *Contract:* called with every event and the session after it, or with a session that was resumed. */
  update(session: Pick<Session, "calls">, event?: Event): void {
    const answered = event?.type === "question.answered" ? event.data : undefined;
    if (answered) this.#reopen(answered);
    const before = this.#known;
    const now = openQuestions(session);
    if (now.length === 0 && before.length === 0) return;
    this.#known = now.map((one) => before.find(({ seq }) => seq === one.seq) ?? one);
    for (const one of before) {
      if (this.#known.includes(one)) continue;
      this.#sent.delete(one.seq);
      this.#listener.over?.(one, answered?.call === one.call ? answered : undefined);
    }
    for (const one of this.#known) if (!before.includes(one)) this.#listener.opened?.(one);
  }

  /** *Contract:* what a permission is asked for; undefined when that is not known. */
  async call(question: OpenQuestion): ReturnType<OpenSession["askedCall"]> {
    return question.kind === "permission" ? this.#session()?.askedCall(question.call) : undefined;
  }

  /** *Contract:* a failure when the answer could not be kept: the question is open again. */
  async answer(question: OpenQuestion, answer: string, part?: EditPart): Promise<Failure | undefined> {
    const { call, seq } = question;
    const settled = this.open.filter((one) => one === question || isSettledBy(one, question, answer));
    for (const one of settled) this.#sent.set(one.seq, { answer, to: seq });
    const given = { call, question: seq, answer, ...(part && { part }), by: this.#by };
    const refused = await this.#session()?.answer(given);
    if (refused) for (const one of settled) this.#sent.delete(one.seq);
    return refused;
  }

  /** Where another answer came first, ours settles nothing. */
  #reopen({ call, answer }: QuestionAnswered): void {
    const question = this.#known.find((one) => one.call === call);
    const ours = question && this.#sent.get(question.seq);
    if (!question || !ours || ours.answer === answer) return;
    for (const [seq, { to }] of this.#sent) if (to === question.seq) this.#sent.delete(seq);
  }
}
