import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { miniflareOptions } from "../../scripts/build/miniflare.ts";
import { type Checkout, makeCheckout } from "./support/checkout.ts";
import { startService } from "./support/service.ts";
import { makeDirectory } from "./support/temporary.ts";

let checkout: Checkout;
beforeAll(() => {
  checkout = makeCheckout();
});
afterAll(() => checkout.remove());

const root = { EDGEFORGE_ADMIN_USER: "root", EDGEFORGE_ADMIN_PASSWORD: "correct horse battery" };
const authorization = `Basic ${btoa("root:correct horse battery")}`;

const who = { NAME: "A U Thor", EMAIL: "author@example.com", DATE: "1700000000 +0000" };
const identity = Object.entries(who).flatMap(([field, value]) => [
  [`GIT_AUTHOR_${field}`, value],
  [`GIT_COMMITTER_${field}`, value],
]);

const git = (directory: string, ...args: string[]): string =>
  execFileSync("git", args, {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      ...Object.fromEntries(identity),
    },
  });

/** A working copy with some history. Pushes each branch separately, so that each is a pack. */
function pushHistory(url: string): string {
  const work = makeDirectory();
  git(work, "init", "-q", "-b", "main");
  for (const [at, branch] of ["main", "next", "zweig/für-ü", "old", "new"].entries()) {
    git(work, "checkout", "-q", "-B", branch);
    writeFileSync(join(work, `file-${at}`), `${branch}\n`.repeat(at + 1));
    git(work, "add", ".");
    git(work, "commit", "-qm", `Work on ${branch}`);
    git(work, "push", "-q", url, branch);
  }
  git(work, "tag", "-a", "v1", "-m", "The first");
  git(work, "push", "-q", url, "v1");
  return work;
}

/** Downloads the files of the only network in the bucket into the layout of a git repository. */
async function downloadNetwork(data: string): Promise<string> {
  const directory = makeDirectory();
  mkdirSync(join(directory, "objects/pack"), { recursive: true });
  mkdirSync(join(directory, "refs"));
  const worker = {
    name: "rescue",
    modules: true,
    script: "export default {}",
    r2Buckets: { PACKS: "edgeforge-packs" },
  };
  const mf = new Miniflare(miniflareOptions(data, [worker], () => {}));
  try {
    const bucket = await mf.getR2Bucket("PACKS", "rescue");
    const { objects } = await bucket.list();
    for (const { key } of objects) {
      const file = key.split("/").at(-1) ?? "";
      if (file.endsWith(".sidecar")) continue;
      const path = /\.(?:pack|idx)$/.test(file) ? `objects/pack/pack-${file}` : file;
      const body = await (await bucket.get(key))?.arrayBuffer();
      writeFileSync(join(directory, path), new Uint8Array(body ?? new ArrayBuffer(0)));
    }
    return directory;
  } finally {
    await mf.dispose();
  }
}

it("the files in the bucket are a repository that git reads, with its refs", async () => {
  const data = makeDirectory();
  const service = await startService(checkout, { EDGEFORGE_DATA: data, ...root });
  const created = await fetch(`${service.url}/api/v1/user/repos`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ name: "engine" }),
  });
  expect(created.status).toBe(201);
  const authenticatedUrl = service.url.replace("://", "://root:correct%20horse%20battery@");
  const work = pushHistory(`${authenticatedUrl}/root/engine.git`);
  // The fourth push triggers a merge of the packs and a backup of the refs after its response.
  await vi.waitFor(() => expect(service.output()).toContain('"maintenance:merged"'), {
    timeout: 20_000,
  });
  await service.stop();

  const rescued = await downloadNetwork(data);
  expect(git(rescued, "fsck", "--strict", "--full")).toBe("");
  const head = git(rescued, "symbolic-ref", "HEAD").trim();
  expect(head).toBe("refs/heads/main");
  const refsOf = (directory: string): string[] =>
    git(directory, "for-each-ref", "--format=%(objectname) %(refname)").trim().split("\n");
  // Later pushes are in the packs too, and the next maintenance saves their refs.
  expect(refsOf(rescued).length).toBeGreaterThanOrEqual(4);
  expect(refsOf(work)).toEqual(expect.arrayContaining(refsOf(rescued)));
  for (const line of refsOf(work)) {
    const [oid = ""] = line.split(" ");
    const objects = git(work, "rev-list", "--objects", oid);
    expect(git(rescued, "rev-list", "--objects", oid)).toBe(objects);
  }
});
