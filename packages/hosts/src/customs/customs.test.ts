/** Skills and slash commands as projects and users write them down. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import type { CustomPlace } from "./custom-files.ts";
import { expandCommand, listCommands } from "./expand-command.ts";
import { readSkills } from "./read-skills.ts";

describe("customs", () => {
  let root: string;
  let place: CustomPlace;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-customs-")));
    mkdirSync(join(root, "work"));
    place = { cwd: join(root, "work"), env: { HOME: root } };
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  /** Those of files, which come first, and what each is for. */
  const ownCommands = async (): Promise<readonly (readonly string[])[]> =>
    (await listCommands(place)).map(({ name, about }) => [name, about]).slice(0, -2);

  it("skills: the project's before the user's, what is none left out with a reason", async () => {
    put("work/.agents/skills/pdf/SKILL.md", "---\ndescription: Makes PDFs\n---\nUse the script.\n");
    put("work/.claude/skills/pdf/SKILL.md", "---\ndescription: Another\n---\n");
    put("work/.claude/skills/hidden/SKILL.md", "---\ndescription: x\ndisable-model-invocation: true\n---\n");
    put("work/.claude/skills/bare/SKILL.md", "no head");
    put("work/.claude/skills/README.md", "not a skill");
    put(".config/lathe/skills/mine/SKILL.md", `---\ndescription: ${"long ".repeat(100)}\n---\nMine.\n`);
    const { skills, remarks } = await readSkills(place);
    assert.deepEqual(
      skills.map(({ name, folder }) => [name, folder]),
      [
        ["mine", join(root, ".config/lathe/skills/mine")],
        ["pdf", ".agents/skills/pdf"],
      ],
    );
    assert.equal(skills[1]?.body, "Use the script.\n");
    assert.ok((skills[0]?.about.length ?? 999) <= 201);
    assert.deepEqual(remarks, [".claude/skills/bare/SKILL.md was left out: it has no description"]);
  });

  it("nothing that leads out of the workspace is read, nor what is binary or too long taken", async () => {
    put("secret.md", "---\ndescription: s\n---\nsecret");
    mkdirSync(join(root, "work/.claude/commands"), { recursive: true });
    symlinkSync(join(root, "secret.md"), join(root, "work/.claude/commands/leak.md"));
    put("work/.claude/commands/huge.md", "x".repeat(70_000));
    assert.deepEqual(await ownCommands(), []);
  });

  it("commands are filled in", async () => {
    put(
      "work/.claude/commands/fix.md",
      "---\ndescription: Fixes\nargument-hint: [issue]\n---\nFix $1 for $2: $ARGUMENTS.\n",
    );
    put("work/.agents/commands/plain.md", "Look around.");
    put(".config/lathe/commands/mine.md", "All of it");
    put("work/.claude/skills/pdf/SKILL.md", "---\ndescription: Makes PDFs\n---\nUse it.\n");
    assert.equal(
      await expandCommand('/fix 12 "the team $1"', place),
      'Fix 12 for the team $1: 12 "the team $1".',
    );
    assert.equal(await expandCommand("/fix", place), "Fix  for : .");
    assert.equal(await expandCommand("/plain here", place), "Look around.\n\nARGUMENTS: here");
    assert.equal(await expandCommand("/pdf", place), "Use it.");
    assert.deepEqual(await ownCommands(), [
      ["fix", "Fixes"],
      ["mine", "All of it"],
      ["plain", "Look around."],
      ["pdf", "Makes PDFs"],
    ]);
  });

  it("commands may lie in folders, which are for order alone", async () => {
    put("work/.claude/commands/git/deep/ship.md", "Ship it.");
    put("work/.claude/commands/git/plain.md", "Another.");
    put("work/.claude/commands/plain.md", "Look around.");
    put("work/.claude/commands/git/notes.txt", "none");
    assert.deepEqual(await ownCommands(), [
      ["plain", "Look around."],
      ["ship", "Ship it."],
    ]);
    assert.equal(await expandCommand("/ship now", place), "Ship it.\n\nARGUMENTS: now");
  });

  it("what names no command stays as it is, what seems to is told", async () => {
    assert.equal(await expandCommand("/tmp", place), "/tmp");
    const none = await expandCommand("/nothing-of-this-name", place);
    assert.ok(isFailure(none) && none.text.endsWith("there are /init, /review"));
    put("work/.agents/commands/plain.md", "Look around.");
    assert.equal(await expandCommand("/tmp is full, why?", place), "/tmp is full, why?");
    assert.equal(await expandCommand("fix /plain", place), "fix /plain");
    assert.equal(await expandCommand("/usr/bin/x", place), "/usr/bin/x");
    const refused = await expandCommand("/plane", place);
    assert.ok(
      isFailure(refused) && refused.text === "there is no command /plane; there are /plain, /init, /review",
    );
  });

  it("some are built in, and a file of their name comes before them", async () => {
    const words = await expandCommand("/review main..work", place);
    assert.ok(!isFailure(words) && words.startsWith("Review a change."));
    assert.ok(words.endsWith("\n\nARGUMENTS: main..work"));
    put(".config/lathe/commands/review.md", "---\ndescription: mine\n---\nLook at $1.");
    assert.equal(await expandCommand("/review it", place), "Look at it.");
    const reviews = (await listCommands(place)).filter(({ name }) => name === "review");
    assert.deepEqual(reviews, [{ name: "review", about: "mine" }]);
  });
});
