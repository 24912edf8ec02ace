/** Paths as strings with one character per byte, so that no file name is ever lost or changed. */

/** The form that Node takes as a path. */
export function diskPath(path: string): string | Buffer {
  return isAscii(path) ? path : Buffer.from(path, "latin1");
}

/** For people and for the port; a name that is not UTF-8 is shown with replacement characters. */
export function shownPath(path: string): string {
  return isAscii(path) ? path : Buffer.from(path, "latin1").toString("utf8");
}

export function bytePath(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

export function joined(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function isAscii(text: string): boolean {
  return !/[\u0080-\uffff]/.test(text);
}
