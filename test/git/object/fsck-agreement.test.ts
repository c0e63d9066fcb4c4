import { describe, expect, it } from "vitest";
import { runNow } from "../../../src/git/budget.ts";
import { checkGitattributes, checkGitmodules } from "../../../src/git/object/check-config-blob.ts";
import { checkObject } from "../../../src/git/object/check-object.ts";
import {
  DEFAULT_SEVERITIES,
  type Finding,
  FINDING_IDS,
  FINDING_RULES,
  type FindingId,
  type FindingSeverities,
} from "../../../src/git/object/finding.ts";
import type { ObjectKind } from "../../../src/git/object/kind.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { codec } from "../support/codec.ts";
import { git, makeRepository } from "../support/git.ts";
import { makeRandom, type Random } from "../support/random.ts";
import { LENIENT_SEVERITIES, STRICT_SEVERITIES } from "../support/severities.ts";

/** Findings about the files in which git stores refs: no object has them. */
const REF_FINDINGS = new Set(
  [
    "badHeadTarget badPackedRefEntry badPackedRefHeader badRefContent badRefFiletype badRefName badRefOid",
    "badReferentName badReftableFiletype badReftableTableName emptyPackedRefsFile",
    "packedRefEntryNotTerminated packedRefUnsorted refMissingNewline symlinkRef symrefTargetIsNotARef",
    "trailingRefContent",
  ].flatMap((line) => line.split(" ")),
);

/** Findings of newer versions of git than the oldest that these tests run with. */
const NEWER: readonly FindingId[] = ["badGpgsig", "badHeaderContinuation", "largePathname"];

it("knows every finding of the installed git, and no other", () => {
  const listed = git(makeRepository(), ["help", "--config-for-completion"])
    .split("\n")
    .flatMap((name) => /^receive\.fsck\.(\w+)$/.exec(name)?.[1] ?? [])
    .filter((id) => id !== "skipList" && !REF_FINDINGS.has(id));
  expect(listed.length).toBeGreaterThan(50);
  expect(new Set([...listed, ...NEWER])).toEqual(new Set(FINDING_IDS));
});

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

interface Built {
  readonly kind: ObjectKind;
  readonly content: Uint8Array;
  readonly oid: string;
}

/** Pieces of configuration files. */
const PIECES = [
  ['[submodule "a"]', '[submodule "../a"]', "[submodule.a]", "[submodule...]", "[submodule.]"],
  ['[SubModule "a\\"b"]', '[submodule "a\\\\..\\\\b"]', "[]", "[core]", '[submodule.x "y"]'],
  ['[ "a"]', "[submodule", '[submodule "', "[sub module]", '[submodule\t "a" ]', '[submodule ""]'],
  ["\nurl =", "\n URL=", "\npath =", "\nupdate = ", "\nurl", "path\n", "\nx-y =", "\n0a =", "="],
  [
    " -u",
    "\nupdate = !touch x",
    "\npath = -u",
    " checkout",
    " ../a",
    " ../../:a",
    " ..//a",
    " ./:a",
    " a:b",
    "a",
  ],
  [" https://a/b", " https://\n", " https:///a", " http::https://a/", " http::a\n", " ftp://a@/b"],
  [" https://a%0a/", " https://a/%0ab", " https://u@h/", " git://a%0a", " ssh://-a/", " ./..\\:x"],
  [
    " \\\n-u",
    "\\n",
    "\\x",
    "\\",
    '"',
    '" -u"',
    "# x",
    "; x",
    "\r\n",
    "\r",
    "\n",
    " ",
    "\t",
    "\x0b",
  ],
  ["\xa0", "\0", "/"],
].flat();

/**
 * Builds random objects, most of them with faults, into a pack that git indexes without checking
 * it.
 */
class Forge {
  readonly builder = new PackBuilder(codec);
  readonly built: Built[] = [];
  private readonly random: Random;
  private readonly blob: string;
  private readonly tree: string;

  constructor(seed: number) {
    this.random = makeRandom(seed);
    this.blob = this.builder.add("blob", latin1("content\n"));
    this.tree = this.builder.add("tree", new Uint8Array(0));
  }

  private add(kind: ObjectKind, content: Buffer): string {
    const oid = this.builder.add(kind, content);
    this.built.push({ kind, content, oid });
    return oid;
  }

  private maybe(text: string, one = 8): string {
    return this.random.below(one) === 0 ? "" : text;
  }

  /** Sometimes replaces `text` by one of the others. */
  private or(text: string, ...others: string[]): string {
    return this.random.below(4) === 0 ? this.random.pick(others) : text;
  }

  private identity(): string {
    const name = this.or("A U Thor", "", " ", "A<", "A>", "<", "\xff\xfe", "A\tB", "A  ");
    const address = this.or("a@b", "", "a<b", "a>b", " ", "a b", "\xe9");
    const time = this.or("1", "0", "00", "01", "x", "9223372036854775807", "9223372036854775808");
    const longer = this.or(time, "99999999999999999999999", "1x", "8640000000001", " 5");
    const zone = this.or("+0000", "", "100", "+000", "+051800", "-0000", "+9999", "UTC", "+0100 ");
    const address2 = `${this.maybe("<")}${address}${this.maybe(">")}`;
    return `${name}${this.maybe(" ")}${address2}${this.maybe(" ")}${longer}${this.maybe(" ")}${zone}`;
  }

  commit(): void {
    const line = (word: string): string =>
      this.or(`${word} ${this.identity()}\n`, "", `${word}\n`, `x${word} ${this.identity()}\n`);
    const author = `${line("author")}${this.or("", line("author"))}`;
    const head = `tree ${this.tree}\n${author}${line("committer")}`;
    const more = this.or("", "encoding x\n", "gpgsig a\n b\n", "x\0y\n");
    this.add(
      "commit",
      latin1(`${head}${more}${this.maybe("\n")}${this.or("m\n", "m\0\n", "", "m")}`),
    );
  }

  tag(): void {
    const type = `type ${this.or("blob", "tree")}\n`;
    const target = type === "type tree\n" ? this.tree : this.blob;
    const name = `tag ${this.or("v1", "v..1", "", "a b", "-a", "v1.lock", "\xff")}\n`;
    const tagger = this.or(`tagger ${this.identity()}\n`, "", "tagger\n", "tagger \n");
    const head = `object ${target}\n${type}${name}${tagger}${this.or("", "x y\n")}`;
    this.add("tag", latin1(`${head}${this.maybe("\n")}${this.or("m\n", "", "m\0")}`));
  }

  directory(): void {
    const { random } = this;
    const dotted = random.pick(["git", "gitmodules", "gitattributes", "gitignore", "mailmap"]);
    const cut = 1 + random.below(dotted.length);
    const hidden = random.pick(["\xe2\x80\x8c", "\xef\xbb\xbf", "\xe2\x81\xaa", "\xe2\x80\x90"]);
    const tail = random.pick([
      "",
      " ",
      ".",
      " .",
      ":x",
      "::$DATA",
      "\\x",
      "/x",
      "x",
      "\xe2\x80\x8d",
    ]);
    const names = [
      `.${dotted}${tail}`,
      `.${dotted.slice(0, cut)}${hidden}${dotted.slice(cut)}${tail}`,
      `.${dotted.toUpperCase()}${tail}`,
      `${dotted.slice(0, 6)}~${random.below(11)}${tail}`,
      `a\\.${dotted}${tail}`,
      random.pick(["gi7eba~1", "gi7d2~1", "gi250~10", "maba30~9", "gi7e~123", "GI7EB~4", "~1"]),
      random.pick([".", "..", "...", "a/b", "/", "\\", "git~1", "GIT~1 ", "git~11", "a~1"]),
    ];
    const plain = ["a", "a.b", "a-b", "a0", "b", "c"];
    const count = 1 + random.below(4);
    const entries = Array.from({ length: count }, () => {
      const isTree = random.below(3) === 0;
      const modes = isTree
        ? ["40000", "40000", "040000", "40755"]
        : ["100644", "100644", "100755", "120000", "100664", "0100644", "100600", "120777"];
      // A submodule, too, except under names for which git looks for its commit.
      const isPlain = random.below(2) === 0;
      const mode = isPlain && !isTree && random.below(8) === 0 ? "160000" : random.pick(modes);
      const name = random.pick(isPlain ? plain : names);
      const oid = random.below(12) === 0 ? "0".repeat(40) : isTree ? this.tree : this.blob;
      return { name, key: isTree ? `${name}/` : name, mode, oid };
    });
    if (random.below(4) > 0) entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const bytes = entries.flatMap(({ mode, name, oid }) => [
      latin1(`${mode} ${name}\0`),
      Buffer.from(oid, "hex"),
    ]);
    const tree = Buffer.concat(bytes);
    if (random.below(12) > 0) this.add("tree", tree);
    else if (random.below(3) > 0) this.add("tree", tree.subarray(0, 1 + random.below(tree.length)));
    else
      this.add(
        "tree",
        Buffer.concat([tree, latin1(random.pick(["1006x4 a\0", "100644 \0"])), tree]),
      );
  }

  /** A configuration file of random pieces, in a tree of its own. */
  modules(): void {
    const { random } = this;
    const piece = (): string => random.pick(PIECES);
    const text = Array.from({ length: 1 + random.below(9) }, piece).join("");
    const start = random.below(2) === 0 ? '[submodule "a"]\n\tpath = a\n' : "";
    this.special(".gitmodules", latin1(`${start}${text}`));
  }

  attributes(): void {
    const length = this.random.pick([10, 2046, 2047, 2048, 5000]);
    this.special(".gitattributes", latin1(`* text\n${"a".repeat(length)}${this.maybe("\n")}`));
  }

  private special(name: string, content: Buffer): void {
    const oid = this.add("blob", content);
    this.add("tree", Buffer.concat([latin1(`100644 ${name}\0`), Buffer.from(oid, "hex")]));
  }
}

const noSpecial = () => ({
  gitmodulesOids: new Set<string>(),
  gitattributesOids: new Set<string>(),
});

/** Findings of no generated object, and why. */
const ELSEWHERE: Partial<Record<FindingId, string>> = {
  badGpgsig: "git's own check of the headers comes first",
  badHeaderContinuation: "git's own check of the headers comes first",
  badObjectSha1: "shown with git mktag",
  badParentSha1: "git can't read such a commit",
  badTreeSha1: "git can't read such a commit",
  badType: "shown with git mktag",
  emptyName: "git reports badTree",
  gitattributesLarge: "the limit is lower than git's",
  gitmodulesLarge: "the limit is lower than git's",
  largePathname: "newer than the oldest git that these tests run with",
  missingObject: "shown with git mktag",
  missingTag: "git's own check of the headers comes first",
  missingTagEntry: "shown with git mktag",
  missingTree: "git can't read such a commit",
  missingType: "git's own check of the headers comes first",
  missingTypeEntry: "shown with git mktag",
  unknownType: "no pack has such an object",
};

const format = (findings: readonly Finding[]): string[] => {
  const reported = findings.filter(({ severity }) => severity !== "ignore");
  const words = reported.map(
    ({ id, severity }) => `${severity === "error" ? "error" : "warning"} ${id}`,
  );
  return [...new Set(words)].toSorted();
};

/** The service's findings for each object, by id. */
function ours(built: readonly Built[], severities: FindingSeverities): Map<string, string[]> {
  const special = noSpecial();
  const found = new Map<string, Finding[]>();
  for (const { kind, content, oid } of built) {
    found.set(oid, runNow(checkObject(kind, content, severities, special)));
  }
  for (const { kind, content, oid } of built) {
    if (kind !== "blob") continue;
    const modules = special.gitmodulesOids.has(oid) ? checkGitmodules(content, severities) : [];
    const attributes = special.gitattributesOids.has(oid)
      ? checkGitattributes(content, severities)
      : [];
    found.set(oid, [...modules, ...attributes]);
  }
  return new Map([...found].map(([oid, findings]) => [oid, format(findings)]));
}

/** Git's findings for each object, by id, with the same severities. */
function gits(pack: Uint8Array, severities: FindingSeverities): Map<string, string[]> {
  const directory = makeRepository();
  git(directory, ["index-pack", "--stdin"], { input: pack });
  const settings = FINDING_IDS.flatMap((id) =>
    NEWER.includes(id) || FINDING_RULES[id].git === "fatal"
      ? []
      : ["-c", `fsck.${id}=${severities[id]}`],
  );
  const args = [...settings, "fsck", "--strict", "--no-dangling", "--no-progress"];
  const report = git(directory, args, { mayFail: true });
  const found = new Map<string, Set<string>>();
  const line = /^(error|warning) in (?:tree|commit|tag|blob) ([0-9a-f]{40}): (\w+):/gm;
  for (const [, severity = "", oid = "", id] of report.matchAll(line)) {
    found.set(oid, (found.get(oid) ?? new Set()).add(`${severity} ${id}`));
  }
  // Of a tree that ends early, git also reports some faults of the entries before.
  for (const words of found.values()) {
    if (words.has("error badTree"))
      for (const word of words) if (word !== "error badTree") words.delete(word);
  }
  return new Map([...found].map(([oid, words]) => [oid, [...words].toSorted()]));
}

describe("the findings of generated objects", () => {
  it.each([
    ["as strict as git on receipt", STRICT_SEVERITIES],
    ["the defaults of the service", DEFAULT_SEVERITIES],
    ["as lenient as a setting can be", LENIENT_SEVERITIES],
  ])("are git's, with severities %s", (_, severities) => {
    const forge = new Forge(12);
    for (let round = 0; round < 1500; round++) {
      forge.commit();
      forge.tag();
      forge.directory();
      forge.modules();
      if (round % 50 === 0) forge.attributes();
    }
    const expected = gits(forge.builder.build(), severities);
    const actual = ours(forge.built, severities);
    const different = forge.built.flatMap(({ oid, kind, content }) => {
      const text = Buffer.from(content).toString("latin1");
      const [own = [], gitSays = []] = [actual.get(oid), expected.get(oid)];
      return own.join() === gitSays.join() ? [] : [{ kind, text, own, gitSays }];
    });
    expect(different.slice(0, 20)).toEqual([]);
    // A generator that never made some fault would show nothing of it.
    const seen = new Set([...expected.values()].flat().map((word) => word.split(" ")[1]));
    const unseen = FINDING_IDS.filter((id) => !seen.has(id) && severities[id] !== "ignore");
    expect(unseen).toEqual(Object.keys(ELSEWHERE).toSorted());
  });

  it.each([
    ["missingObject", "type blob\ntag v1\n"],
    ["badObjectSha1", "object x\ntype blob\ntag v1\n"],
    ["missingTypeEntry", `object ${"a".repeat(40)}\ntag v1\n`],
    ["badType", `object ${"a".repeat(40)}\ntype x\ntag v1\n`],
    ["missingTagEntry", `object ${"a".repeat(40)}\ntype blob\ntagger x\n`],
  ])("are git mktag's where git can't read a tag: %s", (id, head) => {
    const content = latin1(`${head}tagger A <a@b> 1 +0000\n\nm\n`);
    const report = git(makeRepository(), ["mktag"], { input: content, mayFail: true });
    expect(/ fsck: (\w+):/.exec(report)?.[1]).toBe(id);
    const findings = runNow(checkObject("tag", content, STRICT_SEVERITIES, noSpecial()));
    expect(findings).toEqual([{ id, severity: "error" }]);
  });

  it.each([
    ["missingTree", "author A <a@b> 1 +0000\n"],
    ["badTreeSha1", "tree x\n"],
    ["badParentSha1", `tree ${"a".repeat(40)}\nparent x\n`],
  ])("refuse what git can't read either: a commit with %s", (id, head) => {
    const directory = makeRepository();
    const content = latin1(`${head}author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nm\n`);
    const args = ["hash-object", "--literally", "-t", "commit", "-w", "--stdin"];
    const oid = git(directory, args, { input: content });
    expect(git(directory, ["fsck"], { mayFail: true })).toContain(
      `error: ${oid}: object could not be parsed`,
    );
    const findings = runNow(checkObject("commit", content, LENIENT_SEVERITIES, noSpecial()));
    expect(findings).toEqual([{ id, severity: "error" }]);
  });
});
