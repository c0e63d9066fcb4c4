/** Maximum characters of a file name, as on common file systems. */
export const ATTACHMENT_NAME_MAX = 255;

/** Characters that no file name shows: controls, and those that reorder the text around them. */
const UNSEEN = /[\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** The ending of a name, by which the type of a file is known: `.zip`, `.tar.gz`. */
const ENDING = /(?:\.[A-Za-z0-9]{1,15}){1,2}$/;

/**
 * The name of an attachment from what a client sent: without folders, and without what could make
 * it look like another. One that is too long keeps its ending.
 */
export function toAttachmentName(sent: string): string {
  const last = sent.split(/[/\\]/).at(-1) ?? "";
  const whole = last.toWellFormed().replaceAll(UNSEEN, "").trim();
  const [ending = ""] = ENDING.exec(whole) ?? [];
  const stem = Array.from(whole.slice(0, whole.length - ending.length));
  const name = stem.slice(0, ATTACHMENT_NAME_MAX - ending.length).join("") + ending;
  return /^\.*$/.test(name) ? "attachment" : name;
}
