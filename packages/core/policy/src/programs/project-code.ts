/** Programs that run code of the project: its tests, scripts, build and configuration. */
import { languageOf } from "./interpreters.ts";
import type { ProgramCall } from "./program-call.ts";

const runners: ReadonlySet<string> = new Set(
  (
    "npm npx pnpm pnpx yarn bun bunx deno tsx ts-node tsc eslint biome oxlint prettier jest vitest mocha ava tap c8 nyc " +
    "playwright cypress webpack vite rollup esbuild parcel turbo nx lerna gulp grunt astro next nuxt svelte-kit remix " +
    "storybook pytest tox nox ruff black mypy pyright flake8 pylint isort coverage uv poetry pipenv hatch pdm rake rails " +
    "rspec bundle rubocop composer phpunit phpstan pest artisan make gmake cmake ctest ninja meson gradle gradlew mvn " +
    "mvnw ant sbt lein clj mill cargo rustc go gofmt golangci-lint gcc g++ cc c++ clang clang++ javac java kotlinc swift " +
    "swiftc xcodebuild dotnet msbuild mix elixir rebar3 stack cabal ghc dune opam just task bazel bazelisk buck buck2 " +
    "pants pre-commit husky lint-staged flutter dart zig nim crystal julia terraform helmfile ansible-playbook bash sh zsh " +
    "dash ksh fish source . prisma sequelize knex typeorm alembic"
  ).split(" "),
);

export function isProjectCode({ program, word }: ProgramCall): boolean {
  if (runners.has(program) || languageOf(program) !== undefined) return true;
  return word.text.includes("/") && !/^\/(?:usr|bin|sbin|opt)\//u.test(word.text);
}
