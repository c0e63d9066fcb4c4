import type { ByteText } from "../byte-text.ts";
import { formatMode, quotePath } from "./quote-path.ts";
import type { PathChange } from "./tree-diff.ts";

/** The size of a file's change: in lines for text, in bytes for a binary file. */
export interface FileStat {
  readonly change: PathChange;
  readonly isBinary: boolean;
  readonly added: number;
  readonly removed: number;
}

/** Maximum columns of a line, as in mails. */
const WIDTH = 72;

/**
 * A diffstat as `git format-patch` shows it: a line per file, the totals, and a summary of created,
 * deleted and renamed files and of changed modes.
 *
 * @see git-diff(1), `--stat` and `--summary`; git's diff.c.
 */
export function formatDiffStat(files: readonly FileStat[]): ByteText {
  const names = files.map(({ change }) => nameOf(change));
  const layout = layOut(files, names);
  const lines = files.map((file, at) => formatLine(file, names[at] ?? "", layout));
  const summary = files.map(({ change }) => summarize(change));
  return (lines.join("") + formatSums(files) + summary.join("")) as ByteText;
}

interface Layout {
  readonly nameWidth: number;
  readonly numberWidth: number;
  readonly graphWidth: number;
  readonly changeMax: number;
}

const digitsOf = (value: number): number => String(value).length;

function layOut(files: readonly FileStat[], names: readonly string[]): Layout {
  let changeMax = 0;
  let binaryWidth = 0;
  for (const { isBinary, added, removed } of files) {
    if (isBinary) binaryWidth = Math.max(binaryWidth, 14 + digitsOf(added) + digitsOf(removed));
    else changeMax = Math.max(changeMax, added + removed);
  }
  const numberWidth = Math.max(binaryWidth > 0 ? 3 : 0, digitsOf(changeMax));
  const width = Math.max(WIDTH, 16 + 6 + numberWidth);
  let graphWidth = changeMax + 4 > binaryWidth ? changeMax : binaryWidth - 4;
  let nameWidth = Math.max(0, ...names.map(({ length }) => length));
  if (nameWidth + numberWidth + 6 + graphWidth > width) {
    const share = Math.floor((width * 3) / 8) - numberWidth - 6;
    if (graphWidth > share) graphWidth = Math.max(6, share);
    const room = width - numberWidth - 6;
    if (nameWidth > room - graphWidth) nameWidth = room - graphWidth;
    else graphWidth = room - nameWidth;
  }
  return { nameWidth, numberWidth, graphWidth, changeMax };
}

function formatLine(file: FileStat, name: string, layout: Layout): string {
  const { nameWidth, numberWidth } = layout;
  const { isBinary, added, removed } = file;
  const head = ` ${shorten(name, nameWidth).padEnd(nameWidth)} | `;
  if (isBinary) {
    const sizes = added + removed === 0 ? "" : ` ${removed} -> ${added} bytes`;
    return `${head}${"Bin".padStart(numberWidth)}${sizes}\n`;
  }
  const count = String(added + removed).padStart(numberWidth);
  return `${head}${count}${added + removed === 0 ? "" : " "}${formatGraph(file, layout)}\n`;
}

/** Shortens a name that is too long to its end, starting at a slash if possible. */
function shorten(name: string, width: number): string {
  if (name.length <= width) return name;
  const end = name.slice(name.length - (width - 3));
  const slash = end.indexOf("/");
  return `...${slash < 0 ? end : end.slice(slash)}`;
}

function formatGraph({ added, removed }: FileStat, { graphWidth, changeMax }: Layout): string {
  let plus = added;
  let minus = removed;
  if (graphWidth <= changeMax) {
    // Every nonzero count gets at least one column.
    const scale = (count: number): number =>
      count === 0 ? 0 : 1 + Math.floor((count * (graphWidth - 1)) / changeMax);
    const total = Math.max(scale(added + removed), added > 0 && removed > 0 ? 2 : 0);
    if (added < removed) {
      plus = scale(added);
      minus = total - plus;
    } else {
      minus = scale(removed);
      plus = total - minus;
    }
  }
  return "+".repeat(plus) + "-".repeat(minus);
}

function formatSums(files: readonly FileStat[]): string {
  let insertions = 0;
  let deletions = 0;
  for (const { isBinary, added, removed } of files) {
    if (isBinary) continue;
    insertions += added;
    deletions += removed;
  }
  const count = (value: number, word: string): string =>
    `${value} ${word}${value === 1 ? "" : "s"}`;
  let text = ` ${count(files.length, "file")} changed`;
  if (insertions > 0 || deletions === 0) text += `, ${count(insertions, "insertion")}(+)`;
  if (deletions > 0 || insertions === 0) text += `, ${count(deletions, "deletion")}(-)`;
  return `${text}\n`;
}

/** The summary line of a change other than of content; "" if there is none. */
function summarize(change: PathChange): string {
  switch (change.kind) {
    case "added":
      return ` create mode ${formatMode(change.new.mode)} ${quotePath(change.new.path)}\n`;
    case "deleted":
      return ` delete mode ${formatMode(change.old.mode)} ${quotePath(change.old.path)}\n`;
    case "modified":
      return formatModes(change, ` ${quotePath(change.new.path)}`);
    default: {
      const verb = change.kind === "renamed" ? "rename" : "copy";
      const line = ` ${verb} ${nameOf(change)} (${change.similarityPercent}%)\n`;
      return line + formatModes(change, "");
    }
  }
}

function formatModes(
  { old, new: fresh }: Extract<PathChange, { old: unknown; new: unknown }>,
  name: string,
): string {
  if (old.mode === fresh.mode) return "";
  return ` mode change ${formatMode(old.mode)} => ${formatMode(fresh.mode)}${name}\n`;
}

/** The path of a change, or both paths of a renamed or copied file. */
function nameOf(change: PathChange): string {
  if (change.kind === "added") return quotePath(change.new.path);
  if (change.kind !== "renamed" && change.kind !== "copied") return quotePath(change.old.path);
  return joinPaths(change.old.path, change.new.path);
}

/** `lib/{a => b}/file`: directories and names that both paths share are written once. */
function joinPaths(old: ByteText, fresh: ByteText): string {
  const quoted = [quotePath(old), quotePath(fresh)];
  if (quoted[0] !== old || quoted[1] !== fresh) return quoted.join(" => ");
  const shorter = Math.min(old.length, fresh.length);
  let same = 0;
  while (same < shorter && old[same] === fresh[same]) same++;
  const front = old.slice(0, same).lastIndexOf("/") + 1;
  // The slash that ends the common front may also begin the common end.
  const lowest = front > 0 ? front - 1 : 0;
  let back = 0;
  for (let at = 1; old.length - at >= lowest && fresh.length - at >= lowest; at++) {
    if (old[old.length - at] !== fresh[fresh.length - at]) break;
    if (old[old.length - at] === "/") back = at;
  }
  const oldMiddle = old.slice(front, Math.max(front, old.length - back));
  const newMiddle = fresh.slice(front, Math.max(front, fresh.length - back));
  const both = `${oldMiddle} => ${newMiddle}`;
  if (front + back === 0) return both;
  return `${old.slice(0, front)}{${both}}${old.slice(old.length - back)}`;
}
