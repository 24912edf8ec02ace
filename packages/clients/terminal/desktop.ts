/** @lathe/terminal/desktop: what a person at this machine has beside the terminal: their clipboard and their editor. */
export { readClipboardImage } from "./src/desktop/clipboard-image.ts";
export { writeClipboardText } from "./src/desktop/clipboard-text.ts";
export { editText } from "./src/desktop/edit-text.ts";
