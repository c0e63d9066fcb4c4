import { describe, expect, it } from "vitest";
import { byteTextBytes, decodeText, encodeText, readByteText } from "../../../src/git/byte-text.ts";
import {
  findHeader,
  formatCommit,
  parseCommit,
  splitSignature,
} from "../../../src/git/object/commit.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import { cleanIdentityText, parseIdentity, zoneMinutes } from "../../../src/git/object/identity.ts";
import { findTagSignature, formatTag, parseTag } from "../../../src/git/object/tag.ts";
import { formatTree, parseTree } from "../../../src/git/object/tree.ts";
import { git, gitBytes, makeRepository } from "../support/git.ts";

const bytes = (text: string): Uint8Array => byteTextBytes(encodeText(text));

describe("trees", () => {
  it("are sorted and hashed as git mktree does", () => {
    const directory = makeRepository();
    const blobOid = git(directory, ["hash-object", "-w", "--stdin"], { input: "x" });
    const treeOid = git(directory, ["mktree"]);
    const names = ["b", "a.b", "a", "a-b", "ä", "Z", "a0"];
    const entries = names.map((name) => ({ mode: 0o100644, name: encodeText(name), oid: blobOid }));
    entries.splice(2, 1, { mode: 0o40000, name: encodeText("a"), oid: treeOid });

    const content = formatTree(entries);
    const input = entries.map((entry) =>
      entry.oid === treeOid
        ? `040000 tree ${treeOid}\ta`
        : `100644 blob ${blobOid}\t${decodeText(entry.name)}`,
    );
    expect(hashObject("tree", content)).toBe(
      git(directory, ["mktree", "-z"], { input: input.map((line) => `${line}\0`).join("") }),
    );
    expect(formatTree(parseTree(content))).toEqual(content);
  });

  it("keep names that are not UTF-8", () => {
    const content = Buffer.concat([
      Buffer.from("100644 \xff\xfe\0", "latin1"),
      Buffer.alloc(20, 1),
    ]);
    expect(Buffer.from(formatTree(parseTree(content)))).toEqual(content);
  });
});

describe("commits", () => {
  it("are parsed and formatted byte for byte as git writes them", () => {
    const directory = makeRepository();
    const treeOid = git(directory, ["mktree"]);
    const oid = git(directory, ["commit-tree", treeOid, "-m", "Füße\n\nbody"], {
      env: { GIT_AUTHOR_NAME: "Jörg", GIT_AUTHOR_DATE: "1700000000 -0330" },
    });
    const content = gitBytes(directory, ["cat-file", "commit", oid]);
    const commit = parseCommit(content);
    expect(commit).toMatchObject({
      treeOid,
      parentOids: [],
      author: { email: "author@example.com", timeSeconds: 1_700_000_000, zone: "-0330" },
    });
    expect(decodeText(commit.author.name)).toBe("Jörg");
    expect(decodeText(commit.message)).toBe("Füße\n\nbody\n");
    expect(hashObject("commit", formatCommit(commit))).toBe(oid);
  });

  it("keep their headers in order, multi-line headers included", () => {
    const text = [
      `tree ${"1".repeat(40)}`,
      `parent ${"2".repeat(40)}`,
      "author A <a@b> 1 +0000",
      "committer A <a@b> 1 +0000",
      "encoding ISO-8859-1",
      "gpgsig -----BEGIN PGP SIGNATURE-----",
      " ",
      " abc",
      " -----END PGP SIGNATURE-----",
      "x-other 1",
      "",
      "message",
    ].join("\n");
    const commit = parseCommit(bytes(text));
    expect(readByteText(formatCommit(commit))).toBe(text);
    expect(findHeader(commit.headers, "encoding")).toBe("ISO-8859-1");

    const split = splitSignature(bytes(text));
    expect(split?.signature).toBe(
      "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----",
    );
    expect(readByteText(split?.signed ?? new Uint8Array())).toBe(
      text.replace(/gpgsig [^]*END PGP SIGNATURE-----\n/, ""),
    );
  });

  // As in git, so that git and we sign and verify the same bytes.
  it.each([
    ["of another hash", "gpgsig-sha256 x\n y\ngpgsig a\n b\nencoding c\n", "a\nb", "encoding c\n"],
    ["twice", "gpgsig a\nencoding c\ngpgsig b\n", "a\nb", "encoding c\n"],
    ["with a longer header name", "gpgsig a\ngpgsigned b\n c\nx d\n", "a", "x d\n"],
    ["that are empty", "gpgsig \n", "", ""],
  ])("exclude signatures from the signed bytes: %s", (_, headers, signature, kept) => {
    const who = `tree ${"1".repeat(40)}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n`;
    const split = splitSignature(bytes(`${who}${headers}\nmessage\n\ngpgsig x\n`));
    expect(split?.signature).toBe(signature);
    expect(readByteText(split?.signed ?? new Uint8Array())).toBe(
      `${who}${kept}\nmessage\n\ngpgsig x\n`,
    );
  });

  it.each([
    ["before the author", `tree ${"1".repeat(40)}\ngpgsig a\nauthor A\ncommitter A\n\n`],
    ["in the message", `tree ${"1".repeat(40)}\nauthor A\ncommitter A\n\ngpgsig a\n`],
    ["of another hash alone", `tree ${"1".repeat(40)}\nauthor A\ncommitter A\ngpgsig-sha256 a\n\n`],
    ["without an end", `tree ${"1".repeat(40)}\nauthor A\ncommitter A\ngpgsig a`],
  ])("with a signature %s are not signed", (_, text) => {
    expect(splitSignature(bytes(text))).toBeUndefined();
  });

  it.each([
    ["no content", ""],
    ["no tree", "author A <a@b> 1 +0000\n\n"],
    ["a short tree", `tree ${"1".repeat(39)}\n\n`],
    ["a parent of letters", `tree ${"1".repeat(40)}\nparent x\n\n`],
  ])("with %s are corrupt", (_, text) => {
    expect(() => parseCommit(bytes(text))).toThrow(expect.objectContaining({ code: "corrupt" }));
  });
});

describe("tags", () => {
  it("are parsed and formatted byte for byte", () => {
    const directory = makeRepository();
    const treeOid = git(directory, ["mktree"]);
    const input = `object ${treeOid}\ntype tree\ntag v1\ntagger A <a@b> 1 +0000\n\nfirst\n`;
    const oid = git(directory, ["mktag"], { input });
    const tag = parseTag(bytes(input));
    expect(tag).toMatchObject({ targetOid: treeOid, targetKind: "tree", name: "v1" });
    expect(hashObject("tag", formatTag(tag))).toBe(oid);
  });

  it("hold their signature at the end of the message", () => {
    const message = encodeText("v1\n\n-----BEGIN SSH SIGNATURE-----\nabc\n");
    expect(message.slice(findTagSignature(message))).toMatch(/^-----BEGIN SSH/);
    expect(findTagSignature(encodeText("v1\n"))).toBe(3);
  });
});

describe("identities", () => {
  // Malformed lines of old histories: parsed as far as possible, never refused.
  it.each([
    ["A U <a@b> 1 +0200", { name: "A U", email: "a@b", timeSeconds: 1, zone: "+0200" }],
    ["<a@b> 1 +0200", { name: "", email: "a@b", timeSeconds: 1, zone: "+0200" }],
    ["A <a@b>> 7 +0000", { name: "A", email: "a@b", timeSeconds: 7, zone: "+0000" }],
    ["A <a@b>", { name: "A", email: "a@b", timeSeconds: 0, zone: "+0000" }],
    ["A", { name: "A", email: "", timeSeconds: 0, zone: "+0000" }],
    ["A <a@b> -5 +0100", { name: "A", email: "a@b", timeSeconds: 0, zone: "+0000" }],
    ["A <a@b> 5 +051800", { name: "A", email: "a@b", timeSeconds: 5, zone: "+0518" }],
    ["A <a@b> 5 -700", { name: "A", email: "a@b", timeSeconds: 5, zone: "-0700" }],
    ["A <a@b> 5 UTC", { name: "A", email: "a@b", timeSeconds: 5, zone: "+0000" }],
    [
      "A <a@b> 9007199254740993 +0100",
      { name: "A", email: "a@b", timeSeconds: 2 ** 53, zone: "+0100" },
    ],
    [
      `A <a@b> ${"9".repeat(30)} +0100`,
      { name: "A", email: "a@b", timeSeconds: 2 ** 64, zone: "+0100" },
    ],
  ])("are read from %j", (line, identity) => {
    expect(parseIdentity(encodeText(line))).toEqual(identity);
  });

  it("are cleaned of the characters that delimit an identity", () => {
    expect(cleanIdentityText(encodeText(" .A\n<B>, Jr.\n"))).toBe("AB, Jr");
  });

  it("have a zone in minutes", () => {
    expect([zoneMinutes("-0330"), zoneMinutes("+0200"), zoneMinutes("")]).toEqual([-210, 120, 0]);
  });
});
