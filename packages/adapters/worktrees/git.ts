/** Git over a repository inside a sandbox, so that it runs nothing that the repository names. */

export {
  type GitBox,
  type GitBoxHost,
  type GitBoxWish,
  maxGitOutput,
  openGitBox,
} from "./src/git/git-box.ts";
export { linkFailure } from "./src/git/refused-link.ts";
