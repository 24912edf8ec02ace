/** @lathe/terminal/desktop: the person's clipboard and editor on this machine. */
export { readClipboardImage } from "./src/desktop/clipboard-image.ts";
export { writeClipboardText } from "./src/desktop/clipboard-text.ts";
export { editText } from "./src/desktop/edit-text.ts";
