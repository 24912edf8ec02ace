#!/bin/bash
# action.yml runs this: one headless run, whose result becomes the step's outputs and the job's summary.
set -uo pipefail

args=(run --output-format json --permission-mode "${LATHE_ACTION_MODE:-auto}")
[ -n "${LATHE_ACTION_MODEL:-}" ] && args+=(--model "$LATHE_ACTION_MODEL")
[ -n "${LATHE_ACTION_MAX_COST:-}" ] && args+=(--max-cost "$LATHE_ACTION_MAX_COST")
[ -n "${LATHE_ACTION_MAX_STEPS:-}" ] && args+=(--max-steps "$LATHE_ACTION_MAX_STEPS")
[ -n "${LATHE_ACTION_JSON_SCHEMA:-}" ] && args+=(--json-schema "$LATHE_ACTION_JSON_SCHEMA")
while IFS= read -r rule; do
  [ -n "$rule" ] && args+=(--allow "$rule")
done <<< "${LATHE_ACTION_ALLOW:-}"

folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/lathe-XXXXXX")
# An installed command to use instead, for example in this repository's own tests.
lathe=${LATHE_ACTION_COMMAND:-}
if [ -z "$lathe" ]; then
  # Install outside the checked-out repository, so that its .npmrc and node_modules cannot choose code that gets the keys.
  (cd "$folder" && npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" \
    "lathe-agent@${LATHE_ACTION_VERSION:?}") >&2 || exit 1
  lathe=$folder/node_modules/.bin/lathe
fi

file=$folder/result.json
# Pass the task on standard input, so that no shell interprets it and no process list shows it.
printf '%s' "$LATHE_ACTION_TASK" | "$lathe" "${args[@]}" > "$file"
code=$?

# End a value of several lines with a random word that it cannot contain.
node - "$file" "$GITHUB_OUTPUT" "${GITHUB_STEP_SUMMARY:-/dev/null}" "$code" << 'SCRIPT'
const { appendFileSync, readFileSync } = require("node:fs");
const { randomUUID } = require("node:crypto");
const [file, output, summary, code] = process.argv.slice(2);
const text = readFileSync(file, "utf8");
const result = text.trim() === "" ? {} : JSON.parse(text);
const answer = "output" in result ? JSON.stringify(result.output) : (result.text ?? "");
const put = (name, value) => {
  const end = randomUUID();
  appendFileSync(output, `${name}<<${end}\n${value}\n${end}\n`);
};
put("result", answer);
put("session", result.session ?? "");
put("file", file);
const cost = typeof result.cost === "number" ? ` · $${result.cost.toFixed(4)}` : "";
const changed = (result.changed ?? []).map((path) => `- ${path}`).join("\n");
appendFileSync(summary, `### Lathe: exit code ${code}${cost}\n\n${answer}\n\n${changed}\n`);
SCRIPT
exit "$code"
