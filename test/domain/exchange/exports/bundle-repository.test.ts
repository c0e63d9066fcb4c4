import { describe, expect, it } from "vitest";

import { BundleRepository } from "../../../../src/domain/exchange/exports/bundle-repository.ts";
import { openGitBundle } from "../../../../src/domain/exchange/exports/open-git-bundle.ts";
import { openSnapshot } from "../../../../src/domain/code/git/open-snapshot.ts";
import { fetchRemote } from "../../../../src/domain/exchange/remotes/fetch-remote.ts";
import { UNLIMITED } from "../../../../src/git/budget.ts";
import { encodeText } from "../../../../src/git/byte-text.ts";
import { readAllObjects } from "../../../support/git.ts";
import type { TestRepo } from "../../../support/make.ts";
import {
  contextOf,
  failureOf,
  makeMirror,
  namedRefs,
  rowOf,
  syncFrom,
} from "../../../support/mirrors.ts";
import { filesOf, refsOf } from "../../../support/push.ts";
import { commitsOn, makeRemote } from "../../../support/remotes.ts";
import { systemCtx } from "../../../support/system.ts";

const MAIN = encodeText("refs/heads/main");

/** A repository with branches and tags, and the bytes of its bundle. */
async function makeBundle() {
  const remote = await makeRemote();
  await remote.git(["fast-import", "--quiet"], commitsOn("main", 5));
  await remote.git(["tag", "-a", "-m", "one", "v1", "main~1"]);
  await remote.git(["update-ref", "refs/heads/topic", "main~2"]);
  const { repo } = await makeMirror();
  await syncFrom(repo, remote.url(), { isFirst: true });
  const ctx = systemCtx({}, Date.now());
  const context = await contextOf(repo);
  const snapshot = await openSnapshot(ctx, context, UNLIMITED, "all");
  const pieces: Uint8Array[] = [];
  for await (const piece of (await openGitBundle(ctx, context, snapshot)) ?? []) {
    pieces.push(piece.slice());
  }
  return { repo, bytes: new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer()) };
}

/** A bundle that comes in small pieces. */
function bundleOf(bytes: Uint8Array): BundleRepository {
  return new BundleRepository(async function* () {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.slice(at, at + 1000);
  }, MAIN);
}

const take = async (repo: TestRepo, bundle: BundleRepository) =>
  fetchRemote(systemCtx({}, Date.now()), await contextOf(repo), bundle, {
    prune: false,
    isFirst: true,
  });

describe("a bundle", () => {
  it("gives another repository all refs and objects, and nothing twice", async () => {
    const { repo: from, bytes } = await makeBundle();
    const { repo } = await makeMirror();

    const fetched = await take(repo, bundleOf(bytes));

    expect(fetched).toMatchObject({ head: "refs/heads/main", skipped: [], requestCount: 0 });
    expect(await namedRefs(repo)).toEqual(await namedRefs(from));
    expect(Object.keys(await namedRefs(repo))).toHaveLength(3);
    expect(await readAllObjects(repo)).toBe(await readAllObjects(from));
    expect(await rowOf(repo)).toMatchObject({ isEmpty: false, defaultBranch: "main" });
    expect(await take(repo, bundleOf(bytes))).toMatchObject({ updates: [], packBytes: 0 });
  });

  it.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ["is cut", (bytes) => bytes.slice(0, -30)],
    ["has a broken pack", (bytes) => bytes.with(bytes.length - 40, 255 - (bytes.at(-40) ?? 0))],
    ["is none", () => new TextEncoder().encode("PACK")],
    [
      "has no pack",
      (bytes) => bytes.slice(0, new TextDecoder("latin1").decode(bytes).indexOf("PACK")),
    ],
    [
      "names a commit that it does not have",
      (bytes) => {
        const header = `# v2 git bundle\n${"ab".repeat(20)} refs/heads/main\n\n`;
        const packAt = new TextDecoder("latin1").decode(bytes).indexOf("PACK");
        return Uint8Array.of(...new TextEncoder().encode(header), ...bytes.slice(packAt));
      },
    ],
  ])("that %s is refused, and nothing is left of it", async (_, change) => {
    const { bytes } = await makeBundle();
    const { repo } = await makeMirror();
    const before = [await filesOf(repo), await refsOf(repo), await rowOf(repo)];

    const failure = await failureOf(take(repo, bundleOf(change(bytes))));

    expect(failure.kind).toBe("protocol");
    expect([await filesOf(repo), await refsOf(repo), await rowOf(repo)]).toEqual(before);
  });
});
