import { createCipheriv } from "node:crypto";

import { expect, it } from "vitest";

import { commitPieces, importRepository, type Piece } from "../support/fast-import.ts";
import { makeRepo } from "../support/forge.ts";
import { clone, git } from "../support/git.ts";
import { expectMirror } from "../support/mirror.ts";

/** A busy machine with two cores is slow. */
const TIMEOUT_MS = 180_000;

/** Incompressible bytes, the same in every run. */
function noise(bytes: number): Buffer {
  return createCipheriv("aes-128-ctr", Buffer.alloc(16, 7), Buffer.alloc(16)).update(
    Buffer.alloc(bytes),
  );
}

it(
  "receives and sends an incompressible file of 95 MB",
  async () => {
    const repo = await makeRepo();
    const large = noise(95_000_000);
    const source = await importRepository(commitPieces("main", 1, [["large.bin", large]]));
    await git(source, ["push", "--quiet", repo.ownUrl, "main"]);
    const copy = await clone(repo.url, "--mirror");
    await expectMirror(copy, source);
    expect(await git(copy, ["cat-file", "-s", "main:large.bin"])).toBe(String(large.length));

    // With a second pack, the response is assembled from both instead of passed through.
    const who = "A <a@example.com> 1700000000 +0000";
    const next = `commit refs/heads/next\ncommitter ${who}\ndata 4\nmore\nfrom refs/heads/main^0\n`;
    await git(source, ["fast-import", "--quiet"], next);
    await git(source, ["push", "--quiet", repo.ownUrl, "next"]);
    await expectMirror(await clone(repo.url, "--mirror"), source);
  },
  TIMEOUT_MS,
);

it(
  "receives and sends a history of 50,000 commits",
  async () => {
    const repo = await makeRepo();
    const source = await importRepository(deepHistory(50_000));
    await git(source, ["push", "--quiet", repo.ownUrl, "main"]);
    const copy = await clone(repo.url, "--mirror");
    await expectMirror(copy, source);
    expect(await git(copy, ["rev-list", "--count", "main"])).toBe("50000");
  },
  TIMEOUT_MS,
);

function* deepHistory(commits: number): Generator<Piece> {
  for (let at = 1; at <= commits; at++) {
    yield* commitPieces("main", at, [[`dir-${at % 8}/file-${at % 64}`, `text ${at}\n`]]);
  }
}

// Some servers refuse a push of more than 250,000 objects.
it(
  "receives and sends 50,000 small files, in a push of 300,000 objects",
  async () => {
    const repo = await makeRepo();
    const source = await importRepository(wideHistory(6, 50_000));
    await git(source, ["push", "--quiet", repo.ownUrl, "main"]);
    await expectMirror(await clone(repo.url, "--mirror"), source);

    const copy = await clone(repo.url, "--depth=1");
    expect(await git(copy, ["status", "--porcelain"])).toBe("");
    expect((await git(copy, ["ls-files"])).split("\n")).toHaveLength(50_000);
  },
  TIMEOUT_MS,
);

/** Commits that each rewrite every file. */
function* wideHistory(commits: number, files: number): Generator<Piece> {
  for (let at = 1; at <= commits; at++) {
    const paths = Array.from({ length: files }, (_, file) => `dir-${file % 250}/file-${file}`);
    yield* commitPieces(
      "main",
      at,
      paths.map((path) => [path, `${at} ${path}\n`]),
    );
  }
}
