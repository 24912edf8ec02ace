"""Lathe as an installed agent of Harbor (https://harborframework.com), so that Harbor can run it on any data set.

    npm run pack                     # writes tmp/lathe-agent-VERSION.tgz
    PYTHONPATH=examples/harbor harbor run -d terminal-bench@2.0 \
        --agent lathe_agent:LatheAgent --ak package=tmp/lathe-agent-0.2.0.tgz -m anthropic/claude-sonnet-4-5

The model keys come from the environment of `harbor`. The container is the sandbox, so Lathe's own is off.
"""

import json
import os
import shlex
from pathlib import Path

from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template
from harbor.agents.installed.node_install import nvm_node_install_snippet
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

KEYS = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
)
RESULT = "lathe.json"
# Lathe ran but did not finish; Harbor grades the result like any other.
UNFINISHED = (1, 3)


class LatheAgent(BaseInstalledAgent):
    def __init__(self, *args, package: str = "lathe-agent", **kwargs):
        """`package`: a file from `npm run pack`, or a package name for npm."""
        super().__init__(*args, **kwargs)
        self._package = package

    @staticmethod
    def name() -> str:
        return "lathe"

    def get_version_command(self) -> str | None:
        return f"{self._node()} lathe --version"

    @staticmethod
    def _node() -> str:
        """Loads nvm if it was needed, so that its Node is found."""
        return 'if [ -s "$HOME/.nvm/nvm.sh" ]; then . "$HOME/.nvm/nvm.sh"; fi;'

    async def install(self, environment: BaseEnvironment) -> None:
        await self.ensure_system_dependencies(environment, ("curl", "bash", "git"))
        package = shlex.quote(self._package)
        if Path(self._package).is_file():
            package = "/installed-agent/lathe-agent.tgz"
            await environment.upload_file(Path(self._package), package)
        enough = "node -e 'const [a, b] = process.versions.node.split(`.`); process.exit(+(a < 22 || (a == 22 && b < 13)))'"
        await self.exec_as_agent(
            environment,
            command=(
                f"{enough} 2> /dev/null || {{ {nvm_node_install_snippet(24)}; }}; "
                f"{self._node()} npm install -g --no-audit --no-fund {package} && lathe --version"
            ),
        )

    @with_prompt_template
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        env = {key: os.environ[key] for key in KEYS if os.environ.get(key)}
        model = f"--model {shlex.quote(self.model_name)} " if self.model_name else ""
        unfinished = " || ".join(f"[ $code -eq {code} ]" for code in UNFINISHED)
        result = self.environment_logs_dir / RESULT
        await self.exec_as_agent(
            environment,
            env=env,
            command=(
                f"{self._node()} printf %s {shlex.quote(instruction)} | "
                f"lathe run --no-sandbox --output-format json {model}- > {shlex.quote(str(result))}; "
                f"code=$?; {unfinished} || exit $code"
            ),
        )

    def populate_context_post_run(self, context: AgentContext) -> None:
        try:
            said = json.loads((self.logs_dir / RESULT).read_text())
        except (OSError, ValueError):
            self.logger.debug("Lathe left no result")
            return
        usage = said.get("usage") or {}
        context.n_input_tokens = usage.get("input")
        context.n_cache_tokens = usage.get("cached")
        context.n_output_tokens = usage.get("output")
        context.cost_usd = said.get("cost")
        context.metadata = {key: said.get(key) for key in ("session", "end", "steps")}
