import { type ByteText } from "../byte-text.ts";
import type { Commit } from "../object/commit.ts";
import { formatDate } from "../object/format-date.ts";
import type { Identity } from "../object/identity.ts";
import { splitMessage } from "../object/message.ts";
import { trimBlanks } from "../object/strip-space.ts";
import type { Oid } from "../oid.ts";
import { encodeWords, foldLine, isEightBit, needsEncoding, quoteName } from "./header-text.ts";

/** Longest line of a header, in bytes. */
const LINE_MAX = 78;
/** Longest line of a header that contains an encoded word, in bytes. */
const ENCODED_LINE_MAX = 76;

/** A commit and the parts of its mail. */
export interface MailedCommit {
  readonly commitOid: Oid;
  /** Re-encoded as UTF-8. */
  readonly commit: Commit;
  /** Number of this mail in the series, counted from one, and length of the series. */
  readonly number: number;
  readonly total: number;
  /** The output of `formatDiffStat`. */
  readonly stat: ByteText;
  readonly patch: ByteText;
  /** Text after the `-- ` line at the end of the mail. */
  readonly signature: ByteText;
}

/**
 * Formats a commit as a mail, as `git format-patch --stdout` does: headers, message, diffstat and
 * patch.
 *
 * @see git-format-patch(1), "Discussion"; git's pretty.c and log-tree.c.
 */
export function formatMail(mail: MailedCommit): ByteText {
  const { commitOid, commit, stat, patch, signature } = mail;
  const { subject, body } = splitMessage(commit.message);
  const { author } = commit;
  const head = [
    `From ${commitOid} Mon Sep 17 00:00:00 2001\n`,
    formatFrom(author),
    `Date: ${formatDate(author, "email")}\n`,
    formatSubject(mail, subject),
    isEightBit(commit.message.split("\0", 1)[0] as ByteText) ? EIGHT_BIT : "",
    "\n",
  ].join("");
  const lines = body.split("\n").map((line) => trimBlanks(line));
  const text = `${trimBlanks(head + lines.join("\n"))}\n`;
  // Without a message, trimming removed the empty line that ends the headers.
  const end = text.length <= head.length ? "\n" : "";
  return `${text}${end}---\n${stat}\n${patch}-- \n${signature}\n\n` as ByteText;
}

const EIGHT_BIT =
  "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n";

function formatFrom({ name, email }: Identity): string {
  const start = "From: ";
  const isEncoded = needsEncoding(name);
  const text = isEncoded
    ? encodeWords(name, start.length, true)
    : foldLine(quoteName(name), start.length, LINE_MAX);
  const line = start + text;
  const lastLength = line.length - line.lastIndexOf("\n") - 1;
  const lengthMax = isEncoded ? ENCODED_LINE_MAX : LINE_MAX;
  const isTooLong = lastLength + " <>".length + email.length > lengthMax;
  return `${line}${isTooLong ? "\n" : ""} <${email}>\n`;
}

function formatSubject({ number, total }: MailedCommit, subject: ByteText): string {
  const count = total > 1 ? ` ${String(number).padStart(String(total).length, "0")}/${total}` : "";
  const start = `Subject: [PATCH${count}] `;
  const text = needsEncoding(subject)
    ? encodeWords(subject, start.length, false)
    : foldLine(subject, start.length, LINE_MAX);
  return `${start}${text}\n`;
}
