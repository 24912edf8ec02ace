/** The command line's first step: answers what needs nothing loaded, finds the command, shows its failure. */

import type { Command } from "./command-line/command.ts";
import { commandNames, commands } from "./command-table.ts";
import { handleBrokenPipe, lostOutput } from "./output/broken-pipe.ts";

export const help: string = `Lathe, a coding agent.

Usage:
  lathe ["task"]              work with the agent in this folder: a conversation
  lathe --resume ID           go on with one; --continue: with the newest here
  lathe run "task"            one task, headless; it may also come from a pipe
  lathe run --continue        go on with the newest session of this folder
  lathe demo                  watch it fix a failing test: no key, no network
  lathe sessions list         earlier sessions; name, fork or export one
  lathe sessions show ID      one of them, readable
  lathe sessions diff ID      what it changed; rewind ID takes it back
  lathe attach ID             watch one that runs elsewhere
  lathe tool NAME --json ARGS one tool by itself
  lathe edits apply           the edit engine by itself, on texts from a pipe
  lathe sandbox exec -- CMD   a command in the sandbox; verify tries it
  lathe fork list             changes that wait; diff, keep or drop one
  lathe hooks list            programs that have a say; trust the project's
  lathe memory list           facts that sessions are told; add, remove
  lathe policy check CMD      whether a shell command may run, and why; rules
                              lists what you allowed for good
  lathe models list           the models you reach, and what they cost; test
                              tries them, route says what --model auto chooses
  lathe mcp list              other programs' tools; add, remove; serve: ours
  lathe acp                   serve an editor (Agent Client Protocol)
  lathe rpc                   serve a program (JSON-RPC over standard input)
  lathe search "query"        the code that does this, ranked
  lathe grep PATTERN          exact lines
  lathe index                 what the search knows of this folder
  lathe report                what it cost, what fails; keep says how much of
                              the code is still there
  lathe eval SUITE            try models at tasks; compare two runs; mine
                              makes tasks of a repository's history
  lathe doctor                what works on this machine, and how to mend it
  lathe update                how to update Lathe; changes nothing
  lathe completions SHELL     a script that completes all this in your shell
  lathe schema NAME           the JSON schema of a file, an output or a protocol

Options:
  -h, --help     this text, or that of a command: lathe run --help
  -v, --version  print the version
      --debug    more about what went wrong

A model: --model ID, "model" in lathe.json, LATHE_MODEL, or a key in the
environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY). Without any,
the built-in repair model makes failing tests pass.

Exit codes: 0 done, 1 failed, 2 usage, an unknown model or a wrong
configuration, 3 stopped by a limit, a permission or a loop, 130 interrupted.
`;

/** Runs one command line (without node and file) and resolves with the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  handleBrokenPipe();
  const code = await answer(argv);
  return (await lostOutput()) ?? code;
}

async function answer(argv: readonly string[]): Promise<number> {
  const [first, second] = argv;
  if (first === "help" && second !== undefined && !second.startsWith("-")) return answer([second, "--help"]);
  if (first === "--help" || first === "-h" || first === "help") {
    process.stdout.write(help);
    return 0;
  }
  if (first === "version" || first === "--version" || first === "-v") {
    const { harnessVersion } = await import("./command-line/harness-version.ts");
    process.stdout.write(`${harnessVersion()}\n`);
    return 0;
  }
  const load = first !== undefined && Object.hasOwn(commands, first) ? commands[first] : undefined;
  if (load) return start(await load(), argv.slice(1));
  if (first !== undefined && /^\w[\w-]*$/.test(first)) return unknownCommand(first);
  const { chatCommand, isInteractive } = await import("./commands/chat.ts");
  if (isInteractive(argv)) return start(await chatCommand(argv), argv);
  if (first === undefined) {
    process.stdout.write(help);
    return 0;
  }
  const { runCommand } = await import("./commands/run.ts");
  return start(runCommand, argv);
}

async function start(command: Command, argv: readonly string[]): Promise<number> {
  const flags = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined);
  if (flags.includes("--help") || flags.includes("-h")) {
    const { helpOf } = await import("./command-line/command.ts");
    process.stdout.write(helpOf(command));
    return 0;
  }
  const debug = flags.includes("--debug");
  try {
    const result = await command.run(argv);
    if (typeof result === "number") return result;
    const { showFailure } = await import("./command-line/show-failure.ts");
    return showFailure(result, { debug, command });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall === "uv_cwd") {
      process.stderr.write("lathe: this folder is gone; change to one that is there\n");
      return 1;
    }
    const { showBug } = await import("./command-line/show-failure.ts");
    return showBug(cause, debug);
  }
}

async function unknownCommand(word: string): Promise<number> {
  const { nearest } = await import("@lathe/config/nearest");
  const meant = nearest(word, [...commandNames, "help", "version"]);
  const hint = meant
    ? `did you mean \`lathe ${meant}\`?`
    : `see \`lathe --help\`, or \`lathe run "${word}"\` if it is a task`;
  process.stderr.write(`lathe: there is no command ${word}; ${hint}\n`);
  return 2;
}
