import type { FindingId } from "../../src/git/object/finding.ts";
import { hashObject } from "../../src/git/object/hash-object.ts";
import type { ObjectKind } from "../../src/git/object/kind.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";

/**
 * A history of which one object has a finding. It is made of bytes, since git writes no such
 * objects.
 */
export interface OddHistory {
  /** The finding, and what causes it. */
  readonly name: string;
  readonly id: FindingId;
  /** The object with the finding. */
  readonly kind: ObjectKind;
  readonly oid: string;
  /** The three commits of `main`, first to last. The second has the finding or leads to it. */
  readonly commitOids: readonly [string, string, string];
  /** All refs: `refs/heads/main`, and `refs/tags/odd` where the object is a tag. */
  readonly refs: readonly { readonly ref: string; readonly oid: string }[];
  readonly pack: Uint8Array;
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));
const WHO = "A U Thor <author@example.com>";
const at = (seconds: number): string => `${WHO} ${seconds} +0000`;
const FIRST_AT = 1_700_000_000;

class Maker {
  readonly builder = new PackBuilder(codec);
  readonly blob = this.builder.add("blob", bytesOf("words\n"));
  readonly empty = this.builder.add("tree", new Uint8Array(0));
  readonly root = this.tree(["100644", "a.txt", this.blob], ["40000", "lib", this.empty]);

  tree(...entries: [mode: string, name: string, oid: string][]): string {
    return this.builder.add("tree", this.treeBytes(...entries));
  }

  treeBytes(...entries: [mode: string, name: string, oid: string][]): Uint8Array {
    const pieces = entries.flatMap(([mode, name, oid]) => [
      bytesOf(`${mode} ${name}\0`),
      oidBytes(oid),
    ]);
    return joinBytes(pieces);
  }

  commit(tree: string, parents: readonly string[], seconds: number, message = "m\n"): string {
    const lines = parents.map((parent) => `parent ${parent}\n`).join("");
    const who = `author ${at(seconds)}\ncommitter ${at(seconds)}\n`;
    return this.builder.add("commit", bytesOf(`tree ${tree}\n${lines}${who}\n${message}`));
  }
}

/** Gets the maker and the first commit. @returns The object with the finding. */
type MakeOdd = (maker: Maker, first: string) => { kind: ObjectKind; content: Uint8Array };

const withTree =
  (...entries: [mode: string, name: string, oid?: string][]): MakeOdd =>
  (maker) => ({
    kind: "tree",
    content: maker.treeBytes(
      ...entries.map(([mode, name, oid]): [string, string, string] => {
        const known = /^0*4/.test(mode) ? maker.empty : maker.blob;
        return [mode, name, oid ?? known];
      }),
    ),
  });

/** A commit with these lines after its parents. */
const withLines =
  (...lines: string[]): MakeOdd =>
  (maker, first) => ({
    kind: "commit",
    content: bytesOf(`tree ${maker.root}\nparent ${first}\n${lines.join("\n")}`),
  });
const author = (identity: string): MakeOdd =>
  withLines(`author ${identity}`, `committer ${at(FIRST_AT + 60)}`, "", "m\n");
const committer = (identity: string): MakeOdd =>
  withLines(`author ${at(FIRST_AT + 60)}`, `committer ${identity}`, "", "m\n");
const both = (identity: string): MakeOdd =>
  withLines(`author ${identity}`, `committer ${identity}`, "", "m\n");

const withTag =
  (...lines: string[]): MakeOdd =>
  (_, first) => ({
    kind: "tag",
    content: bytesOf(lines.join("\n").replace("<first>", first)),
  });
const tagger = `tagger ${at(FIRST_AT)}`;

const withFile =
  (name: string, text: string): MakeOdd =>
  (maker) => {
    maker.tree(["100644", name, hashObject("blob", bytesOf(text))]);
    return { kind: "blob", content: bytesOf(text) };
  };

const TO = "object <first>";
const submodule = (setting: string): string => `[submodule "a"]\n\tpath = a\n\t${setting}\n`;

/** At least one for each finding that an object can have. */
const ODD: readonly [id: FindingId, cause: string, make: MakeOdd, file?: string][] = [
  ["badDate", "letters", both(`${WHO} now +0000`)],
  ["badDate", "no date", both(`${WHO} `)],
  ["badDate", "a negative date", both(`${WHO} -5 +0000`)],
  ["badDate", "a fraction", both(`${WHO} 1234567890.5 +0000`)],
  ["badDateOverflow", "beyond 64 bits", both(`${WHO} 99999999999999999999 +0000`)],
  ["badDateOverflow", "beyond 63 bits", both(`${WHO} 9223372036854775808 +0000`)],
  ["badDateOverflow", "thirty digits", committer(`${WHO} ${"9".repeat(30)} +0100`)],
  ["badEmail", "a bracket within", both("A <a<b@example.com> 1700000060 +0000")],
  ["badEmail", "no end", author("A <a@example.com 1700000060 +0000")],
  ["badName", "a bracket", both("A> U <a@example.com> 1700000060 +0000")],
  ["badTimezone", "six digits", both(`${WHO} 1700000060 +051800`)],
  ["badTimezone", "three digits", author(`${WHO} 1700000060 -700`)],
  ["badTimezone", "a name", both(`${WHO} 1700000060 UTC`)],
  ["badTimezone", "none", committer(`${WHO} 1700000060 `)],
  ["missingEmail", "a name and a date", both("A U Thor 1700000060 +0000")],
  ["missingEmail", "nothing", both("")],
  ["missingNameBeforeEmail", "an address alone", both("<a@example.com> 1700000060 +0000")],
  ["missingSpaceBeforeDate", "after the address", both(`${WHO}1700000060 +0000`)],
  ["missingSpaceBeforeEmail", "after the name", both("A<a@example.com> 1700000060 +0000")],
  ["zeroPaddedDate", "one zero", both(`${WHO} 01700000060 +0000`)],
  [
    "multipleAuthors",
    "two",
    withLines(
      `author ${at(FIRST_AT + 60)}`,
      "author B <b@example.com> 1700000061 +0000",
      `committer ${at(FIRST_AT + 60)}`,
      "",
      "m\n",
    ),
  ],
  [
    "nulInCommit",
    "in the message",
    withLines(`author ${at(FIRST_AT + 60)}`, `committer ${at(FIRST_AT + 60)}`, "", "m\0n\n"),
  ],
  ["missingAuthor", "a committer alone", withLines(`committer ${at(FIRST_AT + 60)}`, "", "m\n")],
  ["missingCommitter", "an author alone", withLines(`author ${at(FIRST_AT + 60)}`, "", "m\n")],
  ["nulInHeader", "in the name", both(`A\0${WHO} 1700000060 +0000`)],
  [
    "unterminatedHeader",
    "no line feed",
    withLines(`author ${at(FIRST_AT + 60)}`, `committer ${at(FIRST_AT + 60)}`),
  ],
  [
    "missingTree",
    "a parent first",
    () => ({ kind: "commit", content: bytesOf(`author ${at(1)}\n\n`) }),
  ],
  ["badTreeSha1", "letters", () => ({ kind: "commit", content: bytesOf("tree x\n\n") })],
  [
    "badParentSha1",
    "letters",
    ({ root }) => ({ kind: "commit", content: bytesOf(`tree ${root}\nparent x\n\n`) }),
  ],

  ["badTagName", "two dots", withTag(TO, "type commit", "tag v..1", tagger, "", "m\n")],
  ["missingTaggerEntry", "as in early tags", withTag(TO, "type commit", "tag v1", "", "m\n")],
  [
    "badTimezone",
    "of a tagger",
    withTag(TO, "type commit", "tag v1", `tagger ${WHO} 1 UTC`, "", "m\n"),
  ],
  [
    "badDate",
    "of a tagger",
    withTag(TO, "type commit", "tag v1", `tagger ${WHO} -1 +0000`, "", "m\n"),
  ],
  ["missingEmail", "of a tagger", withTag(TO, "type commit", "tag v1", "tagger ", "", "m\n")],
  ["missingObject", "a type first", withTag("type commit", "tag v1", tagger, "", "m\n")],
  ["badObjectSha1", "letters", withTag("object x", "type commit", "tag v1", tagger, "", "m\n")],
  ["missingTypeEntry", "a name first", withTag(TO, "tag v1", tagger, "", "m\n")],
  ["badType", "another word", withTag(TO, "type commits", "tag v1", tagger, "", "m\n")],
  ["missingTagEntry", "a tagger first", withTag(TO, "type commit", tagger, "", "m\n")],

  ["zeroPaddedFilemode", "of a directory", withTree(["100644", "a.txt"], ["040000", "lib"])],
  ["zeroPaddedFilemode", "of a file", withTree(["0100644", "a.txt"], ["40000", "lib"])],
  ["badFilemode", "group-writable", withTree(["100664", "a.txt"], ["40000", "lib"])],
  ["badFilemode", "of a directory", withTree(["100644", "a.txt"], ["40755", "lib"])],
  ["gitattributesSymlink", "at the root", withTree(["120000", ".gitattributes"])],
  ["gitignoreSymlink", "at the root", withTree(["120000", ".gitignore"])],
  ["mailmapSymlink", "at the root", withTree(["120000", ".mailmap"])],
  ["gitmodulesSymlink", "at the root", withTree(["120000", ".gitmodules"])],
  ["duplicateEntries", "two files", withTree(["100644", "a.txt"], ["100755", "a.txt"])],
  ["treeNotSorted", "two files", withTree(["100644", "b"], ["100644", "a"])],
  ["fullPathname", "a slash", withTree(["100644", "lib/a"])],
  ["hasDot", "a directory", withTree(["40000", "."])],
  ["hasDotdot", "a directory", withTree(["40000", ".."])],
  ["hasDotgit", "in capitals", withTree(["40000", ".GIT"])],
  ["hasDotgit", "as HFS+ reads it", withTree(["40000", ".g\xe2\x80\x8cit"])],
  ["hasDotgit", "as NTFS reads it", withTree(["40000", "git~1"])],
  ["largePathname", "4097 bytes", withTree(["100644", "a".repeat(4097)])],
  ["nullSha1", "of a submodule", withTree(["160000", "a", "0".repeat(40)])],
  ["badTree", "cut off", () => ({ kind: "tree", content: bytesOf("100644 a.txt\0short") })],
  [
    "badTree",
    "no name",
    ({ blob }) => ({ kind: "tree", content: joinBytes([bytesOf("100644 \0"), oidBytes(blob)]) }),
  ],
  ["gitmodulesBlob", "a submodule", withTree(["160000", ".gitmodules", "1".repeat(40)])],
  ["gitattributesBlob", "a submodule", withTree(["160000", ".gitattributes", "1".repeat(40)])],

  [
    "gitmodulesUrl",
    "an option",
    withFile(".gitmodules", submodule("url = -u./payload")),
    ".gitmodules",
  ],
  [
    "gitmodulesPath",
    "an option",
    withFile(".gitmodules", '[submodule "a"]\n\tpath = -x\n'),
    ".gitmodules",
  ],
  [
    "gitmodulesUpdate",
    "a command",
    withFile(".gitmodules", submodule("update = !touch x")),
    ".gitmodules",
  ],
  [
    "gitmodulesName",
    "two dots",
    withFile(".gitmodules", '[submodule "../a"]\n\tpath = a\n'),
    ".gitmodules",
  ],
  ["gitmodulesParse", "an open header", withFile(".gitmodules", '[submodule "a\n'), ".gitmodules"],
  [
    "gitattributesLineLength",
    "2048 bytes",
    withFile(".gitattributes", `${"a".repeat(2048)}\n`),
    ".gitattributes",
  ],
];

/** Builds the history of each finding. */
export const ODD_HISTORIES: readonly OddHistory[] = ODD.map(([id, cause, make, file]) => {
  const maker = new Maker();
  const { builder } = maker;
  const first = maker.commit(maker.root, [], FIRST_AT, "first\n");
  const { kind, content } = make(maker, first);
  const oid = builder.add(kind, content);
  const tree = file ? maker.tree(["100644", file, oid]) : kind === "tree" ? oid : maker.root;
  const second = kind === "commit" ? oid : maker.commit(tree, [first], FIRST_AT + 60, "second\n");
  const last = maker.commit(maker.root, [second], FIRST_AT + 120, "last\n");
  const main = { ref: "refs/heads/main", oid: last };
  const refs = kind === "tag" ? [main, { ref: "refs/tags/odd", oid }] : [main];
  const name = `${id}: ${cause}`;
  return { name, id, kind, oid, commitOids: [first, second, last], refs, pack: builder.build() };
});
