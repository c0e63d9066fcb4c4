import type { ByteText } from "../byte-text.ts";
import { corrupt, overLimit } from "../error.ts";
import type { FilePatch, PatchHunk } from "./file-patch.ts";
import { parseBinary } from "./parse-binary.ts";
import { PatchLines } from "./patch-lines.ts";
import { isDevNull, isEpoch, readCommonName, readName, stripDirectories } from "./patch-names.ts";

/** Maximum lines of all hunks together. */
const HUNK_LINES_MAX = 1_000_000;
/** Longest header line, in bytes; allows for two quoted paths. */
const HEADER_BYTES_MAX = 40_000;

/**
 * Reads a patch of one or more files in the format of `git diff`, `git format-patch` or `diff -u`.
 * Text before, between and after the files' patches is skipped.
 *
 * @throws GitError `corrupt` for a malformed patch, with git's message; `limit` for too many lines.
 * @see git-apply(1)
 */
export function parsePatch(text: ByteText): FilePatch[] {
  const parser = new PatchParser(new PatchLines(text));
  const patches: FilePatch[] = [];
  for (let patch = parser.next(); patch; patch = parser.next()) patches.push(patch);
  if (patches.length === 0) throw corrupt("No valid patches in input");
  return patches;
}

/** The header of a file's patch while it is parsed. */
type Header = { -readonly [Key in keyof FilePatch]: FilePatch[Key] };

class PatchParser {
  private readonly lines: PatchLines;
  private hunkLines = 0;
  /** Number of leading directories to strip from names, in a patch without git's header. */
  private strip: number | undefined;

  constructor(lines: PatchLines) {
    this.lines = lines;
  }

  /** The next file's patch; undefined at the end. */
  next(): FilePatch | undefined {
    const header = this.findHeader();
    if (!header) return undefined;
    const { number } = this.lines;
    const hunks: PatchHunk[] = [];
    while (this.lines.peek().startsWith("@@ -")) hunks.push(this.readHunk());
    this.checkHunks(header, hunks);
    if (hunks.length === 0) {
      this.readBinary(header);
      if (!header.isBinary && !changesMetadata(header)) {
        throw corrupt(`patch with only garbage at line ${number}`);
      }
    }
    return { ...header, hunks };
  }

  private findHeader(): Header | undefined {
    const { lines } = this;
    for (let line = lines.peek(); line !== ""; line = lines.peek()) {
      if (line.startsWith("@@ -") && HUNK_HEAD.test(line)) {
        throw corrupt(`patch fragment without header at line ${lines.number}`);
      }
      if (line.startsWith("diff --git ")) {
        checkHeaderLine(line);
        return this.readGitHeader();
      }
      if (line.startsWith("--- ") && lines.peekBehind(1).startsWith("+++ ")) {
        if (lines.peekBehind(2).startsWith("@@ -")) return this.readPlainHeader();
      }
      lines.next();
    }
    return undefined;
  }

  private readGitHeader(): Header {
    const { lines } = this;
    const first = lines.number;
    const common = readCommonName(lines.next().slice("diff --git ".length));
    const header = makeHeader("modify", true);
    for (let line = lines.peek(); line !== ""; line = lines.peek()) {
      const [word = ""] = GIT_WORD.exec(line) ?? [];
      if (word === "") break;
      checkHeaderLine(line);
      this.readGitLine(header, word, line.slice(word.length), common);
      lines.next();
    }
    if (header.oldName === undefined && header.newName === undefined) {
      if (common === undefined) {
        throw corrupt(`git diff header lacks filename information (line ${first})`);
      }
      header.oldName = common;
      header.newName = common;
    }
    const lacksNew = header.newName === undefined && header.kind !== "delete";
    const lacksOld = header.oldName === undefined && header.kind !== "create";
    if (lacksNew || lacksOld) {
      throw corrupt(`git diff header lacks filename information (line ${first})`);
    }
    return header;
  }

  private readGitLine(header: Header, word: string, rest: string, common?: ByteText): void {
    const { number } = this.lines;
    switch (word) {
      case "--- ":
        header.oldName = verifyName(header.oldName, rest, header.kind === "create", "old", number);
        break;
      case "+++ ":
        header.newName = verifyName(header.newName, rest, header.kind === "delete", "new", number);
        break;
      case "old mode ":
        header.oldMode = readMode(rest, number);
        break;
      case "new mode ":
        header.newMode = readMode(rest, number);
        break;
      case "deleted file mode ":
        header.kind = "delete";
        header.oldName = common;
        header.oldMode = readMode(rest, number);
        break;
      case "new file mode ":
        header.kind = "create";
        header.newName = common;
        header.newMode = readMode(rest, number);
        break;
      case "copy from ":
      case "rename from ":
      case "rename old ":
        header.kind = word.startsWith("copy") ? "copy" : "rename";
        header.oldName = readName(rest, 0, "nothing");
        break;
      case "copy to ":
      case "rename to ":
      case "rename new ":
        header.kind = word.startsWith("copy") ? "copy" : "rename";
        header.newName = readName(rest, 0, "nothing");
        break;
      case "index ": {
        const [, oldOid, newOid, mode] =
          /^([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d+))?\s*$/.exec(rest) ?? [];
        header.oldOid = oldOid;
        header.newOid = newOid;
        if (mode !== undefined) header.oldMode = readMode(mode, number);
        break;
      }
      default:
    }
  }

  private readPlainHeader(): Header {
    const { number } = this.lines;
    const [old, fresh] = [this.lines.next().slice(4), this.lines.next().slice(4)];
    checkHeaderLine(old);
    checkHeaderLine(fresh);
    this.strip ??= guessStrip(old, fresh);
    const read = (text: string): ByteText | undefined => readName(text, this.strip ?? 1, "time");
    const header = makeHeader("modify", false);
    const [oldName, newName] = [read(old), read(fresh)];
    // If one name is a backup of the other, such as a.c and a.c.orig, the shorter name is the file.
    const isShorter = oldName !== undefined && newName?.startsWith(oldName);
    const name = isShorter ? oldName : newName;
    const isCreated = isDevNull(old) || (!isDevNull(fresh) && isEpoch(old));
    const isDeleted = !isCreated && (isDevNull(fresh) || isEpoch(fresh));
    const found = isDevNull(old) ? newName : isDevNull(fresh) ? oldName : name;
    if (found === undefined) throw corrupt(`unable to find filename in patch at line ${number}`);
    if (isCreated) Object.assign(header, { kind: "create", isCertain: true });
    if (isDeleted) Object.assign(header, { kind: "delete", isCertain: true });
    header.oldName = isCreated ? undefined : found;
    header.newName = isDeleted ? undefined : found;
    return header;
  }

  private readHunk(): PatchHunk {
    const { lines } = this;
    const head = HUNK_HEAD.exec(lines.peek());
    const fail = () => corrupt(`corrupt patch at line ${lines.number}`);
    if (!head) throw fail();
    lines.next();
    const [oldStart, oldCount = 1, newStart, newCount = 1] = head
      .slice(1)
      .map((digits) => (digits === undefined ? undefined : Number(digits)));
    const before: string[] = [];
    const after: string[] = [];
    let [oldLeft, newLeft, trailing, changed] = [oldCount, newCount, 0, 0];
    while (oldLeft > 0 || newLeft > 0) {
      const line = lines.peek();
      if (!line.endsWith("\n")) throw fail();
      if (++this.hunkLines > HUNK_LINES_MAX) throw overLimit("the patch has too many lines");
      const isLast = lines.peekBehind(1).startsWith("\\");
      const text = isLast ? line.slice(1, -1) : line.slice(1);
      const mark = line.charAt(0);
      if (mark === "\\") {
        if (!isNoNewline(line)) throw fail();
      } else if (mark === " " || mark === "\n") {
        const same = mark === "\n" ? line : text;
        if (mark === " " || !isLast) {
          before.push(same);
          after.push(same);
        }
        oldLeft--;
        newLeft--;
        trailing++;
      } else if (mark === "-") {
        before.push(text);
        oldLeft--;
        changed++;
        trailing = 0;
      } else if (mark === "+") {
        after.push(text);
        newLeft--;
        changed++;
        trailing = 0;
      } else {
        throw fail();
      }
      lines.next();
    }
    if (oldLeft < 0 || newLeft < 0 || changed === 0) throw fail();
    if (isNoNewline(lines.peek())) lines.next();
    return {
      oldStart: oldStart ?? 0,
      newStart: newStart ?? 0,
      before,
      after,
      trailing,
    };
  }

  /**
   * Checks hunks against the header, and sets `isCertain` if they show that the file already
   * exists.
   */
  private checkHunks(header: Header, hunks: readonly PatchHunk[]): void {
    const hasOld = hunks.some(({ before }) => before.length > 0);
    const hasNew = hunks.some(({ after }) => after.length > 0);
    if (!header.isCertain && (hasOld || hunks.length > 1)) header.isCertain = true;
    if (header.kind === "create" && hasOld) {
      throw corrupt(`new file ${header.newName} depends on old contents`);
    }
    if (header.kind === "delete" && hasNew) {
      throw corrupt(`deleted file ${header.oldName} still has contents`);
    }
  }

  private readBinary(header: Header): void {
    const { lines } = this;
    const line = lines.peek();
    if (line === "GIT binary patch\n") {
      lines.next();
      header.binary = parseBinary(lines);
      header.isBinary = true;
    } else if (/^(?:Binary files|Files) .* differ\n$/s.test(line)) {
      lines.next();
      header.isBinary = true;
    }
  }
}

const HUNK_HEAD = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

const GIT_WORD =
  /^(?:--- |\+\+\+ |old mode |new mode |deleted file mode |new file mode |copy from |copy to |rename (?:old|new|from|to) |similarity index |dissimilarity index |index )/;

const makeHeader = (kind: FilePatch["kind"], isCertain: boolean): Header => ({
  oldName: undefined,
  newName: undefined,
  kind,
  isCertain,
  oldMode: undefined,
  newMode: undefined,
  oldOid: undefined,
  newOid: undefined,
  hunks: [],
  isBinary: false,
  binary: undefined,
});

const changesMetadata = ({ kind, oldMode, newMode }: Header): boolean =>
  kind !== "modify" || (oldMode !== undefined && newMode !== undefined && oldMode !== newMode);

/** True for the line that marks a missing line feed, in any language. */
const isNoNewline = (line: string): boolean => line.length >= 12 && line.startsWith("\\ ");

function checkHeaderLine(line: string): void {
  if (line.length > HEADER_BYTES_MAX) throw overLimit("a line of a header is too long");
}

function readMode(text: string, number: number): number {
  const [, digits] = /^([0-7]{1,7})\s*$/.exec(text) ?? [];
  if (digits === undefined) throw corrupt(`invalid mode on line ${number}: ${text.trim()}`);
  return Number.parseInt(digits, 8);
}

/** The name on a `---` or `+++` line, which must agree with the preceding header lines. */
function verifyName(
  known: ByteText | undefined,
  rest: string,
  isNull: boolean,
  side: "old" | "new",
  number: number,
): ByteText | undefined {
  if (isNull || (known === undefined && isDevNull(rest))) {
    if (isDevNull(rest)) return known;
    throw corrupt(`bad git-diff - expected /dev/null on line ${number}`);
  }
  const name = readName(rest, 1, "tab");
  if (known === undefined) return name;
  if (name === known) return known;
  throw corrupt(`bad git-diff - inconsistent ${side} filename on line ${number}`);
}

/**
 * Guesses how many leading directories to strip in a patch without git's header: 0 if the names
 * have none.
 */
function guessStrip(old: string, fresh: string): number | undefined {
  const guess = (text: string): number | undefined => {
    const name = isDevNull(text) ? undefined : readName(text, 0, "time");
    return name !== undefined && stripDirectories(name, 1) === undefined ? 0 : undefined;
  };
  const [a, b] = [guess(old), guess(fresh)];
  return isDevNull(old) ? b : isDevNull(fresh) || a === b ? a : undefined;
}
