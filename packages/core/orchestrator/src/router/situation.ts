/** Situation: the router's input, derived from a session. */
import {
  isNotice,
  isResting,
  type Message,
  type ModelRouted,
  messageText,
  type Odds,
  type SentPrompt,
  type Session,
} from "@lathe/protocol";
import { type Features, textFeatures } from "./text-features.ts";

export interface Situation {
  /** The person's message that opened the turn. */
  readonly request: string;
  readonly moment: ModelRouted["moment"];
  /** The sign that the model is too weak, for the moment `evidence`. */
  readonly evidence?: string;
  /** The odds of the previous task. */
  readonly earlier?: Odds;
  readonly isPlanning: boolean;
  readonly isRewound: boolean;
  /** A subagent's session, with a small task of its own. */
  readonly isChild: boolean;
  readonly hasImages: boolean;
  /** Answers of the turn so far. */
  readonly steps: number;
  /** Tokens of the next request. */
  readonly context: number;
  /** Tokens of it that providers still cache, by model. */
  readonly cached: Readonly<Record<string, number>>;
  /** Models whose provider failed just now; chosen only if there are no others. */
  readonly resting?: readonly string[];
  /** The model that answered last; absent before the first answer. */
  readonly current?: string;
}

/** Characters per token, for prose and code together; other code estimates the request more carefully. */
const charactersPerToken = 3.6;
const imageTokens = 1600;

export interface Moment {
  readonly moment: ModelRouted["moment"];
  readonly evidence?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly cacheMs: number;
}

export function situationOf(session: Session, { moment, evidence, now, cacheMs }: Moment): Situation {
  const { messages, prompt, prompts, settings, route, rewind, turn, model, circuits } = session;
  const warm = Object.entries(prompts).filter(([, { usedAt }]) => now - usedAt < cacheMs);
  const answered = messages.some(({ role }) => role === "assistant");
  return {
    request: requestOf(messages),
    moment,
    ...(evidence !== undefined && { evidence }),
    ...(route && { earlier: route.odds }),
    isPlanning: settings.mode === "plan",
    isRewound: rewind !== undefined,
    isChild: session.parent !== undefined,
    hasImages: messages.some(({ parts }) => parts.some((part) => part.type === "image")),
    steps: turn?.steps ?? 0,
    context: tokensOf(messages) + Math.ceil(promptLength(prompt) / charactersPerToken),
    cached: Object.fromEntries(warm.map(([id, sent]) => [id, heldOf(sent, messages.length)])),
    resting: Object.keys(circuits).filter((id) => isResting(circuits[id], now)),
    ...(answered && { current: model }),
  };
}

/** Answers that a rewind removed are not part of the next request. */
function heldOf({ ends }: SentPrompt, said: number): number {
  return ends.findLast(({ messages }) => messages <= said)?.tokens ?? 0;
}

const promptLengths = new WeakMap<Session["prompt"], number>();

function promptLength(prompt: Session["prompt"]): number {
  const known = promptLengths.get(prompt);
  if (known !== undefined) return known;
  const length = prompt.system.length + JSON.stringify(prompt.tools).length;
  promptLengths.set(prompt, length);
  return length;
}

/** The last message of a person. */
function requestOf(messages: readonly Message[]): string {
  const said = messages.findLast(({ role, parts }) => role === "user" && !isNotice(messageText(parts)));
  return said ? messageText(said.parts) : "";
}

const sizes = new WeakMap<Message, number>();

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

function sizeOf(message: Message): number {
  const known = sizes.get(message);
  if (known !== undefined) return known;
  const characters = message.parts.reduce((sum, part) => {
    if (part.type === "image") return sum + imageTokens * charactersPerToken;
    return sum + (part.type === "tool-call" ? part.input.length + 40 : part.text.length + 20);
  }, 16);
  const size = Math.ceil(characters / charactersPerToken);
  sizes.set(message, size);
  return size;
}

/** Features of the request and the session; the names are those of the weights. */
export function featuresOf(situation: Situation): Features {
  const { isPlanning, isRewound, isChild, earlier } = situation;
  return {
    ...textFeatures(situation.request),
    ...(isPlanning && { planning: 1 }),
    ...(isRewound && { rewound: 1 }),
    ...(isChild && { child: 1 }),
    ...(earlier && { later: 1 }),
  };
}
