/** Tests how the theme finds the terminal's background and picks its colours. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { groundOfAnswer, groundOfVariable, themeOf } from "./theme.ts";

it("reads the background from COLORFGBG", () => {
  const grounds = ["15;0", "0;15", "0;default;7", "15;8", "", "x;y", undefined].map(groundOfVariable);
  assert.deepEqual(grounds, ["dark", "light", "light", "dark", undefined, undefined, undefined]);
});

it("reads the background from a terminal's answer, in any number of digits and with either terminator", () => {
  const esc = "\u001b";
  assert.equal(groundOfAnswer(`${esc}]11;rgb:ffff/ffff/ffff\u0007`), "light");
  assert.equal(groundOfAnswer(`${esc}]11;rgb:1e/1e/2e${esc}\\`), "dark");
  assert.equal(groundOfAnswer(`${esc}]11;rgba:fdf6/e3e3/0000/ffff\u0007`), "light");
  for (const other of [`${esc}[A`, "a", `${esc}]10;rgb:0/0/0\u0007`])
    assert.equal(groundOfAnswer(other), undefined);
});

it("uses no colours if they are off, and none that are illegible on white", () => {
  const names = ["bold", "dim", "red", "green", "yellow", "cyan", "italic", "underline", "strike"] as const;
  for (const name of names) {
    assert.equal(themeOf("none")[name]("x"), "x");
    for (const ground of ["dark", "light"] as const) assert.match(themeOf(ground)[name]("x"), /x/);
    assert.notEqual(themeOf("dark")[name]("x"), "x");
  }
  assert.notEqual(themeOf("light").yellow("x"), themeOf("dark").yellow("x"));
});
