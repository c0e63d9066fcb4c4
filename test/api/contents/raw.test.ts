import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { encodeText, encodeUtf8 } from "../../../src/git/byte-text.ts";
import { formatTree, MODE_SUBMODULE, MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { PackBuilder } from "../../../src/git/pack/pack-builder.ts";
import { codec } from "../../../src/storage/codec.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call } from "../../support/call.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import {
  makeLargeFile,
  pointerTo,
  type TestFile as LargeFile,
  upload,
} from "../../support/large-files.ts";
import { freshName, make, type TestRepo } from "../../support/make.ts";
import { filesOf, makeCommit, makeEmptyPack, push, pushCommands } from "../../support/push.ts";
import { serviceWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

const FILES = {
  "README.md": "# read me",
  'docs/grüße "1".txt': "grüße",
  "page.html": "<script>alert(1)</script>",
  link: { mode: MODE_SYMLINK, content: "README.md" },
  "lib/linked": { mode: MODE_SUBMODULE, content: "1".repeat(40) },
};

async function makePushed(
  files: Record<string, TestFile> = FILES,
  fields: Parameters<typeof make.repo>[1] = {},
) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const made = makeFiles(files);
  expect((await push(owner, repo, made.oid, made.pack)).body).toContain("unpack ok");
  return { owner, repo, made };
}

const rawOf = ({ owner, name }: TestRepo, noun = "raw"): string =>
  `/repos/${owner}/${name}/${noun}`;

/** Fetches a path and reads the response bytes. */
async function read(path: string, init: RequestInit = {}) {
  const request = new Request(`https://forge.example/api/v1${path}`, init);
  const { status, headers, body } = await exports.default.fetch(request);
  const bytes = new Uint8Array(await new Response(body).arrayBuffer());
  return { status, headers, bytes };
}

describe.each(["raw", "media"])("GET /repos/{owner}/{repo}/%s/{filepath}", (noun) => {
  it("returns the bytes of a file with headers that keep a browser from running it", async () => {
    const { repo, made } = await makePushed();
    const { status, headers, bytes } = await read(`${rawOf(repo, noun)}/page.html`);
    expect([status, new TextDecoder().decode(bytes)]).toEqual([200, FILES["page.html"]]);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-length": "25",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      "x-content-type-options": "nosniff",
      "x-gitea-object-type": "file",
      "content-disposition": `inline; filename="page.html"; filename*=UTF-8''page.html`,
      etag: `"${made.oids["page.html"]}"`,
      "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT",
      "cache-control": "max-age=0, private, must-revalidate, no-transform",
    });
  });

  it("answers 304 to a matching If-None-Match, and only headers to HEAD", async () => {
    const { repo, made } = await makePushed();
    const path = `${rawOf(repo, noun)}/README.md`;
    const tag = `"${made.oids["README.md"]}"`;
    for (const condition of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      const { status, headers, bytes } = await read(path, {
        headers: { "If-None-Match": condition },
      });
      expect([condition, status, headers.get("ETag"), bytes.length]).toEqual([
        condition,
        304,
        tag,
        0,
      ]);
    }
    const other = await read(path, { headers: { "If-None-Match": `"${made.oid}"` } });
    expect(other.status).toBe(200);
    const head = await read(path, { method: "HEAD" });
    expect([head.status, head.headers.get("ETag"), head.headers.get("Content-Length")]).toEqual([
      200,
      tag,
      "9",
    ]);
    expect(head.bytes.length).toBe(0);
  });

  it("is sent once to a client that knows its date alone, until another commit is there", async () => {
    const { owner, repo, made } = await makePushed();
    const path = `${rawOf(repo, noun)}/README.md`;
    const { headers } = await read(path);
    const date = headers.get("Last-Modified") ?? "";
    const statusAt = async (time: string, more: Record<string, string> = {}, method = "GET") =>
      (await read(path, { method, headers: { "If-Modified-Since": time, ...more } })).status;
    const later = new Date(Date.parse(date) + 1000).toUTCString();
    const earlier = new Date(Date.parse(date) - 1000).toUTCString();
    // A commit may be made before a download and pushed after it: its date proves nothing of a
    // later one, unless the address names the commit.
    expect([await statusAt(date), await statusAt(later), await statusAt(earlier)]).toEqual([
      304, 200, 200,
    ]);
    const pinned = await read(`${path}?ref=${made.oid}`, {
      headers: { "If-Modified-Since": later },
    });
    expect(pinned.status).toBe(304);
    expect(await statusAt(date, {}, "HEAD")).toBe(304);
    expect(await statusAt(date, { Range: "bytes=0-1" })).toBe(304);
    expect(await statusAt(later, { "If-None-Match": '"other"' })).toBe(200);
    expect(await statusAt("yesterday")).toBe(200);
    const required = await read(path, { headers: { "If-Unmodified-Since": earlier } });
    expect([required.status, required.bytes.length]).toEqual([412, 0]);
    const next = makeFiles({ "README.md": "# next" }, { before: made, seconds: 1_700_000_001 });
    await pushCommands(owner, repo, [{ ref: "refs/heads/main", old: made.oid, new: next.oid }], {
      pack: next.pack,
    });
    expect([await statusAt(date), await statusAt(later)]).toEqual([200, 304]);
  });

  // The long file is long enough to be streamed; the short one is answered from memory.
  it("answers ranges, and respects If-Range", async () => {
    const long = Array.from({ length: 60_000 }, (_, at) => `line ${at * 7919}\n`).join("");
    const { repo, made } = await makePushed({ short: "0123456789", long, empty: "" });
    const part = async (name: string, range: string, headers: Record<string, string> = {}) => {
      const path = `${rawOf(repo, noun)}/${name}`;
      const answer = await read(path, { headers: { Range: range, ...headers } });
      const text = new TextDecoder().decode(answer.bytes);
      return [answer.status, answer.headers.get("Content-Range"), text] as const;
    };
    const size = long.length;
    expect(await part("short", "bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await part("short", "bytes=8-99")).toEqual([206, "bytes 8-9/10", "89"]);
    expect(await part("short", "bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("short", "bytes=0-")).toEqual([206, "bytes 0-9/10", "0123456789"]);
    for (const [start, end] of [
      [0, 10],
      [300_000, 700_000],
      [size - 5, size],
    ] as const) {
      const range = `${start}-${end - 1}`;
      const expected = [206, `bytes ${range}/${size}`, long.slice(start, end)];
      expect(await part("long", `bytes=${range}`)).toEqual(expected);
    }
    expect(await part("short", "bytes=10-")).toEqual([416, "bytes */10", ""]);
    expect(await part("short", "bytes=-0")).toEqual([416, "bytes */10", ""]);
    expect(await part("empty", "bytes=0-0")).toEqual([416, "bytes */0", ""]);
    for (const range of ["bytes=4-2", "bytes=0-1,3-4", "lines=1-2", "bytes=x", "bytes=--1"]) {
      expect([range, ...(await part("short", range))]).toEqual([range, 200, null, "0123456789"]);
    }
    const tag = `"${made.oids["short"]}"`;
    const date = "Tue, 14 Nov 2023 22:13:20 GMT";
    for (const [condition, status] of [
      [tag, 206],
      // Commits of one second have the same date.
      [date, 200],
      [`W/${tag}`, 200],
      ['"other"', 200],
    ] as const) {
      const [actual] = await part("short", "bytes=2-4", { "If-Range": condition });
      expect([condition, actual]).toEqual([condition, status]);
    }
    const head = { method: "HEAD", headers: { Range: "bytes=2-4" } };
    expect(await read(`${rawOf(repo, noun)}/short`, head)).toMatchObject({ status: 200 });
  });

  it("reads at a ref from the query, or at the start of the path", async () => {
    const { owner, repo, made } = await makePushed();
    const next = makeFiles({ a: "next", "main/a": "a directory" }, { before: made });
    const commands = [
      { ref: "refs/heads/next/one", new: next.oid },
      { ref: "refs/tags/v1", new: next.oid },
    ];
    await pushCommands(owner, repo, commands, { pack: next.pack });
    const cases = [
      ["a?ref=next%2Fone", "next"],
      ["a?ref=v1", "next"],
      ["next/one/a", "next"],
      ["v1/a", "next"],
      [`${next.oid}/a`, "next"],
      ["main/README.md", "# read me"],
      ["README.md", "# read me"],
      ["main/a?ref=v1", "a directory"],
    ] as const;
    for (const [path, text] of cases) {
      const { status, bytes } = await read(`${rawOf(repo, noun)}/${path}`);
      expect([path, status, new TextDecoder().decode(bytes)]).toEqual([path, 200, text]);
    }
  });

  it("answers 404 for directories, submodules and unknown paths", async () => {
    const { repo } = await makePushed();
    const paths = [
      "docs",
      "lib/linked",
      "link/x",
      "none",
      "main",
      ".git/config",
      "docs%2F..%2FREADME.md",
      "%00",
      "%FF",
      "x".repeat(5000),
      "a/".repeat(2500),
      "README.md?ref=none",
      `README.md?ref=${"0".repeat(40)}`,
    ];
    for (const path of paths) {
      const { status, bytes } = await read(`${rawOf(repo, noun)}/${path}`);
      expect([path, status, bytes.length]).toEqual([path, 404, 0]);
    }
    const empty = await make.repo(await make.user());
    expect((await read(`${rawOf(empty, noun)}/README.md`)).status).toBe(404);
  });

  it("requires read access to the code", async () => {
    const { owner, repo } = await makePushed(FILES, { isPrivate: true });
    const path = `${rawOf(repo, noun)}/README.md`;
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", path, { as: await make.user() })).status).toBe(404);
    const token = await make.token(owner, { scopes: "read:user" });
    expect((await call("GET", path, { token })).status).toBe(403);
    expect((await call("GET", path, { as: owner })).status).toBe(200);
    await disableCode(repo);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("GET", path, { as: owner })).status).toBe(200);
  });
});

describe("GET /repos/{owner}/{repo}/raw/{filepath}", () => {
  it("returns the target path of a symlink, and does not follow it", async () => {
    const { repo } = await makePushed();
    const { headers, bytes } = await read(`${rawOf(repo)}/link`);
    expect(new TextDecoder().decode(bytes)).toBe("README.md");
    expect(headers.get("X-Gitea-Object-Type")).toBe("symlink");
  });

  // SECURITY: a file name can contain quotes and line breaks, which must not end the header value.
  it("escapes the file name in Content-Disposition", async () => {
    const { repo } = await makePushed({ ...FILES, "a\";\t'\\b*.txt": "x" });
    const quoted = await read(`${rawOf(repo)}/docs/gr%C3%BC%C3%9Fe%20%221%22.txt`);
    expect(quoted.headers.get("Content-Disposition")).toBe(
      `inline; filename="gr__e _1_.txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%221%22.txt`,
    );
    const odd = await read(`${rawOf(repo)}/${encodeURIComponent("a\";\t'\\b*.txt")}`);
    expect(odd.headers.get("Content-Disposition")).toBe(
      `inline; filename="a_____b_.txt"; filename*=UTF-8''a%22%3B%09%27%5Cb%2A.txt`,
    );
  });

  it("detects what browsers show, and text, by content, and serves anything else as bytes", async () => {
    const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));
    const files: Record<string, [Uint8Array, string]> = {
      "a.bin": [bytes("\x89PNG\r\n\x1a\n\0\0"), "image/png"],
      "b.txt": [bytes("\xff\xd8\xff\xe0\0"), "image/jpeg"],
      c: [bytes("GIF89a\0"), "image/gif"],
      d: [bytes("RIFF\0\0\0\0WEBPVP8 "), "image/webp"],
      "e.html": [bytes("a\0<html>"), "application/octet-stream"],
      "f.svg": [bytes(`<?xml version="1.0"?><svg onload="x"/>`), "image/svg+xml"],
      "g.svg": [bytes("<html><script>x</script></html>"), "text/plain; charset=utf-8"],
      "h.png": [bytes("<html>"), "text/plain; charset=utf-8"],
      "i.js": [bytes("alert(1)"), "text/plain; charset=utf-8"],
      "j.pdf": [bytes("%PDF-1.7\n\0"), "application/pdf"],
      k: [bytes("\0\0\0\x20ftypisom\0"), "video/mp4"],
      l: [bytes("\x1aE\xdf\xa3\0"), "video/webm"],
      m: [bytes("OggS\0\x02"), "application/ogg"],
      n: [bytes("RIFF\0\0\0\0WAVEfmt "), "audio/wave"],
      o: [bytes("ID3\x04\0"), "audio/mpeg"],
      p: [bytes("ID3 is a format of tags\n"), "text/plain; charset=utf-8"],
      "q.pdf": [bytes("<script>x</script>"), "text/plain; charset=utf-8"],
      empty: [bytes(""), "text/plain; charset=utf-8"],
      // Of a text in another encoding none is stated, so that a browser finds it out.
      latin: [bytes("\xe9t\xe9\n"), "text/plain"],
      // The first bytes end within a character.
      cut: [new TextEncoder().encode(`a${"\u00e9".repeat(5000)}`), "text/plain; charset=utf-8"],
    };
    const contents = Object.entries(files).map(([name, [content]]) => [name, content] as const);
    const { repo } = await makePushed(Object.fromEntries(contents));
    for (const [name, [content, type]] of Object.entries(files)) {
      const answer = await read(`${rawOf(repo)}/${name}`);
      expect([name, answer.headers.get("Content-Type")]).toEqual([name, type]);
      expect(answer.bytes).toEqual(content);
      const policy = answer.headers.get("Content-Security-Policy");
      expect(policy).toMatch(/^default-src 'none';/);
      // The viewer of a browser does not start in a sandbox.
      expect(policy?.includes("sandbox")).toBe(!name.endsWith(".pdf"));
      // A browser saves what it would run as a page of its own; as an image it ignores this header.
      const disposition = name.endsWith(".svg") ? "attachment" : "inline";
      expect(answer.headers.get("Content-Disposition")).toMatch(new RegExp(`^${disposition};`));
    }
  });

  it("streams a large file with its Content-Length", async () => {
    const large = new Uint8Array(20 * 1024 * 1024);
    for (let at = 0; at < large.length; at += 4) large[at] = (at * 2654435761) >>> 24;
    const { repo } = await makePushed({ large });
    const path = `${rawOf(repo)}/large`;
    const { headers, bytes } = await read(path);
    expect(headers.get("Content-Length")).toBe(String(large.length));
    expect(headers.get("Content-Type")).toBe("application/octet-stream");
    expect(bytes.length).toBe(large.length);
    expect(await crypto.subtle.digest("SHA-256", bytes)).toEqual(
      await crypto.subtle.digest("SHA-256", large),
    );
    const head = await read(path, { method: "HEAD" });
    expect(head.headers.get("Content-Length")).toBe(String(large.length));
  });

  // Such a file is reconstructed in scratch space, which is deleted afterwards.
  it("streams a large file that is stored as a delta", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const base = new Uint8Array(17 * 1024 * 1024);
    for (let at = 0; at < base.length; at++) base[at] = (at * 2654435761) >>> 24;
    const target = base.slice();
    target.set(encodeUtf8("changed"), 9 * 1024 * 1024);
    const builder = new PackBuilder(codec);
    const baseOid = builder.add("blob", base);
    const oid = builder.add("blob", target, baseOid);
    const smallOid = builder.add("blob", base.slice(0, 100), baseOid);
    const entries = [
      { mode: 0o100644, name: encodeText("base"), oid: baseOid },
      { mode: 0o100644, name: encodeText("small"), oid: smallOid },
      { mode: 0o100644, name: encodeText("target"), oid },
    ];
    const treeOid = builder.add("tree", formatTree(entries));
    const who = "A <a@example.com> 1700000000 +0000";
    const text = `tree ${treeOid}\nauthor ${who}\ncommitter ${who}\n\nlarge\n`;
    const commitOid = builder.add("commit", encodeUtf8(text));
    expect((await push(owner, repo, commitOid, builder.build())).body).toContain("unpack ok");
    const files = await filesOf(repo);
    const { status, bytes } = await read(`${rawOf(repo)}/target`);
    expect([status, bytes.length]).toEqual([200, target.length]);
    expect(await crypto.subtle.digest("SHA-256", bytes)).toEqual(
      await crypto.subtle.digest("SHA-256", target),
    );
    const small = await call("GET", `${rawOf(repo, "contents")}/small`);
    expect(small).toMatchObject({ status: 200, body: { size: 100, content: null } });
    expect((await read(`${rawOf(repo)}/small`)).bytes).toEqual(base.slice(0, 100));
    expect(await filesOf(repo)).toEqual(files);
  });

  // SECURITY: forks share packs, and force-pushed objects stay stored for a while.
  it("reads at no commit that is unreachable from the repository's own refs", async () => {
    const { repo } = await makePushed();
    const forker = await make.user();
    const answer = await call("POST", rawOf(repo, "forks"), {
      as: forker,
      json: { name: freshName("fork") },
    });
    const fork = { owner: forker.name, name: answer.body.name } as TestRepo;
    const secret = makeCommit(freshName("secret"));
    await push(forker, fork, secret.oid, secret.pack, "refs/heads/secret");
    const statusesAt = async (of: TestRepo) => [
      (await read(`${rawOf(of)}/file?ref=${secret.oid}`)).status,
      (await read(`${rawOf(of)}/${secret.oid}/file`)).status,
    ];
    expect(await statusesAt(fork)).toEqual([200, 200]);
    expect(await statusesAt(repo)).toEqual([404, 404]);
    await pushCommands(forker, fork, [{ ref: "refs/heads/secret", old: secret.oid }], {
      pack: makeEmptyPack(),
    });
    expect(await statusesAt(fork)).toEqual([404, 404]);
  });

  it("costs one Durable Object call, and no bucket read when cached", async () => {
    const { repo } = await makePushed();
    const path = `${rawOf(repo)}/README.md`;
    await call("GET", path);
    const { line } = await logged(() => call("GET", path));
    expect(line).toMatchObject({ objectCalls: 1, r2Calls: 0 });
    expect(line.d1Rounds).toBeLessThanOrEqual(2);
  });
});

describe("GET /repos/{owner}/{repo}/media/{filepath}", () => {
  const makePointing = async (file: LargeFile, isStored: boolean) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    if (isStored) expect((await upload(owner, repo, file)).status).toBe(200);
    const pointer = pointerTo(file);
    const made = makeFiles({
      "a.png": pointer,
      link: { mode: MODE_SYMLINK, content: pointer },
      other: pointerTo({ ...file, size: file.size + 1 }),
    });
    expect((await push(owner, repo, made.oid, made.pack)).body).toContain("unpack ok");
    return { owner, repo, made, pointer };
  };
  const png = (length: number): LargeFile => {
    const bytes = Uint8Array.from({ length }, (_, at) => (at * 7) & 255);
    bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    return makeLargeFile(bytes);
  };

  it("returns the LFS object of a pointer, where raw returns the pointer", async () => {
    for (const length of [9, 700_000]) {
      const file = png(length);
      const { repo, made, pointer } = await makePointing(file, true);
      const { status, headers, bytes } = await read(`${rawOf(repo, "media")}/a.png`);
      expect([status, bytes]).toEqual([200, file.bytes]);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": "image/png",
        "content-length": String(length),
        "content-security-policy": expect.stringContaining("sandbox"),
        "x-content-type-options": "nosniff",
        "cache-control": "max-age=0, private, must-revalidate, no-transform",
        etag: `"${file.oid}"`,
      });
      const raw = await read(`${rawOf(repo)}/a.png`);
      expect(new TextDecoder().decode(raw.bytes)).toBe(pointer);
      expect(raw.headers.get("ETag")).toBe(`"${made.oids["a.png"]}"`);
      const sendConditional = async (method: string, tag: string) => {
        const init = { method, headers: { "If-None-Match": `"${tag}"` } };
        const answer = await read(`${rawOf(repo, "media")}/a.png`, init);
        return [answer.status, answer.headers.get("Content-Length"), answer.bytes.length];
      };
      expect(await sendConditional("GET", file.oid)).toEqual([304, null, 0]);
      expect(await sendConditional("HEAD", made.oids["a.png"] ?? "")).toEqual([
        200,
        String(length),
        0,
      ]);
      // The contents endpoint includes its id and size too.
      const { body } = await call("GET", `${rawOf(repo, "contents")}/a.png`);
      expect(body).toMatchObject({ lfs_oid: file.oid, lfs_size: length, size: pointer.length });
    }
  });

  it("returns the pointer if the object is missing or has another size, and a symlink as it is", async () => {
    const { repo, pointer } = await makePointing(png(100), true);
    const text = async (path: string) =>
      new TextDecoder().decode((await read(`${rawOf(repo, "media")}/${path}`)).bytes);
    expect(await text("link")).toBe(pointer);
    expect(await text("other")).toContain("size 101");
    const none = await makePointing(png(200), false);
    const { bytes } = await read(`${rawOf(none.repo, "media")}/a.png`);
    expect(new TextDecoder().decode(bytes)).toBe(none.pointer);
    const off = serviceWith({ LFS_START_SERVER: "false" });
    expect((await off("GET", `${rawOf(repo, "media")}/a.png`)).body).toBe(pointer);
  });

  it("costs two database round trips and one bucket read", async () => {
    const { repo } = await makePointing(png(100), true);
    const path = `${rawOf(repo, "media")}/a.png`;
    await call("GET", path);
    const { line } = await logged(() => call("GET", path));
    expect(line).toMatchObject({ objectCalls: 1, r2Calls: 1, d1Rounds: 2 });
  });
});
