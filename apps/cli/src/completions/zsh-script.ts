/** The completion script of zsh. */
import { quoteWord } from "@lathe/protocol";
import type { Completed, LineShape, ShapedFlag } from "./line-shape.ts";

export function zshScript(chat: LineShape, commands: readonly LineShape[]): string {
  const listed = commands.map(({ name, about }) => `    ${quoteWord(`${name}:${about}`)}`);
  const cases = commands.map((shape) => `    ${shape.name})\n${specs(shape)} ;;`);
  return `#compdef lathe
# Completions of lathe for zsh. To have them, in a folder of your fpath:
#   lathe completions zsh > ~/.zfunc/_lathe    # with fpath=(~/.zfunc $fpath) before compinit

# What lathe knows of a kind: ids of sessions, models, forks, servers.
_lathe_list() {
  local -a found
  local line
  # Of a chain the last one is typed.
  compset -P '*,'
  for line in \${(f)"$(_call_program values \${(q)_lathe_command} __complete $1 2>/dev/null)"}; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -t $1 $1 found
}

_lathe() {
  local _lathe_command=$words[1] context state state_descr line
  typeset -A opt_args
  local -a commands specs
  commands=(
${listed.join("\n")}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe -t commands command commands
    return
  fi
  case $words[2] in
${cases.join("\n")}
    *)
${specs(chat)}
      words=(lathe "$words[@]")
      (( CURRENT++ )) ;;
  esac
  shift words
  (( CURRENT-- ))
  _arguments -s : $specs
}

# Read as a function of fpath it is called, read by \`source\` it is made known.
if [ "$funcstack[1]" = _lathe ]; then _lathe "$@"; else compdef _lathe lathe; fi
`;
}

function specs({ actions, words, flags }: LineShape): string {
  const lines = flags.map(flagSpec);
  const behind = actions.map((action) => action.words).find((one) => one !== undefined);
  if (actions.length > 0) lines.push(quoteWord(`1: :(${actions.map(({ name }) => name).join(" ")})`));
  if (behind !== undefined) lines.push(quoteWord(`2: :${completer(behind)}`));
  if (actions.length === 0 && words !== undefined) lines.push(quoteWord(`1: :${completer(words)}`));
  // Accepts any arguments that the script cannot suggest.
  if (behind === undefined && words === undefined) lines.push(quoteWord("*: : "));
  return `      specs=(\n${lines.map((line) => `        ${line}`).join("\n")}\n      )`;
}

function flagSpec({ name, short, about, multiple, value }: ShapedFlag): string {
  const text = `[${about.replace(/[[\]\\]/g, "\\$&")}]`;
  const end = value ? `:${value.name}:${completer(value.completed)}` : "";
  const long = value ? `--${name}=` : `--${name}`;
  if (short === undefined) return quoteWord(`${multiple ? "*" : ""}${long}${text}${end}`);
  const both = `{-${short},${long}}${quoteWord(`${text}${end}`)}`;
  return multiple ? `'*'${both}` : `${quoteWord(`(-${short} --${name})`)}${both}`;
}

function completer(completed: Completed): string {
  if (completed === undefined) return " ";
  if (completed === "files") return "_files";
  if (completed === "folders") return "_files -/";
  return typeof completed === "string" ? `{_lathe_list ${completed}}` : `(${completed.join(" ")})`;
}
