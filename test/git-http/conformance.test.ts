import { deflateSync } from "node:zlib";

import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";

import { hashObject } from "../../src/git/object/hash-object.ts";
import type { ObjectKind } from "../../src/git/object/kind.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { formatBaseDistance, formatEntryHeader } from "../../src/git/pack/entry-header.ts";
import { formatPackHeader } from "../../src/git/pack/pack-scanner.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";
import { networkPrefix } from "../../src/storage/keys.ts";
import { type Answer, visit } from "../support/call.ts";
import { eventsOf } from "../support/events.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";

const NULL = "0".repeat(40);
const A = "a".repeat(40);
const [COMMIT, TREE, BLOB, TAG, OFS_DELTA, REF_DELTA] = [1, 2, 3, 4, 6, 7];

type Bytes = Uint8Array | string;
const bytesOf = (bytes: Bytes): Uint8Array =>
  typeof bytes === "string" ? Uint8Array.from(bytes, (char) => char.charCodeAt(0)) : bytes;
const join = (...pieces: Bytes[]): Uint8Array => joinBytes(pieces.map(bytesOf));

/** Formats lines as pkt-lines. A line of four characters, such as `0000`, is copied as it is. */
const pkts = (...lines: string[]): string =>
  lines
    .map((line) =>
      line.length === 4 ? line : (line.length + 4).toString(16).padStart(4, "0") + line,
    )
    .join("");

/** One pack entry. `size` may differ from the content's length. */
const entry = (type: number, content: Bytes, size = content.length, base: Bytes = ""): Uint8Array =>
  join(formatEntryHeader(type, size), base, deflateSync(bytesOf(content)));

const signed = (body: Uint8Array): Uint8Array => {
  const hash = codec.createSha1();
  hash.update(body);
  return join(body, hash.digest());
};

/** A pack of the given entries with a valid trailer. `count` may differ from their number. */
const pack = (entries: readonly Uint8Array[], count = entries.length): Uint8Array =>
  signed(join(formatPackHeader(count), ...entries));

const oidOf = (kind: ObjectKind, content: Bytes): string =>
  hashObject(kind, bytesOf(content), codec);
const raw = (kind: ObjectKind, content: Bytes): Uint8Array => oidBytes(oidOf(kind, content));

const WHO = "A <a@example.com> 1700000000 +0000";
const commitOf = (tree: string, more = ""): string =>
  `tree ${tree}\n${more}author ${WHO}\ncommitter ${WHO}\n\nwords\n`;

// FIRST is the commit in the repository, with a tree of one file; NEXT is the commit that the cases
// push.
const FILE = "hello\n";
const ROOT = join("100644 file\0", raw("blob", FILE));
const FIRST = commitOf(oidOf("tree", ROOT));
const first = oidOf("commit", FIRST);
const NEXT = commitOf(oidOf("tree", ROOT), `parent ${first}\n`);
const next = oidOf("commit", NEXT);
const good = pack([entry(COMMIT, NEXT)]);
const blob = entry(BLOB, "base!");

/** A pack of a commit with a tree that must be refused, and further entries. */
const withTree = (tree: Bytes, ...others: Uint8Array[]): { oid: string; pack: Uint8Array } => {
  const commit = commitOf(oidOf("tree", tree));
  return {
    oid: oidOf("commit", commit),
    pack: pack([entry(COMMIT, commit), entry(TREE, tree), ...others]),
  };
};
const withCommit = (commit: string): { oid: string; pack: Uint8Array } => ({
  oid: oidOf("commit", commit),
  pack: pack([entry(COMMIT, commit)]),
});
const tree = (...entries: [mode: string, name: string][]): Uint8Array =>
  join(...entries.map(([mode, name]) => join(`${mode} ${name}\0`, raw("blob", FILE))));

let owner: TestUser;
let repo: TestRepo;

beforeAll(async () => {
  owner = await make.user();
  repo = await make.repo(owner);
  const initial = pack([entry(COMMIT, FIRST), entry(TREE, ROOT), entry(BLOB, FILE)]);
  await receive(join(create(first, "refs/heads/main"), initial));
});

const create = (oid: string, ref = "refs/heads/next"): string =>
  pkts(`${NULL} ${oid} ${ref}\0report-status`, "0000");

function send(service: string, body: Uint8Array, headers: Record<string, string>): Promise<Answer> {
  return visit("POST", `/${repo.owner}/${repo.name}.git/${service}`, {
    as: owner,
    headers: { "Content-Type": `application/x-${service}-request`, ...headers },
    body: body as Uint8Array<ArrayBuffer>,
  });
}

const receive = (body: Uint8Array, headers: Record<string, string> = {}): Promise<Answer> =>
  send("git-receive-pack", body, headers);

/** All state that a push could change. */
async function stateOf() {
  const { refs, packs } = await env.REPOSITORY.getByName(repo.objectName).snapshot();
  const { objects } = await env.PACKS.list({ prefix: networkPrefix(repo.networkName) });
  return { refs, packs, files: objects.map(({ key }) => key), events: await eventsOf(repo) };
}

/** Sends a push that must be refused, and expects the state to be unchanged. */
async function refuse(body: Uint8Array, headers: Record<string, string> = {}): Promise<Answer> {
  const before = await stateOf();
  const answer = await receive(body, headers);
  await vi.waitFor(async () => expect(await stateOf()).toEqual(before));
  return answer;
}

/** Pushes a pack that must be refused. Returns the report's unpack line. */
async function refusePack(bytes: Uint8Array, oid = next): Promise<string> {
  const { status, body } = await refuse(join(create(oid), bytes));
  expect(status).toBe(200);
  const lines = String(body).split("\n");
  expect(lines[1]).toMatch(/^[0-9a-f]{4}ng refs\/heads\/next /);
  return lines[0]?.slice(4) ?? "";
}

const TREE_TOO_LARGE = /a tree of 17825792 bytes: one may have 16777216 at most/;

describe("a malformed pack", () => {
  const empty = Buffer.from("789c030000000001", "hex");
  const tooFar = Buffer.from("789c030200", "hex");
  it.each<[string, Uint8Array, RegExp]>([
    ["is missing", join(), /pack: cut off/],
    ["ends in its header", good.subarray(0, 11), /pack: cut off/],
    ["ends in an entry", good.subarray(0, 40), /pack: cut off/],
    ["ends in its trailer", good.subarray(0, -1), /pack: cut off/],
    ["has no signature", join("PACX", good.subarray(4)), /pack: no signature/],
    ["is HTML", join("<!doctype html><title>Bad gateway</title>"), /pack: no signature/],
    ["is of version 1", join("PACK\0\0\0\x01", good.subarray(8)), /pack version 1/],
    ["is of version 4", join("PACK\0\0\0\x04", good.subarray(8)), /pack version 4/],
    ["has the trailer of another pack", lastByteWrong(good), /pack: checksum mismatch/],
    ["continues after its trailer", join(good, "x"), /pack: bytes behind the trailer/],
    ["is followed by another", join(good, good), /pack: bytes behind the trailer/],
    ["announces more objects than it has", pack([blob], 2), /pack: /],
    ["announces fewer objects than it has", pack([blob, blob], 1), /pack: checksum mismatch/],
    ["announces four billion objects", pack([blob], 0xffffffff), /pack: too many objects/],
    ["has an entry of type 0", pack([entry(0, "base!")]), /pack: entry of type 0/],
    ["has an entry of type 5", pack([entry(5, "base!")]), /pack: entry of type 5/],
    ["has an object longer than announced", pack([entry(BLOB, "base!", 4)]), /longer than/],
    ["has an object shorter than announced", pack([entry(BLOB, "base!", 6)]), /shorter than/],
    [
      "has an object of a petabyte",
      pack([entry(BLOB, "base!", 2 ** 50)]),
      /an object of 1125899906842624 bytes/,
    ],
    ["has a tree of 17 MB", pack([entry(TREE, "x", 17 * 2 ** 20)]), TREE_TOO_LARGE],
    ["has a size beyond any number", pack([join("\xb5", "\xff".repeat(9), "\x7f")]), /entry size/],
    [
      "has no zlib stream",
      pack([join(formatEntryHeader(BLOB, 5), "no zlib here")]),
      /zlib|inflate/,
    ],
    [
      "has a wrong checksum in a stream",
      pack([lastByteWrong(entry(BLOB, "base!"))]),
      /checksum|adler/i,
    ],
    [
      "has a distance to before the start of a stream",
      pack([join("\x33", tooFar, "\0".repeat(8))]),
      /distance|far|zlib/,
    ],
    ["is padded with empty blocks", pack([padded()]), /pack: padded entry/],
    ["has an object twice", pack([entry(COMMIT, NEXT), blob, blob]), /is there twice/],
    ["has an empty stream for a file", pack([join("\x35", empty)]), /shorter than/],
  ])("that %s", async (_, bytes, message) => {
    expect(await refusePack(bytes)).toMatch(message);
  });

  function lastByteWrong(bytes: Uint8Array): Uint8Array {
    const wrong = bytes.slice();
    wrong[wrong.length - 1] = (wrong.at(-1) ?? 0) ^ 1;
    return wrong;
  }

  /** A blob of one byte in a stream padded with 100 KB of empty blocks. */
  function padded(): Uint8Array {
    const stored = Buffer.from("000000ffff", "hex");
    const blocks = Array.from({ length: 20_000 }, () => stored);
    const sum = Buffer.from("00620062", "hex");
    const last = Buffer.from("010100feff61", "hex");
    return join(formatEntryHeader(BLOB, 1), "\x78\x9c", ...blocks, last, sum);
  }
});

describe("a pack of invalid objects", () => {
  const modules = '[submodule "x"]\n\tpath = x\n\turl = -upload-pack=evil\n';
  const modulesTree = join("100644 .gitmodules\0", raw("blob", modules));
  const tagged = `object ${next}\ntype commit\ntagger ${WHO}\n\nno name\n`;
  it.each<[string, { oid: string; pack: Uint8Array }, RegExp]>([
    ["a tree out of order", withTree(tree(["100644", "b"], ["100644", "a"])), /treeNotSorted/],
    ["a duplicate name", withTree(tree(["100644", "a"], ["100644", "a"])), /duplicateEntries/],
    ["a file called .git", withTree(tree(["100644", ".git"])), /hasDotgit/],
    ["a file called .GIT", withTree(tree(["100644", ".GIT"])), /hasDotgit/],
    ["a file called git~1", withTree(tree(["100644", "git~1"])), /hasDotgit/],
    ["a file called ..", withTree(tree(["100644", ".."])), /hasDotdot/],
    ["a path as a name", withTree(tree(["100644", "a/b"])), /fullPathname/],
    ["a truncated tree", withTree("100644 file\0short"), /badTree|tree/],
    [
      "a submodule URL that looks like an option",
      withTree(modulesTree, entry(BLOB, modules)),
      /gitmodulesUrl/,
    ],
    ["a commit without author", withCommit(`tree ${oidOf("tree", ROOT)}\n\nx\n`), /missingAuthor/],
    ["a commit without tree", withCommit(`author ${WHO}\ncommitter ${WHO}\n\nx\n`), /missingTree/],
    ["a tree that does not exist", withCommit(commitOf(A)), /tree a+ is missing/],
    ["a blob as its tree", withCommit(commitOf(oidOf("blob", FILE))), /is no tree|another kind/],
    [
      "a parent that does not exist",
      withCommit(commitOf(oidOf("tree", ROOT), `parent ${A}\n`)),
      /commit a+ is missing/,
    ],
    [
      "a parent that is a tree",
      withCommit(commitOf(oidOf("tree", ROOT), `parent ${oidOf("tree", ROOT)}\n`)),
      /is no commit|another kind/,
    ],
    [
      "a file that does not exist",
      withTree(join("100644 gone\0", oidBytes(A))),
      /blob a+ is missing/,
    ],
    [
      "a tag without name",
      { oid: oidOf("tag", tagged), pack: pack([entry(COMMIT, NEXT), entry(TAG, tagged)]) },
      /missingTagEntry/,
    ],
  ])("with %s", async (_, { oid, pack: bytes }, message) => {
    expect(await refusePack(bytes, oid)).toMatch(message);
  });
});

describe("a malformed delta", () => {
  const delta = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);
  const copyAll = delta(5, 5, 0x90, 5);
  const ofs = (bytes: Uint8Array, distance = blob.length, size = bytes.length): Uint8Array =>
    entry(OFS_DELTA, bytes, size, formatBaseDistance(distance));
  const ref = (bytes: Uint8Array, base: string): Uint8Array =>
    entry(REF_DELTA, bytes, bytes.length, oidBytes(base));
  const onBlob = (bytes: Uint8Array): Uint8Array => pack([blob, ofs(bytes)]);
  it.each<[string, Uint8Array, RegExp]>([
    ["whose base starts before the pack", pack([blob, ofs(copyAll, 1000)]), /base at no entry/],
    ["whose base is the pack's header", pack([ofs(copyAll, 12)]), /base at no entry/],
    ["whose base offset is inside an entry", pack([blob, ofs(copyAll, 3)]), /base at no entry/],
    ["whose base is itself", pack([blob, ofs(copyAll, 0)]), /base at no entry/],
    ["whose base does not exist", pack([ref(copyAll, A)]), /base a+/],
    ["in a cycle", pack([ref(copyAll, A), ref(copyAll, "b".repeat(40))]), /base [ab]+/],
    ["that copies from beyond its base", onBlob(delta(5, 6, 0x91, 1, 6)), /copy out of bounds/],
    ["that copies beyond its result", onBlob(delta(5, 4, 0x90, 5)), /copy out of bounds/],
    ["that copies 4 GB", onBlob(delta(5, 5, 0xff, 255, 255, 255, 255, 255, 255, 255)), /bounds/],
    ["that inserts beyond its result", onBlob(delta(5, 1, 2, 65, 66)), /insert too long/],
    ["that inserts beyond its end", onBlob(delta(5, 9, 9, 65)), /insert too long/],
    ["that ends in a copy", onBlob(delta(5, 5, 0x91)), /delta/],
    ["with a reserved instruction", onBlob(delta(5, 5, 0)), /reserved instruction/],
    ["whose result is too short", onBlob(delta(5, 6, 0x90, 5)), /result of another size/],
    ["of a base of another size", onBlob(delta(4, 4, 0x90, 4)), /base of another size/],
    ["that ends in its sizes", onBlob(delta(0x85, 0x85)), /delta: cut off/],
    ["that is empty", onBlob(delta()), /delta: cut off/],
    [
      "whose result claims to be 2 TB",
      onBlob(delta(5, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0x90, 5)),
      /an object of 2199023255552 bytes/,
    ],
    [
      "that claims to be 9 MB",
      pack([blob, ofs(copyAll, blob.length, 9 * 2 ** 20)]),
      /shorter than announced/,
    ],
    ["at the end of a chain of 5,000", pack(chain(5000)), /chain of deltas too long/],
    [
      "whose result is an invalid tree",
      pack([entry(TREE, ROOT), ofs(delta(ROOT.length, 1, 1, 65), entry(TREE, ROOT).length)]),
      /badTree|tree/,
    ],
    [
      "whose external base has another size",
      pack([ref(delta(5, 5, 0x90, 5), oidOf("blob", FILE))]),
      /base of another size/,
    ],
  ])("%s", async (_, bytes, message) => {
    expect(await refusePack(bytes)).toMatch(message);
  });

  /** A chain of deltas, each based on the previous entry and adding a byte. */
  function chain(length: number): Uint8Array[] {
    const entries = [entry(BLOB, "x")];
    const size = (bytes: number): number[] =>
      bytes < 128 ? [bytes] : [(bytes % 128) | 0x80, Math.floor(bytes / 128)];
    for (let at = 1; at <= length; at++) {
      const copy = at < 256 ? [0x90, at] : [0xb0, at % 256, Math.floor(at / 256)];
      const bytes = delta(...size(at), ...size(at + 1), ...copy, 1, 65);
      entries.push(ofs(bytes, entries.at(-1)?.length ?? 0));
    }
    return entries;
  }
});

describe("a push of malformed pkt-lines", () => {
  const line = pkts(`${NULL} ${next} refs/heads/next\0report-status`);
  it.each<[string, Bytes, RegExp]>([
    ["with letters as a length", `zzzz${line}0000`, /pkt-line of length/],
    ["with a sign in a length", `-001${line}0000`, /pkt-line of length/],
    ["with a length of three", `0003${line}0000`, /pkt-line of length/],
    ["with a length beyond the longest", `fff1${"x".repeat(65_520)}0000`, /pkt-line of length/],
    ["with an empty line", `0004${line}0000`, /two object ids and a ref/],
    ["that ends in a length", "00", /cut off/],
    ["that ends in a line", line.slice(0, -5), /cut off/],
    ["without a flush packet", line, /cut off/],
    ["with a delimiter instead of a flush", `${line}0001`, /delimiter packet/],
    ["with a response-end instead of a flush", `${line}0002`, /response-end packet/],
    ["that is only a pack", good, /pkt-line of length/],
    ["that is JSON", '{"ref":"refs/heads/main"}', /pkt-line of length/],
  ])("%s", async (_, body, message) => {
    const answer = await refuse(bytesOf(body));
    expect([answer.status, answer.body]).toEqual([400, expect.stringMatching(message)]);
  });

  it("in a body that is not gzip as declared, or has an unknown encoding", async () => {
    for (const encoding of ["gzip", "x-gzip", "br"]) {
      const answer = await refuse(join(line, "0000", good), { "Content-Encoding": encoding });
      expect(answer.status, encoding).toBe(400);
    }
  });
});

describe("a push of malformed commands", () => {
  const caps = "\0report-status";
  it.each<[string, string[], RegExp]>([
    ["with two null ids", [`${NULL} ${NULL} refs/heads/x${caps}`], /neither starts nor ends/],
    ["without a new id", [`${next} refs/heads/x${caps}`], /two object ids and a ref/],
    ["with a short id", [`${NULL} ${next.slice(1)} refs/heads/x${caps}`], /two object ids/],
    ["with an id in capitals", [`${NULL} ${"A".repeat(40)} refs/heads/x${caps}`], /object id/],
    [
      "with ids of another hash",
      [`${"0".repeat(64)} ${"1".repeat(64)} refs/heads/x`],
      /object ids/,
    ],
    ["for another hash", [`${NULL} ${next} refs/heads/x${caps} object-format=sha256`], /sha256/],
    [
      "of one ref twice",
      [`${NULL} ${next} refs/heads/x${caps}`, `${NULL} ${first} refs/heads/x`],
      /named twice/,
    ],
    [
      "with capabilities on a later line",
      [`${NULL} ${next} refs/heads/x`, `${NULL} ${first} refs/heads/y${caps}`],
      /capabilities behind/,
    ],
    ["that is signed (push-cert)", [`push-cert${caps}`], /signed/],
    [
      "with an invalid id as shallow boundary",
      ["shallow main", `${NULL} ${next} refs/heads/x`],
      /object id/,
    ],
  ])("%s", async (_, lines, message) => {
    const answer = await refuse(join(pkts(...lines, "0000"), good));
    expect([answer.status, answer.body]).toEqual([400, expect.stringMatching(message)]);
  });

  it.each<[string, string, string, string, RegExp]>([
    ["without a ref", NULL, next, "", /funny refname/],
    ["of HEAD", NULL, next, "HEAD", /funny refname/],
    ["of a ref with ..", NULL, next, "refs/heads/../x", /funny refname/],
    ["of a ref outside refs/", NULL, next, "config/x", /funny refname/],
    ["of a ref with a control character", NULL, next, "refs/heads/a\x01b", /funny refname/],
    ["of a ref with a space", NULL, next, "refs/heads/a b", /funny refname/],
    ["of a ref ending in .lock", NULL, next, "refs/heads/a.lock", /funny refname/],
    ["of a ref with a wildcard", NULL, next, "refs/heads/*", /funny refname/],
    ["of a reflog entry", NULL, next, "refs/heads/a@{1}", /funny refname/],
    ["of a ref that only the service writes", NULL, next, "refs/pull/1/head", /hidden ref/],
    ["of a branch called HEAD", NULL, next, "refs/heads/HEAD", /HEAD/],
    ["of a name of 1,200 bytes", NULL, next, `refs/heads/${"x".repeat(1200)}`, /too long/],
    ["of a name below another ref", NULL, next, "refs/heads/main/x", /clashes|main/],
    ["of a branch that points to a blob", NULL, oidOf("blob", FILE), "refs/heads/x", /commit/],
    ["of a missing object", NULL, A, "refs/heads/x", /missing necessary objects/],
    ["from a stale old id", next, next, "refs/heads/main", /fetch first/],
    ["to create a branch that exists", NULL, next, "refs/heads/main", /fetch first/],
    ["to delete the default branch", first, NULL, "refs/heads/main", /default branch/],
    ["to delete a missing branch", first, NULL, "refs/heads/nothing", /./],
  ])("%s", async (_, oldOid, newOid, ref, message) => {
    const lines = pkts(`${oldOid} ${newOid} ${ref}${caps}`, "0000");
    const { status, body } = await refuse(join(lines, newOid === NULL ? "" : good));
    expect(status).toBe(200);
    const [unpacked, refused = ""] = String(body).split("\n");
    expect(unpacked).toContain("unpack ok");
    expect(refused.slice(4, 8 + ref.length)).toBe(`ng ${ref} `);
    expect(refused.slice(8 + ref.length)).toMatch(message);
  });

  it("with more refs than a push may have", async () => {
    const lines = Array.from({ length: 100_001 }, (_, at) => `${NULL} ${next} refs/heads/x${at}`);
    const answer = await refuse(join(pkts(...lines, "0000"), good));
    expect([answer.status, answer.body]).toEqual([400, expect.stringMatching(/too many/)]);
  });
});

describe("a malformed request to fetch", () => {
  const fetchOf = (...args: string[]): string =>
    pkts("command=fetch\n", "0001", ...args.map((arg) => `${arg}\n`), "done\n", "0000");
  const upload = (body: string, version: number): Promise<Answer> =>
    send("git-upload-pack", bytesOf(body), { "Git-Protocol": `version=${version}` });

  it.each<[string, number, string, RegExp]>([
    ["of no command", 2, pkts("agent=x\n", "0000"), /one command/],
    ["of two commands", 2, pkts("command=fetch\n", "command=ls-refs\n", "0000"), /one command/],
    ["of an unknown command", 2, pkts("command=gc\n", "0000"), /unknown command/],
    ["in another hash", 2, pkts("command=fetch\n", "object-format=sha256\n", "0000"), /sha256/],
    ["with two delimiters", 2, pkts("command=fetch\n", "0001", "0001", "0000"), /delimiter/],
    ["with a wrong length", 2, "zzzz0000", /pkt-line of length/],
    ["with an unknown argument", 2, fetchOf("sideways"), /unknown argument/],
    ["of a want that is not an id", 2, fetchOf("want main"), /not an object id/],
    ["of a missing want", 2, fetchOf(`want ${A}`), /not our ref a+/],
    ["of a missing ref", 2, fetchOf("want-ref refs/heads/gone"), /unknown ref/],
    ["of a negative depth", 2, fetchOf(`want ${first}`, "deepen -1"), /not a number/],
    ["of a depth and a time", 2, fetchOf(`want ${first}`, "deepen 1", "deepen-since 1"), /deepen/],
    [
      "with deepen-not of a missing ref",
      2,
      fetchOf(`want ${first}`, "deepen-not gone"),
      /unknown ref/,
    ],
    ["with an invalid filter", 2, fetchOf(`want ${first}`, "filter blob:some"), /invalid filter/],
    [
      "with an unsupported filter",
      2,
      fetchOf(`want ${first}`, "filter sparse:oid=main:x"),
      /filter/,
    ],
    [
      "of ls-refs with an unknown argument",
      2,
      pkts("command=ls-refs\n", "0001", "size\n", "0000"),
      /argument/,
    ],
    [
      "of object-info with an invalid id",
      2,
      pkts("command=object-info\n", "0001", "oid x\n", "0000"),
      /object id/,
    ],
    ["that starts with a have", 0, pkts(`have ${first}\n`, "0000"), /starts with want/],
    ["that wants among its haves", 0, pkts(`want ${first}\n`, "0000", `want ${A}\n`), /unexpected/],
    [
      "of version 0 with a missing want",
      0,
      pkts(`want ${A}\n`, "0000", "done\n"),
      /not our ref a+/,
    ],
    ["with a delimiter", 0, pkts(`want ${first}\n`, "0001"), /delimiter/],
  ])("%s", async (_, version, body, message) => {
    const before = await stateOf();
    const answer = await upload(body, version);
    // Git displays an ERR packet, and not the text of a 400 response.
    expect(answer.status).toBe(200);
    expect(/^[0-9a-f]{4}ERR (.*)/.exec(answer.body)?.[1]).toMatch(message);
    expect(await stateOf()).toEqual(before);
  });
});

// Lines that a client may repeat must not cost a scan of all refs each, nor be spread into the
// arguments of one function call.
describe("a request that repeats a line 130,000 times", () => {
  const TIMES = 130_000;
  const times = (line: string): string => pkts(`${line}\n`).repeat(TIMES);
  const fetchAs = (version: number, body: string): Promise<Answer> =>
    send("git-upload-pack", bytesOf(body), { "Git-Protocol": `version=${version}` });

  it.each<[string, string, RegExp]>([
    ["a want", `${times(`want ${first}`)}${pkts("done\n")}`, /^....packfile\n/],
    ["a ref by name", `${times("want-ref refs/heads/main")}${pkts("done\n")}`, /wanted-refs/],
    ["a have", `${pkts(`want ${first}\n`)}${times(`have ${first}`)}`, /^....acknowledgments/],
    ["where to cut", `${pkts(`want ${first}\n`, "done\n")}${times("deepen-not main")}`, /selected/],
  ])("as %s is answered", async (_, args, message) => {
    const { status, body } = await fetchAs(2, `${pkts("command=fetch\n", "0001")}${args}0000`);
    expect(status).toBe(200);
    expect(body).toMatch(message);
  });

  it("as a prefix, or as a have of an older version, is answered", async () => {
    const prefixes = times("ref-prefix refs/heads/m");
    const listed = await fetchAs(2, `${pkts("command=ls-refs\n", "0001")}${prefixes}0000`);
    expect(listed.body).toContain("refs/heads/main");
    const want = pkts(`want ${first} multi_ack_detailed\n`, "0000");
    const acked = await fetchAs(0, `${want}${times(`have ${first}`)}0000`);
    expect(acked.body).toContain(`ACK ${first} common`);
  });

  it("as the parent of a pushed commit is accepted, and the commit can be cloned", async () => {
    const other = await make.repo(owner);
    const parents = `parent ${first}\n`.repeat(TIMES);
    const wide = commitOf(oidOf("tree", ROOT), parents);
    const bytes = pack([
      entry(COMMIT, FIRST),
      entry(COMMIT, wide),
      entry(TREE, ROOT),
      entry(BLOB, FILE),
    ]);
    const oid = oidOf("commit", wide);
    const at = (service: string, body: Uint8Array): Promise<Answer> =>
      visit("POST", `/${other.owner}/${other.name}.git/${service}`, {
        as: owner,
        headers: {
          "Content-Type": `application/x-${service}-request`,
          "Git-Protocol": "version=2",
        },
        body: body as Uint8Array<ArrayBuffer>,
      });
    expect((await at("git-receive-pack", join(create(oid), bytes))).body).toContain("unpack ok");
    for (const more of [[], ["deepen 1\n"], ["deepen 2\n"], [`have ${first}\n`]]) {
      const lines = [`want ${oid}\n`, ...more, "done\n", "0000"];
      const body = bytesOf(pkts("command=fetch\n", "0001", ...lines));
      expect((await at("git-upload-pack", body)).body).toContain("packfile");
    }
    // Not a tip, so reachability from all refs is computed.
    const inner = bytesOf(pkts("command=fetch\n", "0001", `want ${first}\n`, "done\n", "0000"));
    expect((await at("git-upload-pack", inner)).body).toContain("packfile");
  });
});

it("keeps no file of the refused pushes, and accepts the valid push of which the cases are variations", async () => {
  const { refs, packs, files } = await stateOf();
  expect(refs).toEqual([{ name: "refs/heads/main", oid: first, peeledOid: null }]);
  expect(packs).toHaveLength(1);
  const name = packs[0]?.name ?? "";
  expect(files.filter((key) => !key.includes(name))).toEqual([]);
  const answer = await receive(join(create(next), good));
  expect(answer.body).toMatch(/unpack ok\n....ok refs\/heads\/next\n/);
});
