import type { ByteText } from "../byte-text.ts";
import { NULL_OID, type Oid } from "../oid.ts";
import type { LineDiff } from "./line-diff.ts";
import { formatMode, quotePath } from "./quote-path.ts";
import type { PathChange } from "./tree-diff.ts";
import { CONTEXT_LINES, formatHunk, makeHunks } from "./unified.ts";

/** What a patch shows of the contents of one file. */
export type PatchContent =
  | { readonly kind: "text"; readonly diff: LineDiff }
  /** Contents that are only said to differ. */
  | { readonly kind: "binary" }
  /** Contents that are no text, as `formatBinaryPatch` writes them. */
  | { readonly kind: "encoded"; readonly text: ByteText };

export interface PatchOptions {
  readonly contextLines?: number;
  /** How the ids on the `index` line are written; in full, if it is missing. */
  readonly abbreviate?: (oid: Oid) => string;
}

/**
 * One file's part of a patch, as `git diff` prints it.
 *
 * @param content How the contents differ, for a change of mode alone a diff without changes.
 * @see git-diff(1), "Generating patch text with -p".
 */
export function formatPatch(
  change: PathChange,
  content: PatchContent,
  options: PatchOptions = {},
): ByteText {
  const { contextLines = CONTEXT_LINES, abbreviate = inFull } = options;
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
  const oldOid = old?.oid ?? NULL_OID;
  const newOid = fresh?.oid ?? NULL_OID;
  if (oldOid === newOid) return `${lines.join("\n")}\n` as ByteText;

  const mode = old && fresh && old.mode === fresh.mode ? ` ${formatMode(old.mode)}` : "";
  // Who applies what is encoded must know for certain what it is applied to.
  const write = content.kind === "encoded" ? inFull : abbreviate;
  lines.push(`index ${write(oldOid)}..${write(newOid)}${mode}`);
  const from = old ? oldPath : "/dev/null";
  const to = fresh ? newPath : "/dev/null";
  if (content.kind === "binary") {
    lines.push(`Binary files ${from} and ${to} differ`);
    return `${lines.join("\n")}\n` as ByteText;
  }
  if (content.kind === "encoded") return `${lines.join("\n")}\n${content.text}` as ByteText;
  const hunks = makeHunks(content.diff, contextLines);
  if (hunks.length === 0) return `${lines.join("\n")}\n` as ByteText;
  lines.push(`--- ${endName(from)}`, `+++ ${endName(to)}`, "");
  return (lines.join("\n") + hunks.map(formatHunk).join("")) as ByteText;
}

/** A tab ends a name that holds a space, so that other tools find its end. */
function endName(name: string): string {
  return name.includes(" ") ? `${name}\t` : name;
}

const inFull = (oid: Oid): string => oid;
