/** The completion script of fish. */
import type { Completed, LineShape, ShapedFlag } from "./line-shape.ts";

export function fishScript(chat: LineShape, commands: readonly LineShape[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const first = commands.map(({ name, about }) => {
    return `complete -c lathe -n __lathe_first -a ${name} -d ${quoted(about)}`;
  });
  return `# Completions of lathe for fish. To have them in every shell:
#   lathe completions fish > ~/.config/fish/completions/lathe.fish

# COMMAND [ACTION]: whether the line is one of it.
function __lathe_in
    set -l line (commandline -opc)
    test (count $line) -gt (count $argv); or return 1
    test "$line[2]" = $argv[1]; or return 1
    not set -q argv[2]; or test "$line[3]" = $argv[2]
end

function __lathe_first
    test (count (commandline -opc)) -eq 1
end

# Whether COMMAND was said, and nothing behind it.
function __lathe_bare
    __lathe_in $argv; and test (count (commandline -opc)) -eq 2
end

# A line without a command.
function __lathe_talks
    set -l line (commandline -opc)
    not contains -- "$line[2]" ${names}
end

function __lathe_list
    set -l line (commandline -opc)
    # Of a chain the last one is typed.
    set -l chain (string replace -r '^--[^=]*=' '' -- (commandline -ct) | string match -r '^.*,')
    for value in ($line[1] __complete $argv 2>/dev/null)
        echo "$chain$value"
    end
end

complete -c lathe -f
${first.join("\n")}
${flagLines("__lathe_talks", chat).join("\n")}
${commands.flatMap(lines).join("\n")}
`;
}

function lines(shape: LineShape): readonly string[] {
  const { name, actions, words } = shape;
  const offers = (when: string, completed: Completed): readonly string[] =>
    completed === undefined ? [] : [`complete -c lathe -n ${quoted(when)} ${argument(completed)}`];
  return [
    ...offers(`__lathe_bare ${name}`, actions.length > 0 ? actions.map((action) => action.name) : words),
    ...actions.flatMap((action) => offers(`__lathe_in ${name} ${action.name}`, action.words)),
    ...flagLines(`__lathe_in ${name}`, shape),
  ];
}

function flagLines(when: string, { flags }: LineShape): readonly string[] {
  return flags.map(({ name, short, about, value }: ShapedFlag) => {
    const letter = short === undefined ? "" : ` -s ${short}`;
    const taken = value
      ? ` ${value.completed === "files" ? "-r -F" : `-x ${argument(value.completed)}`}`
      : "";
    return `complete -c lathe -n ${quoted(when)} -l ${name}${letter}${taken.trimEnd()} -d ${quoted(about)}`;
  });
}

function argument(completed: Completed): string {
  if (completed === undefined) return "";
  if (completed === "files") return "-F";
  if (completed === "folders") return "-a '(__fish_complete_directories)'";
  return typeof completed === "string"
    ? `-a '(__lathe_list ${completed})'`
    : `-a ${quoted(completed.join(" "))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
