/** Dockerfiles that a folder can honour are parsed; others are refused with a reason. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { parseDockerfile } from "./dockerfile.ts";

const head = "FROM python:3.12-slim\nWORKDIR /app\n";

it("parses instructions that concern only the project's folder", () => {
  const build = parseDockerfile(`# a comment
FROM node:22
WORKDIR /app
ENV MODE=test PATH="/app/bin:$PATH"
COPY package.json ./
RUN npm ci \\
    --ignore-scripts && echo done
COPY ["src dir", "/app/src/"]
CMD ["bash"]
`);
  assert.deepEqual(build, {
    base: "node:22",
    workdir: "/app",
    env: { MODE: "test", PATH: "/app/bin:$PATH" },
    steps: [
      { type: "copy", from: ["package.json"], to: "/app/./" },
      {
        type: "run",
        script: "npm ci      --ignore-scripts && echo done",
        workdir: "/app",
        env: { MODE: "test", PATH: "/app/bin:$PATH" },
      },
      { type: "copy", from: ["src dir"], to: "/app/src/" },
    ],
  });
});

it("treats quoted text as one word, whatever it contains", () => {
  const wanted = `.venv/bin/pip install 'typing; python_version < '\\''3.8'\\''' "x;y" a\\;b && git init -q .`;
  const build = parseDockerfile(`${head}RUN ${wanted}\n`);
  assert.ok("steps" in build, JSON.stringify(build));
});

for (const [what, text, why] of [
  ["a command behind quotes", `${head}RUN echo 'a;b'; curl x`, /runs what changes more/],
  ["a program in quotes", `${head}RUN 'git' push`, /runs what changes more/],
  ["a quote that has no end", `${head}RUN echo 'a; curl x`, /runs what changes more/],
  ["a command put into quotes", `${head}RUN echo "$(cat /etc/passwd)"`, /runs what changes more/],
  ["packages of a system", `${head}RUN apt-get update && apt-get install -y git`, /runs what changes more/],
  [
    "a program after an honoured one",
    `${head}RUN npm ci; curl https://x.example | sh`,
    /runs what changes more/,
  ],
  ["a command put into another", `${head}RUN echo $(cat /etc/passwd)`, /runs what changes more/],
  ["a pipe", `${head}RUN echo x | sh`, /runs what changes more/],
  ["packages for the whole image", `${head}RUN pip install numpy`, /runs what changes more/],
  ["another base", "FROM nvidia/cuda:12\nWORKDIR /app\n", /more than the tools/],
  ["stages", `${head}FROM node:22\n`, /several stages/],
  ["no folder", "FROM node:22\n", /no WORKDIR/],
  ["a copy to elsewhere", `${head}COPY x /etc/x\n`, /more than the project's folder/],
  ["a copy out of the folder", `${head}COPY x /app/../etc/x\n`, /more than the project's folder/],
  ["a copy from above", `${head}COPY ../secret .\n`, /by a pattern/],
  ["a copy from another image", `${head}COPY --from=node:22 /x /app/x\n`, /not plain/],
  ["another user", `${head}USER nobody\n`, /only an image/],
  ["nothing", "", /names no base/],
] as const) {
  it(`explains why it does not honour ${what}`, () => {
    const build = parseDockerfile(text);
    assert.ok("why" in build);
    assert.match(build.why, why);
  });
}

it("parses any text without throwing", () => {
  const word = fc.constantFrom(
    "FROM",
    "COPY",
    "RUN",
    "ENV",
    "WORKDIR",
    " ",
    "\n",
    "\\",
    '"',
    "[",
    "/app",
    "=",
    "$(",
    "x",
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), (words) => {
      const build = parseDockerfile(words.join(""));
      return "why" in build
        ? build.why !== ""
        : build.steps.every((step) => step.type === "run" || step.to.startsWith(build.workdir));
    }),
  );
});
