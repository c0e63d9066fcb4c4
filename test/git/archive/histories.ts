import { type Random } from "../support/random.ts";
import { git, gitBytes, makeRepository } from "../support/git.ts";

/** `content` is the bytes of a file, the target of a symlink, or the commit id of a submodule. */
interface SampleFile {
  readonly mode: "100644" | "100755" | "120000" | "160000";
  readonly content: Buffer;
}

export type SampleTree = ReadonlyMap<string, SampleFile>;

const NAMES = [
  "a",
  "b.txt",
  "c.bin",
  "d d",
  "e-f",
  "täst",
  "[x]",
  "z*",
  "lib",
  "test",
  "x.c",
  ".h",
];
const long = "n".repeat(90);

const PATTERNS = [
  "*.txt",
  "*.c",
  "a",
  "/a",
  "lib/",
  "lib/*",
  "lib/**",
  "**/test",
  "test/**/a",
  "**",
  "*",
  "/*/x.c",
  "lib/**/x.c",
  "a**",
  "li**",
  "lib/te**",
  "[a-d]*",
  "[!a-d]*",
  "[^[:alpha:]]*",
  "[[:punct:]]x]",
  "\\[x\\]",
  "z\\*",
  '"d d"',
  '"t\\303\\244st"',
  "d?d",
  "lib/?.c",
  "*/a",
  "***/a",
  "!a",
  "[",
  "[]-a]",
  "a\\",
  ".*",
  "lib/a/",
  "test",
  "d[ ]d",
  "#a",
  "**/lib/**/b.txt",
  "*b*t*",
];

const STATES = [
  "export-ignore",
  "-export-ignore",
  "!export-ignore",
  "export-ignore=yes",
  "export-subst",
  "-export-subst",
  "text eol=crlf",
  "text=auto eol=crlf",
  "eol=crlf",
  "eol=lf text",
  "-text",
  "binary",
  "hidden",
  "-hidden",
  "!hidden",
  "both",
  "ident",
  "-ident",
  "crlf=input",
  "crlf eol=crlf",
  "diff",
  "-diff",
  "-bad~name export-ignore",
  "",
];

const MACROS = ["[attr]hidden export-ignore", "[attr]both hidden -text", "[attr]hidden -text"];

function makeAttributes(random: Random, isRoot: boolean): string {
  const lines: string[] = [];
  for (let line = 0; line < 1 + random.below(6); line++) {
    const states = [random.pick(STATES), ...(random.below(4) === 0 ? [random.pick(STATES)] : [])];
    lines.push(`${random.pick(PATTERNS)} ${states.join(" ")}`);
    if (random.below(isRoot ? 3 : 9) === 0) lines.push(random.pick(MACROS));
  }
  if (random.below(9) === 0) lines.push("# a comment", "", `a ${"x".repeat(2100)} export-ignore`);
  return `${lines.join(random.below(5) === 0 ? "\r\n" : "\n")}\n`;
}

const TEXTS = [
  "",
  "a\nb\n",
  "a\r\nb\n",
  "no end",
  "$Id$ and $Id: 1234 $ and $Id: other words $\nnot $Id\n$",
  "$Format:%H %h %T %t %P %p$ $Format:%an <%ae> %ad%n%cD$\n$Format:%ai %ct %cn %as$",
  "$Format:%s|%f|%b|%B|%e|%%|%x41|%q$ $Format:%d|%D$ $Format:$ $Format:%",
  "nul\0\n$Id$\n",
  "\x01\x02\x03\n\x1a",
  "bare\rreturn\n",
];

/**
 * Files at random paths, with `.gitattributes` files that use every attribute relevant for
 * archives.
 */
export function makeSampleTree(random: Random): SampleTree {
  const files = new Map<string, SampleFile>();
  const taken = new Set<string>();
  for (let file = 0; file < 10 + random.below(25); file++) {
    const depth = 1 + random.below(4);
    const names = Array.from({ length: depth }, () => random.pick(NAMES));
    if (random.below(12) === 0) names.push(long, random.below(2) === 0 ? `${long}${long}` : long);
    const path = names.join("/");
    const isBlocked = names.some((_, at) => files.has(names.slice(0, at + 1).join("/")));
    if (isBlocked || taken.has(path)) continue;
    for (const at of names.keys()) taken.add(names.slice(0, at).join("/"));
    files.set(path, makeFile(random));
  }
  const directories = [...taken].filter(() => random.below(3) === 0);
  for (const directory of ["", ...directories]) {
    if (directory === "" && random.below(6) === 0) continue;
    const path = directory === "" ? ".gitattributes" : `${directory}/.gitattributes`;
    const content = Buffer.from(makeAttributes(random, directory === ""));
    files.set(path, { mode: "100644", content });
  }
  return files;
}

function makeFile(random: Random): SampleFile {
  const roll = random.below(20);
  if (roll === 0) return { mode: "160000", content: Buffer.from("1".repeat(40)) };
  if (roll === 1) return { mode: "120000", content: Buffer.from("../a") };
  if (roll === 2) return { mode: "120000", content: Buffer.from(`../${"deep/".repeat(40)}`) };
  const mode = roll < 5 ? "100755" : "100644";
  const isText = roll < 16;
  const content = isText
    ? Buffer.from(random.pick(TEXTS) + random.pick(TEXTS))
    : Buffer.from(random.bytes(random.below(3000)));
  return { mode, content };
}

/**
 * A bare repository with a linear history of one commit per tree, and the commit ids, oldest first.
 */
export function storeTrees(trees: readonly SampleTree[]): { repository: string; oids: string[] } {
  const repository = makeRepository();
  const pieces: Buffer[] = [];
  const write = (text: string): void => void pieces.push(Buffer.from(text));
  for (const [at, files] of trees.entries()) {
    const message = `Sübject of ${at}...\nmore of it\n\n\nA body.\n\nIts end.\n\n`;
    write(
      `commit refs/heads/main\nauthor Ä Thor <a.thor@example.com> ${1_600_000_000 + at} -0330\n`,
    );
    write(`committer C O Mitter <c@example.com> ${1_700_000_000 + at} +0100\n`);
    write(`data ${Buffer.byteLength(message)}\n${message}\ndeleteall\n`);
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
  git(repository, ["fast-import", "--quiet"], { input: Buffer.concat(pieces) });
  git(repository, ["tag", "v1", "main"]);
  git(repository, ["tag", "-a", "-m", "two", "v2", "main"]);
  git(repository, ["branch", "other", "main"]);
  return { repository, oids: git(repository, ["rev-list", "--reverse", "main"]).split("\n") };
}

export const archiveByGit = (repository: string, format: string, commit: string): Buffer =>
  gitBytes(repository, ["archive", `--format=${format}`, "--prefix=top/", commit]);
