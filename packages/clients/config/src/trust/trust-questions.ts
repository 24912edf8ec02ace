/** Questions about a project's extensions, each with its changes since the user trusted it. */

import {
  canTrust,
  changesSince,
  type ItemChange,
  mayHaveProjectHooks,
  type TrustedItem,
  type TrustRecord,
} from "@lathe/extensions";
import { readHookSettings } from "@lathe/extensions/hook-settings";
import { hookItems, neverTrustHooks, readHookTrust, trustHooks } from "@lathe/extensions/trusted-hooks";
import { type Failure, isFailure } from "@lathe/protocol";
import { harmless } from "@lathe/terminal";
import type { AgentOptions } from "../agent-options.ts";
import {
  neverTrustServers,
  projectFile,
  readProjectServers,
  trustProjectServers,
} from "../servers/project-servers.ts";

export type TrustAnswer = "later" | "yes" | "never";

export interface TrustQuestion {
  readonly about: "hooks" | "servers";
  /** A few words. */
  readonly title: string;
  /** The complete list of what would run. */
  readonly lines: readonly string[];
  /** *Contract:* saves the answer and returns the session's options afterwards. */
  answer(said: TrustAnswer, options: AgentOptions): AgentOptions | Failure;
}

/** The choice that changes nothing comes first. */
export const trustChoices: readonly {
  readonly value: TrustAnswer;
  readonly label: string;
  readonly about: string;
}[] = [
  { value: "later", label: "Not now", about: "nothing of it runs; asked again next time" },
  { value: "yes", label: "Yes, for this folder", about: "until one of them or its files changes" },
  { value: "never", label: "Never for this folder", about: "nothing of it runs, and nobody is asked" },
];

/** Leaves out extensions that are trusted and unchanged, or that the user never wants to be asked about. */
export function trustQuestions({ cwd, env }: AgentOptions): readonly TrustQuestion[] {
  const place = { cwd, env };
  if (!canTrust(place)) return [];
  return [...hookQuestions(place), ...serverQuestions(place)];
}

type Place = Pick<AgentOptions, "cwd" | "env">;

function hookQuestions(place: Place): readonly TrustQuestion[] {
  if (!mayHaveProjectHooks(place.cwd)) return [];
  const settings = readHookSettings(place);
  const trust = readHookTrust(place);
  if (settings.hash === "" || trust.never || trust.hash === settings.hash) return [];
  const how = "programs that have a say in sessions here; they run in the sandbox";
  return [
    {
      about: "hooks",
      title: "May this project's hooks run?",
      lines: shown(`This project brings hooks: ${how}.`, trust, hookItems(settings, place.cwd)),
      answer: (said, options) => {
        if (said === "later") return options;
        return (said === "yes" ? trustHooks(place, settings) : neverTrustHooks(place)) ?? options;
      },
    },
  ];
}

function serverQuestions(place: Place): readonly TrustQuestion[] {
  const found = readProjectServers(place.cwd, place.env);
  // Loading the configuration already reported the problem.
  if (!found || isFailure(found) || found.isTrusted || found.trust.never) return [];
  if (found.items.length === 0) return [];
  const how = `${projectFile} names MCP servers, which run outside the sandbox, with your rights`;
  return [
    {
      about: "servers",
      title: "May this project's MCP servers be started?",
      lines: shown(`This project's ${how}.`, found.trust, found.items),
      answer: (said, options) => {
        if (said === "later") return options;
        if (said === "never") return neverTrustServers(place) ?? options;
        const refused = trustProjectServers(place, found);
        if (refused) return refused;
        const writtenServers = { ...found.written, ...options.writtenServers };
        return { ...options, mcpServers: { ...found.servers, ...options.mcpServers }, writtenServers };
      },
    },
  ];
}

const marks: Readonly<Record<ItemChange["change"], string>> = {
  same: "as it was",
  new: "NEW",
  changed: "CHANGED",
  gone: "gone",
};

function shown(head: string, trust: TrustRecord, items: readonly TrustedItem[]): readonly string[] {
  const changes = changesSince(trust, items);
  const isKnown = trust.hash !== undefined;
  const since = isKnown ? " You let them run before, and they have changed since:" : "";
  const lines = changes
    ? changes.flatMap(({ text, change, files }) => [
        ...itemLines(`${marks[change]}  ${text}`),
        ...files.map((path) => `      ${harmless(path)} is not as it was`),
      ])
    : items.flatMap(({ text, files }) => [
        ...itemLines(text),
        ...Object.keys(files).map((path) => `      with ${harmless(path)}`),
      ]);
  return [`${head}${since}`, ...lines];
}

/** Indents every line, so that none looks like another item. */
function itemLines(text: string): readonly string[] {
  return harmless(text)
    .split("\n")
    .map((line, row) => `${row === 0 ? "  " : "      "}${line}`);
}
