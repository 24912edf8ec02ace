/** The completion script of bash 3.2 and newer, without other dependencies. */
import type { Completed, LineShape } from "./line-shape.ts";

export function bashScript(chat: LineShape, commands: readonly LineShape[]): string {
  const all = [{ ...chat, name: "" }, ...commands];
  const names = commands.map(({ name }) => name).join(" ");
  const values = all.flatMap(({ name, flags }) =>
    flags.flatMap(({ name: flag, short, value }) => {
      const keys = [`--${flag}`, ...(short === undefined ? [] : [`-${short}`])];
      return value
        ? [`    ${keys.map((key) => `'${name} ${key}'`).join("|")}) ${said(value.completed)} ;;`]
        : [];
    }),
  );
  const flags = all.map(({ name, flags: own }) => {
    return `    '${name}') echo '${own.map((flag) => `--${flag.name}`).join(" ")}' ;;`;
  });
  const words = commands.flatMap(({ name, actions, words: own }) => [
    ...(actions.length > 0 ? [`    '${name} ') ${said(actions.map((action) => action.name))} ;;`] : []),
    ...(actions.length === 0 && own !== undefined ? [`    '${name} ') ${said(own)} ;;`] : []),
    ...actions.flatMap((action) =>
      action.words === undefined ? [] : [`    '${name} ${action.name}') ${said(action.words)} ;;`],
    ),
  ]);
  return `# Completions of lathe for bash. To have them in every shell:
#   lathe completions bash > ~/.local/share/bash-completion/completions/lathe
# or, without the package bash-completion, source that file in ~/.bashrc.

_lathe_flags() {
  case $1 in
${flags.join("\n")}
  esac
}

# What the value of a flag is; fails for one that takes none.
_lathe_value() {
  case "$1 $2" in
${values.join("\n")}
    *) return 1 ;;
  esac
}

# What the next word is, behind a command and its action.
_lathe_words() {
  case "$1 $2" in
${words.join("\n")}
    *) echo ;;
  esac
}

# KIND WORD: what of it begins so.
_lathe_offer() {
  local IFS=$'\\n'
  case $1 in
    @files) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$2")) ;;
    @folders) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$2")) ;;
    @*)
      # Of a chain the last one is typed.
      local chain=
      if [[ $2 == *,* ]]; then chain=\${2%,*},; fi
      COMPREPLY=($(compgen -P "$chain" -W "$("\${COMP_WORDS[0]/#\\~/$HOME}" __complete "\${1#@}" 2>/dev/null | cut -f1)" -- "\${2##*,}")) ;;
    *) IFS=$' \\n'; COMPREPLY=($(compgen -W "$1" -- "$2")) ;;
  esac
}

_lathe() {
  # Ids of models hold colons, at which bash breaks words.
  local -a words=()
  local i word count=0
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((count > 0)) && { [[ $word == [:=] ]] || { ((i > 1)) && [[ \${COMP_WORDS[i - 1]} == [:=] ]]; }; }; then
      words[count - 1]+=$word
    else
      words[count]=$word
      count=$((count + 1))
    fi
  done
  local current=\${words[count - 1]} command= action= flag= more= kind=
  if ((count > 1)) && [[ " ${names} " == *" \${words[0]} "* ]]; then command=\${words[0]}; fi
  for ((i = \${#command} > 0 ? 1 : 0; i < count - 1; i++)); do
    word=\${words[i]}
    if [[ -n $flag ]]; then
      flag=
    elif [[ $word == -- ]]; then
      return
    elif [[ $word == -* ]]; then
      if [[ $word != *=* ]] && _lathe_value "$command" "$word" > /dev/null; then flag=$word; fi
    elif [[ -z $action ]]; then
      action=$word
    else
      more=1
    fi
  done
  COMPREPLY=()
  if [[ -z $flag && $current == --*=* ]]; then
    flag=\${current%%=*}
    current=\${current#*=}
  fi
  if [[ -n $flag ]]; then
    kind=$(_lathe_value "$command" "$flag") && _lathe_offer "$kind" "$current"
  elif [[ $current == -* ]]; then
    _lathe_offer "$(_lathe_flags "$command")" "$current"
  elif ((count == 1)); then
    _lathe_offer '${names}' "$current"
  elif [[ -z $more && -n $command ]]; then
    _lathe_offer "$(_lathe_words "$command" "$action")" "$current"
  fi
  # What stands before the last colon is not replaced.
  if ((\${#COMPREPLY[@]})) && [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
  fi
}

complete -F _lathe lathe
`;
}

function said(completed: Completed): string {
  if (completed === undefined) return "echo";
  return `echo '${typeof completed === "string" ? `@${completed}` : completed.join(" ")}'`;
}
