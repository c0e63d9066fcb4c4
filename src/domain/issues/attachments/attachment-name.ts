/** Maximum characters of a file name, as on common file systems. */
export const ATTACHMENT_NAME_MAX = 255;

/** Characters that no file name shows: controls, and those that reorder the text around them. */
const UNSEEN = /[\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/**
 * The name of an attachment from what a client sent: without folders, and without what could make
 * it look like another.
 */
export function toAttachmentName(sent: string): string {
  const last = sent.split(/[/\\]/).at(-1) ?? "";
  const name = [...last.toWellFormed().replaceAll(UNSEEN, "").trim()]
    .slice(0, ATTACHMENT_NAME_MAX)
    .join("");
  return /^\.*$/.test(name) ? "attachment" : name;
}
