import { runNow, type Steps } from "../budget.ts";
import type { ByteText } from "../byte-text.ts";
import { NULL_OID, type Oid } from "../oid.ts";
import type { LineDiff } from "./line-diff.ts";
import type { Lines } from "./lines.ts";
import { formatMode, quotePath } from "./quote-path.ts";
import type { PathChange } from "./tree-diff.ts";
import { CONTEXT_LINES, formatHunk, hunksInTurns } from "./unified.ts";

/** The content part of one file's patch. */
export type PatchContent =
  | { readonly kind: "text"; readonly diff: LineDiff }
  /** Binary contents that are only reported as different. */
  | { readonly kind: "binary" }
  /** Binary contents in the form that `formatBinaryPatch` writes. */
  | { readonly kind: "encoded"; readonly text: ByteText };

export interface PatchOptions {
  readonly contextLines?: number;
  /** Abbreviates the ids on the `index` line; by default they are written in full. */
  readonly abbreviate?: (oid: Oid) => string;
}

/** Steps to format a line of a hunk, and each of its bytes. */
const STEPS_PER_LINE = 30;
const STEPS_PER_BYTE = 0.5;

/**
 * Steps that formatting a diff takes, for its changed lines; those of the context are few in
 * comparison.
 */
export function stepsToFormat({ left, right, changes }: LineDiff): number {
  let lines = 0;
  let bytes = 0;
  for (const { leftStart, leftCount, rightStart, rightCount } of changes) {
    lines += leftCount + rightCount;
    bytes += bytesOf(left, leftStart, leftCount) + bytesOf(right, rightStart, rightCount);
  }
  const context = 2 * CONTEXT_LINES * changes.length;
  return STEPS_PER_LINE * (lines + context) + STEPS_PER_BYTE * bytes;
}

const bytesOf = ({ starts }: Lines, start: number, count: number): number =>
  (starts[start + count] as number) - (starts[start] as number);

/**
 * The patch of one file, as `git diff` prints it.
 *
 * @param content The content part; for a mode change only, a diff without changes.
 * @see git-diff(1), "Generating patch text with -p".
 */
export function formatPatch(
  change: PathChange,
  content: PatchContent,
  options: PatchOptions = {},
): ByteText {
  return (formatPatchHead(change, content, options) +
    runNow(patchBodyInTurns(content, options))) as ByteText;
}

/** The lines of `formatPatch` before its hunks, or before its encoded content. */
export function formatPatchHead(
  change: PathChange,
  content: PatchContent,
  { abbreviate = inFull }: PatchOptions,
): ByteText {
  const old = change.kind === "added" ? undefined : change.old;
  const fresh = change.kind === "deleted" ? undefined : change.new;
  const oldPath = quotePath(`a/${(old ?? fresh)?.path}`);
  const newPath = quotePath(`b/${(fresh ?? old)?.path}`);
  const lines = [`diff --git ${oldPath} ${newPath}`];
  if (old && fresh && old.mode !== fresh.mode) {
    lines.push(`old mode ${formatMode(old.mode)}`, `new mode ${formatMode(fresh.mode)}`);
  }
  if (!old && fresh) lines.push(`new file mode ${formatMode(fresh.mode)}`);
  if (old && !fresh) lines.push(`deleted file mode ${formatMode(old.mode)}`);
  if (change.kind === "renamed" || change.kind === "copied") {
    const verb = change.kind === "renamed" ? "rename" : "copy";
    lines.push(`similarity index ${change.similarityPercent}%`);
    lines.push(`${verb} from ${quotePath(change.old.path)}`);
    lines.push(`${verb} to ${quotePath(change.new.path)}`);
  }
  // Git's own mark of a file whose content is shown as replaced whole (`git diff -B`).
  if (content.kind === "text" && content.diff.isReplacedWhole) {
    lines.push("dissimilarity index 100%");
  }
  const oldOid = old?.oid ?? NULL_OID;
  const newOid = fresh?.oid ?? NULL_OID;
  if (oldOid === newOid) return `${lines.join("\n")}\n` as ByteText;

  const mode = old && fresh && old.mode === fresh.mode ? ` ${formatMode(old.mode)}` : "";
  // A binary patch needs full ids: applying it requires exactly the right old content.
  const write = content.kind === "encoded" ? inFull : abbreviate;
  lines.push(`index ${write(oldOid)}..${write(newOid)}${mode}`);
  const from = old ? oldPath : "/dev/null";
  const to = fresh ? newPath : "/dev/null";
  if (content.kind === "binary") {
    lines.push(`Binary files ${from} and ${to} differ`);
  } else if (content.kind === "text" && content.diff.changes.length > 0) {
    lines.push(`--- ${endName(from)}`, `+++ ${endName(to)}`);
  }
  return `${lines.join("\n")}\n` as ByteText;
}

/** The part of `formatPatch` after the head, for a change of content. Can be interrupted. */
export function* patchBodyInTurns(
  content: PatchContent,
  { contextLines = CONTEXT_LINES }: PatchOptions,
): Steps<string> {
  if (content.kind === "binary") return "";
  if (content.kind === "encoded") return content.text;
  let text = "";
  for (const hunk of yield* hunksInTurns(content.diff, contextLines)) {
    text += formatHunk(hunk);
    yield STEPS_PER_LINE * hunk.lines.length;
  }
  return text;
}

/** Terminates a name that contains a space with a tab, so that other tools find its end. */
function endName(name: string): string {
  return name.includes(" ") ? `${name}\t` : name;
}

const inFull = (oid: Oid): string => oid;
