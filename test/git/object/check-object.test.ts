import { describe, expect, it } from "vitest";
import { runNow } from "../../../src/git/budget.ts";
import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { checkGitattributes, checkGitmodules } from "../../../src/git/object/check-config-blob.ts";
import { checkObject } from "../../../src/git/object/check-object.ts";
import type { FindingId } from "../../../src/git/object/finding.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import type { ObjectKind } from "../../../src/git/object/kind.ts";
import { git, makeRepository } from "../support/git.ts";
import { STRICT_SEVERITIES } from "../support/severities.ts";

interface Row {
  readonly kind: ObjectKind;
  readonly content: Uint8Array;
  readonly ids: readonly FindingId[];
}

const BLOB_OID = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
const TREE_OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");

/**
 * Builds a tree of entries written as `mode name`. Each entry refers to an empty blob or an empty
 * tree.
 */
function tree(...entries: string[]): Uint8Array {
  return Buffer.concat(
    entries.map((entry) => {
      const oid = entry.startsWith("4") || entry.startsWith("04") ? TREE_OID : BLOB_OID;
      return Buffer.concat([latin1(`${entry}\0`), Buffer.from(oid, "hex")]);
    }),
  );
}

const TREES: [string, Uint8Array, FindingId[]][] = [
  ["a sound tree", tree("100644 a", "100755 b", "120000 c", "40000 d"), []],
  [".git", tree("40000 .git"), ["hasDotgit"]],
  [".GiT", tree("40000 .GiT"), ["hasDotgit"]],
  ["NTFS's short name", tree("100644 git~1"), ["hasDotgit"]],
  ["NTFS's short name in capitals", tree("100644 GIT~1"), ["hasDotgit"]],
  ["another short name", tree("100644 git~2"), []],
  ["trailing dots and spaces", tree("100644 .git . ."), ["hasDotgit"]],
  ["an alternate stream", tree("100644 .git::$INDEX_ALLOCATION"), ["hasDotgit"]],
  ["a backslash after .git", tree("100644 .git\\config"), ["hasDotgit"]],
  ["a backslash before .git", tree("100644 a\\.git"), ["hasDotgit"]],
  ["a backslash before git~1", tree("100644 a\\b\\git~1"), ["hasDotgit"]],
  ["a character that HFS+ ignores", tree("100644 .g\xe2\x80\x8cit"), ["hasDotgit"]],
  ["an ignored character in front", tree("100644 \xe2\x80\x8e.git"), ["hasDotgit"]],
  ["a byte order mark", tree("100644 .gi\xef\xbb\xbft"), ["hasDotgit"]],
  ["a character that HFS+ does not ignore", tree("100644 .g\xe2\x80\x90it"), []],
  ["a longer name", tree("100644 .gitx"), []],
  [".", tree("40000 ."), ["hasDot"]],
  ["..", tree("40000 .."), ["hasDotdot"]],
  ["a slash", tree("100644 a/b"), ["fullPathname"]],
  ["zero padding", tree("040000 a"), ["zeroPaddedFilemode"]],
  ["an invalid mode", tree("100600 a"), ["badFilemode"]],
  ["a group-writable file", tree("100664 a"), ["badFilemode"]],
  ["a device", tree("020000 a"), ["zeroPaddedFilemode", "badFilemode"]],
  ["a name twice", tree("100644 a", "100644 a"), ["duplicateEntries"]],
  ["a file and a tree of one name", tree("100644 a", "40000 a"), ["duplicateEntries"]],
  [
    "a name twice with others between",
    tree("100644 a", "100644 a.b", "40000 a"),
    ["duplicateEntries"],
  ],
  ["names out of order", tree("100644 b", "100644 a"), ["treeNotSorted"]],
  ["a tree sorted like a file", tree("40000 a", "100644 a.b"), ["treeNotSorted"]],
  ["a null id", Buffer.concat([latin1("100644 a\0"), Buffer.alloc(20)]), ["nullSha1"]],
  [".gitmodules as a link", tree("120000 .gitmodules"), ["gitmodulesSymlink"]],
  [".gitmodules by short name", tree("120000 GITMOD~1"), ["gitmodulesSymlink"]],
  [".gitmodules by hashed name", tree("120000 gi7eba~1"), ["gitmodulesSymlink"]],
  [".gitmodules by shortened hash", tree("120000 gi7eb~10"), ["gitmodulesSymlink"]],
  [".gitattributes as a link", tree("120000 .gitattributes"), ["gitattributesSymlink"]],
  [".gitignore as a link", tree("120000 .gitignore"), ["gitignoreSymlink"]],
  [".mailmap as a link", tree("120000 .mailmap"), ["mailmapSymlink"]],
  [".mailmap by short name", tree("120000 MAILMA~2"), ["mailmapSymlink"]],
];

const ID = "A <a@b> 1 +0000";
const commit = (...lines: string[]): Uint8Array => latin1(lines.join("\n"));

const COMMITS: [string, Uint8Array, FindingId[]][] = [
  ["a sound commit", commit(`tree ${TREE_OID}`, `author ${ID}`, `committer ${ID}`, "", "m"), []],
  [
    "an unended header",
    commit(`tree ${TREE_OID}`, `author ${ID}`, `committer ${ID}`),
    ["unterminatedHeader"],
  ],
  [
    "NUL in a header",
    commit(`tree ${TREE_OID}`, "author A\0 <a@b> 1 +0000", `committer ${ID}`, "", ""),
    ["nulInHeader"],
  ],
  [
    "NUL in the message",
    commit(`tree ${TREE_OID}`, `author ${ID}`, `committer ${ID}`, "", "m\0"),
    ["nulInCommit"],
  ],
  ["no author", commit(`tree ${TREE_OID}`, `committer ${ID}`, "", ""), ["missingAuthor"]],
  [
    "two authors",
    commit(`tree ${TREE_OID}`, `author ${ID}`, `author ${ID}`, `committer ${ID}`, "", ""),
    ["multipleAuthors"],
  ],
  ["no committer", commit(`tree ${TREE_OID}`, `author ${ID}`, "", ""), ["missingCommitter"]],
  ...(
    [
      ["no name and no space", "<a@b> 1 +0000", "missingNameBeforeEmail"],
      ["no address", "A", "missingEmail"],
      ["a bracket in the name", "A> <a@b> 1 +0000", "badName"],
      ["no space before the address", "A<a@b> 1 +0000", "missingSpaceBeforeEmail"],
      ["a bracket in the address", "A <a<b> 1 +0000", "badEmail"],
      ["an open address", "A <ab 1 +0000", "badEmail"],
      ["no space before the date", "A <a@b>1 +0000", "missingSpaceBeforeDate"],
      ["no date", "A <a@b> ", "badDate"],
      ["a date of letters", "A <a@b> now +0000", "badDate"],
      ["a zero-padded date", "A <a@b> 01 +0000", "zeroPaddedDate"],
      ["a date too far", "A <a@b> 18446744073709551616 +0000", "badDateOverflow"],
      ["letters after the date", "A <a@b> 1x +0000", "badDate"],
      ["no zone", "A <a@b> 1 ", "badTimezone"],
      ["a short zone", "A <a@b> 1 +000", "badTimezone"],
      ["a zone without sign", "A <a@b> 1 0000", "badTimezone"],
    ] as [string, string, FindingId][]
  ).map(([name, identity, id]): [string, Uint8Array, FindingId[]] => [
    name,
    commit(`tree ${TREE_OID}`, `author ${ID}`, `committer ${identity}`, "", ""),
    [id],
  ]),
];

const TAGS: [string, Uint8Array, FindingId[]][] = [
  ["a sound tag", commit(`object ${BLOB_OID}`, "type blob", "tag v1", `tagger ${ID}`, "", "m"), []],
  [
    "no tagger",
    commit(`object ${BLOB_OID}`, "type blob", "tag v1", "", "m"),
    ["missingTaggerEntry"],
  ],
  [
    "a bad name",
    commit(`object ${BLOB_OID}`, "type blob", "tag v..1", `tagger ${ID}`, "", "m"),
    ["badTagName"],
  ],
  [
    "a bad tagger",
    commit(`object ${BLOB_OID}`, "type blob", "tag v1", "tagger A <a@b> x", "", "m"),
    ["badDate"],
  ],
  [
    "an unended header",
    commit(`object ${BLOB_OID}`, "type blob", "tag v1", `tagger ${ID}`),
    ["unterminatedHeader"],
  ],
];

const rows: (Row & { name: string })[] = [
  ...TREES.map(([name, content, ids]) => ({
    kind: "tree" as const,
    name: `tree: ${name}`,
    content,
    ids,
  })),
  ...COMMITS.map(([name, content, ids]) => ({
    kind: "commit" as const,
    name: `commit: ${name}`,
    content,
    ids,
  })),
  ...TAGS.map(([name, content, ids]) => ({
    kind: "tag" as const,
    name: `tag: ${name}`,
    content,
    ids,
  })),
];

const noSpecial = () => ({
  gitmodulesOids: new Set<string>(),
  gitattributesOids: new Set<string>(),
});

describe("checkObject", () => {
  it.each(rows)("$name", ({ kind, content, ids }) => {
    const found = runNow(checkObject(kind, content, STRICT_SEVERITIES, noSpecial()));
    expect(found.map((finding) => finding.id)).toEqual(ids);
  });

  // One run over all rows: the expectations of the tables above are the output of `git fsck
  // --strict`.
  it("agrees with git fsck --strict, id by id and severity by severity", () => {
    const directory = makeRepository();
    git(directory, ["hash-object", "-w", "--stdin"]);
    git(directory, ["hash-object", "-w", "-t", "tree", "--stdin"]);
    const expected = new Map<string, string[]>();
    for (const { kind, content } of rows) {
      const oid = git(directory, ["hash-object", "--literally", "-w", "-t", kind, "--stdin"], {
        input: content,
      });
      expect(oid).toBe(hashObject(kind, content));
      const found = runNow(checkObject(kind, content, STRICT_SEVERITIES, noSpecial()));
      const reported = found.filter((finding) => finding.severity !== "ignore");
      expected.set(
        oid,
        reported
          .map(({ id, severity }) => `${severity === "error" ? "error" : "warning"} ${id}`)
          .toSorted(),
      );
    }
    const report = git(directory, ["fsck", "--strict", "--no-dangling"], { mayFail: true });
    const actual = new Map<string, string[]>();
    for (const match of report.matchAll(
      /^(error|warning) in (?:tree|commit|tag) ([0-9a-f]{40}): (\w+)/gm,
    )) {
      const [, severity, oid = "", id] = match;
      actual.set(oid, [...(actual.get(oid) ?? []), `${severity} ${id}`].toSorted());
    }
    for (const [oid, findings] of expected)
      expect([oid, actual.get(oid) ?? []]).toEqual([oid, findings]);
  });

  it.each([
    ["no mode", latin1(" a\0aaaaaaaaaaaaaaaaaaaa")],
    ["a mode that is not octal", latin1("1006x4 a\0aaaaaaaaaaaaaaaaaaaa")],
    ["no name", latin1("100644 \0aaaaaaaaaaaaaaaaaaaa")],
    ["half an id", latin1("100644 a\0aaaaaaaaaa")],
    ["no NUL", latin1("100644 aaaaaaaaaaaaaaaaaaaaaa")],
  ])("reports badTree for a tree with %s", (_, content) => {
    expect(runNow(checkObject("tree", content, STRICT_SEVERITIES, noSpecial()))).toEqual([
      { id: "badTree", severity: "error" },
    ]);
  });

  it("reports names longer than 4096 bytes, and submodules where a configuration file is expected", () => {
    const ids = (...entries: string[]) =>
      runNow(checkObject("tree", tree(...entries), STRICT_SEVERITIES, noSpecial())).map(
        ({ id }) => id,
      );
    expect(ids(`100644 ${"a".repeat(4096)}`)).toEqual([]);
    expect(ids(`100644 ${"a".repeat(4097)}`)).toEqual(["largePathname"]);
    expect(ids("160000 .gitattributes", "160000 .gitmodules")).toEqual([
      "gitattributesBlob",
      "gitmodulesBlob",
    ]);
  });

  it("collects the blobs under names that resolve to configuration files", () => {
    const special = noSpecial();
    runNow(
      checkObject(
        "tree",
        tree("100644 .gitattributes", "100644 gitmod~1"),
        STRICT_SEVERITIES,
        special,
      ),
    );
    expect(special).toEqual({
      gitmodulesOids: new Set([BLOB_OID]),
      gitattributesOids: new Set([BLOB_OID]),
    });
  });
});

const section = (setting: string): string => `[submodule "a"]\n\tpath = a\n\t${setting}\n`;

describe("checkGitmodules", () => {
  const cases: [string, string, FindingId[]][] = [
    ["a sound file", section("url = https://example.com/a.git"), []],
    ["a relative URL", section("url = ../a.git"), []],
    [
      "a name that climbs",
      '[submodule "../a"]\n\turl = https://example.com/a\n',
      ["gitmodulesName"],
    ],
    [
      "a name that climbs by backslash",
      '[submodule "a\\\\..\\\\b"]\n\turl = https://example.com/a\n',
      ["gitmodulesName"],
    ],
    ["a URL that is an option", section("url = -u./payload"), ["gitmodulesUrl"]],
    [
      "a URL with an escaped line feed",
      section("url = https://example.com/%0ahost=x"),
      ["gitmodulesUrl"],
    ],
    ["a URL without host", section("url = https:///example.com/a"), ["gitmodulesUrl"]],
    ["a path that is an option", section("path = --upload-pack=x"), ["gitmodulesPath"]],
    ["a command", section("update = !touch x"), ["gitmodulesUpdate"]],
    ["a harmless update", section("update = rebase"), []],
    ["an unreadable file", '[submodule "a\n', ["gitmodulesParse"]],
    ["a name after a dot", "[submodule.a]\n\turl = -u./payload\n", ["gitmodulesUrl"]],
    ["a name of dots", "[submodule...]\n\turl = a\n", ["gitmodulesName"]],
    ["a variable before all sections", `x = y\n${section("url = -u./payload")}`, ["gitmodulesUrl"]],
    ["comments and quotes", '# c\n[submodule "a"] ; c\nurl = "https://example.com/a" # c\n', []],
  ];

  it.each(cases)("%s", (_, text, ids) => {
    expect(
      checkGitmodules(encodeUtf8(text), STRICT_SEVERITIES).map((finding) => finding.id),
    ).toEqual(ids);
  });

  // What a newer git refuses, and what git reads in a file though not in an object.
  it.each([
    ["a port that is no number", section("url = https://a:b/"), ["gitmodulesUrl"]],
    ["a port out of range", section("url = https://a:70000/"), ["gitmodulesUrl"]],
    ["a wrong escape", section("url = https://a/%zz"), ["gitmodulesUrl"]],
    ["a host with other characters", section("url = https://a!b/"), ["gitmodulesUrl"]],
    ["a user, a port and an address in brackets", section("url = https://u@[::1]:80/"), []],
    ["a byte order mark", `\ufeff${section("url = -u./payload")}`, ["gitmodulesUrl"]],
  ])("%s", (_, text, ids) => {
    const found = checkGitmodules(encodeUtf8(text), STRICT_SEVERITIES).map(({ id }) => id);
    expect(found).toEqual(ids);
  });

  it("agrees with git fsck", () => {
    for (const [name, text] of cases) {
      const directory = makeRepository();
      const oid = git(directory, ["hash-object", "-w", "--stdin"], { input: text });
      git(directory, ["mktree"], { input: `100644 blob ${oid}\t.gitmodules\n` });
      const report = git(directory, ["fsck", "--strict", "--no-dangling"], { mayFail: true });
      const ids = [...report.matchAll(/ in blob [0-9a-f]{40}: (\w+)/g)].map((match) => match[1]);
      const ours = checkGitmodules(encodeUtf8(text), STRICT_SEVERITIES).map(
        (finding) => finding.id,
      );
      expect([name, [...new Set(ids)]]).toEqual([name, [...new Set(ours)]]);
    }
  });
});

const lines = (length: number) => encodeUtf8(`* text\n${"a".repeat(length)}\n`);

it("reports attribute lines that git's reader would cut", () => {
  expect(checkGitattributes(lines(2047), STRICT_SEVERITIES)).toEqual([]);
  expect(checkGitattributes(lines(2048), STRICT_SEVERITIES)).toMatchObject([
    { id: "gitattributesLineLength" },
  ]);
});
