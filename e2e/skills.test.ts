/**
 * Tests the files of the user's own skills: tools and commands can read them, and none of the user's other
 * settings.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { startWireServer, type WireServer } from "@lathe/testkit";
import { call } from "./answer-parts.ts";
import { makePlace } from "./in-process.ts";
import { type Place, wireEnv } from "./lathe.ts";

describe("the files of a user's own skill", () => {
  let place: Place;
  let server: WireServer;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });
  const putSkill = (config: string): string => {
    const skill = join(config, "lathe/skills/deploy");
    mkdirSync(join(skill, "scripts"), { recursive: true });
    const about = "---\nname: deploy\ndescription: Deploys\n---\nSee reference.md.\n";
    writeFileSync(join(skill, "SKILL.md"), about);
    writeFileSync(join(skill, "reference.md"), "the reference\n");
    writeFileSync(join(skill, "scripts/go.sh"), "echo it went\n");
    writeFileSync(join(config, "lathe/keys.txt"), "the very token\n");
    symlinkSync("../../keys.txt", join(skill, "keys"));
    return skill;
  };
  const run = async (skill: string, env: Readonly<Record<string, string>>): Promise<string> => {
    const config = join(skill, "../..");
    server = await startWireServer([
      {
        parts: [
          call("c1", "skill", { name: "deploy" }),
          call("c2", "read", { path: `${skill}/reference.md` }),
          call("c3", "grep", { pattern: "it went", path: skill }),
          call("c4", "list", { path: `${skill}/scripts` }),
        ],
      },
      { parts: [call("c5", "shell", { command: `cat ${skill}/reference.md; sh ${skill}/scripts/go.sh` })] },
      {
        parts: [
          call("c6", "read", { path: `${skill}/keys` }),
          call("c7", "read", { path: `${config}/keys.txt` }),
          call("c8", "grep", { pattern: "very", path: skill }),
        ],
      },
      { parts: [call("c9", "shell", { command: `cat ${skill}/keys; echo mine > ${skill}/reference.md` })] },
      { parts: [{ type: "text", text: "Done." }] },
    ]);
    const { code, err } = await place.run(["run", "go"], { env: { ...wireEnv(server.url), ...env } });
    assert.equal(code, 0, err);
    return JSON.stringify(server.records.at(-1)?.request.messages);
  };
  const assertTold = (told: string, skill: string): void => {
    assert.ok(told.includes(`[the skill's files are in ${skill}]`), told);
    assert.match(told, /1\\tthe reference/);
    assert.match(told, /go\.sh\\n1:echo it went/);
    assert.match(told, /the reference\\nit went/);
    assert.doesNotMatch(told, /the very token/);
    assert.equal(readFileSync(join(skill, "reference.md"), "utf8"), "the reference\n");
  };

  it("can be read, searched and run, but not the settings beside them", async () => {
    const skill = putSkill(join(place.home, ".config"));
    assertTold(await run(skill, {}), skill);
  });

  it("also work if the settings are behind a link", async () => {
    const [real, named] = [join(place.home, "dotfiles"), join(place.home, "settings")];
    mkdirSync(real);
    symlinkSync(real, named);
    const skill = putSkill(named);
    assertTold(await run(skill, { XDG_CONFIG_HOME: named }), skill);
  });
});
