import { git, makeRepository } from "../support/git.ts";
import type { Random } from "../support/random.ts";

/**
 * A file in every commit that is never moved: since version 2.44, git computes the similarity of
 * files whose last line has no line feed differently.
 */
const ENDLESS = "endless.txt";

const PATHS = [
  "a",
  "b.txt",
  "src/main.c",
  "src/deep/er/main.c",
  "lib/deep/er/main.c",
  "docs/täst.md",
  'docs/"quoted" name',
  "a name with blanks.txt",
  `long/${"directory/".repeat(7)}and-a-name-that-is-long-too.txt`,
  "x".repeat(90),
  `y/${"z".repeat(80)}`,
];

const SUBJECTS = [
  "Change",
  "Ein Wörtchen über Ümlaute, das länger ist als eine Zeile sein darf, und noch ein wenig länger",
  "word ".repeat(30),
  "w".repeat(100),
  `short ${"w".repeat(90)} more`,
  "=?odd?= one_with=signs",
  "two\nlines of it  \nand a third\t",
  "tab\tin it ".repeat(12),
  "日本語の件名、とても長いので何行にもなる件名、とても長いので何行にもなる件名",
  "",
  "\x1b[31mred",
  "emoji 😀 ".repeat(9),
];
const BODIES = [
  "",
  "A body.  \n\n\n  With indents\t\n",
  "Größe\n",
  "---\nnot the end\n",
  "From here\n-- \nsigned\n\n\n",
  "\n\n\nlate\n",
];
const PEOPLE = [
  "A U Thor <author@example.com>",
  "Ä Ö. Ü_ß <u@example.com>",
  'Dr. "Q" (x) <q@example.com>',
  `${"Name ".repeat(18)}<n@example.com>`,
  `Name <${"long".repeat(20)}@example.com>`,
  `${"Näme ".repeat(18)}<n@example.com>`,
  "=?x?= <x@example.com>",
];
const ZONES = ["+0000", "-0000", "+0100", "-0330", "+1245"];

/** A line cut at 80 bytes, within a character, when it is the heading of a hunk. */
const LONG = `a${"ä".repeat(60)}`;

const makeLine = (random: Random): string =>
  random.pick(["one", "two", "three", "", "  four", "5"]);

/** Returns some lines of text or random bytes, ending in a line feed. */
function makeContent(random: Random): Buffer {
  const roll = random.below(12);
  if (roll === 0) return Buffer.alloc(0);
  if (roll < 3) {
    return Buffer.concat([random.bytes(1 + random.below(900)), Buffer.from("\n")]);
  }
  const lines = Array.from({ length: 1 + random.below(roll === 3 ? 300 : 25) }, () =>
    makeLine(random),
  );
  if (random.below(8) === 0) lines.push(LONG);
  const end = random.pick(["\n", "\n", "\n", "\r\n"]);
  return Buffer.from(lines.join(end) + end);
}

interface File {
  readonly mode: string;
  readonly content: Buffer;
}

/**
 * Returns the file with a small change, so that git detects it as the same file at another path.
 */
function change(random: Random, { mode, content }: File): File {
  const at = content.indexOf("\n", random.below(content.length + 1)) + 1;
  const isSmall = random.below(2) === 0;
  const piece = isSmall ? Buffer.from(`${makeLine(random)}\n`) : makeContent(random);
  return { mode, content: Buffer.concat([content.subarray(0, at), piece, content.subarray(at)]) };
}

function changeFiles(random: Random, files: Map<string, File>): void {
  for (let count = random.below(6); count >= 0; count--) {
    const path = random.pick(PATHS);
    const known = files.get(path);
    const roll = random.below(10);
    if (!known) {
      const mode = random.pick(["100644", "100644", "100644", "100755", "120000", "160000"]);
      const content =
        mode === "160000" ? Buffer.from("1".repeat(39) + random.below(10)) : makeContent(random);
      files.set(path, { mode, content });
    } else if (roll === 0) {
      files.delete(path);
    } else if (roll < 4 && known.mode !== "160000") {
      const to = random.pick(PATHS);
      if (files.has(to)) continue;
      files.delete(path);
      files.set(to, random.below(2) === 0 ? known : change(random, known));
    } else if (roll === 4 && known.mode !== "160000") {
      const mode = random.pick(["100644", "100755", "120000"]);
      files.set(path, { ...known, mode });
    } else if (known.mode !== "160000") {
      files.set(path, change(random, known));
    }
  }
}

/**
 * Makes a bare repository whose commits cover the cases of mail formatting; returns it with the ids
 * of its commits, oldest first.
 */
export function makeMailedHistory(random: Random, count: number) {
  const repository = makeRepository();
  const pieces: Buffer[] = [];
  const write = (text: string): void => void pieces.push(Buffer.from(text));
  const files = new Map<string, File>();
  for (let at = 0; at < count; at++) {
    // Some commits change nothing.
    const isIdle = random.below(12) === 0;
    if (!isIdle) changeFiles(random, files);
    const end = random.pick(["", "\n", "\r\n"]);
    if (!isIdle)
      files.set(ENDLESS, { mode: "100644", content: Buffer.from(`1\n2\n${at >> 2}\nend${end}`) });
    const isLatin = random.below(10) === 0;
    const subject = isLatin ? "Zu Köln" : random.pick(SUBJECTS);
    const message = Buffer.from(
      `${subject}\n${random.below(3) === 0 ? "" : `\n${random.pick(BODIES)}`}`,
      isLatin ? "latin1" : "utf8",
    );
    const side = at > 3 && random.below(5) === 0 ? 1 + random.below(3) : 0;
    const parents = side > 0 ? `from :${at}\nmerge :${at - side}\n` : at > 0 ? `from :${at}\n` : "";
    write(`commit refs/heads/main\nmark :${at + 1}\n`);
    const author = isLatin
      ? Buffer.from("author Jörg <j@example.com> ", "latin1")
      : Buffer.from(`author ${random.pick(PEOPLE)} `);
    pieces.push(author);
    write(`${1_600_000_000 + at * 3601} ${random.pick(ZONES)}\n`);
    write(`committer C <c@example.com> ${1_700_000_000 + at} +0100\n`);
    if (isLatin) write("encoding ISO-8859-1\n");
    write(`data ${message.length}\n`);
    pieces.push(message);
    write(`\n${parents}deleteall\n`);
    for (const [path, { mode, content }] of files) {
      const name = `"${path.replaceAll(/["\\]/g, "\\$&")}"`;
      if (mode === "160000") {
        write(`M 160000 ${content.toString()} ${name}\n`);
        continue;
      }
      write(`M ${mode} inline ${name}\ndata ${content.length}\n`);
      pieces.push(content);
      write("\n");
    }
  }
  git(repository, ["fast-import", "--quiet", "--force"], { input: Buffer.concat(pieces) });
  return { repository, oids: git(repository, ["rev-list", "--reverse", "main"]).split("\n") };
}
