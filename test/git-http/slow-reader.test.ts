import { expect, it } from "vitest";

import { make, type TestRepo, type TestUser } from "../support/make.ts";
import {
  BLOB_BYTES,
  BLOBS,
  pushLarge,
  readSlowly,
  settle,
  startReading,
} from "../support/slow-reader.ts";

/**
 * Maximum bytes read from storage and not yet read by the client, regardless of the response's
 * size.
 */
const BUFFERED_BYTES_MAX = 3 * 1024 * 1024;

/** Requests a fetch of commits. Returns the response stream unread. */
async function startFetch(owner: TestUser, repo: TestRepo, oids: readonly string[]) {
  const line = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;
  const wants = oids.map((oid) => line(`want ${oid}\n`)).join("");
  const body = `${line("command=fetch\n")}0001${line("ofs-delta\n")}${wants}${line("done\n")}0000`;
  const request = new Request(
    `https://forge.example/${repo.owner}/${repo.name}.git/git-upload-pack`,
    {
      method: "POST",
      headers: {
        Authorization: `token ${owner.token}`,
        "Content-Type": "application/x-git-upload-pack-request",
        "Git-Protocol": "version=2",
      },
      body,
    },
  );
  return startReading(request);
}

it.each([
  ["streamed as it is stored", 1],
  ["built from several packs", 2],
])(
  "a client that stops reading a pack %s leaves only a few pieces of it buffered",
  async (_, packs) => {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const oids: string[] = [];
    for (let at = 0; at < packs; at++) oids.push(await pushLarge(owner, repo, `branch-${at}`));
    const packBytes = packs * BLOBS * BLOB_BYTES;

    const started = await startFetch(owner, repo, oids);
    const { takenBytes, aheadMax } = await readSlowly(started, packBytes);
    expect(takenBytes).toBeGreaterThan(packBytes);
    expect(started.meter.bytes).toBeGreaterThan(packBytes);
    expect(aheadMax).toBeLessThan(BUFFERED_BYTES_MAX);
  },
);

it("a client that disconnects in the middle of a pack stops the reads from storage", async () => {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const oid = await pushLarge(owner, repo, "main");
  const { meter, reader } = await startFetch(owner, repo, [oid]);
  await reader.read();
  await reader.cancel();
  await settle(meter);
  expect(meter.bytes).toBeLessThan(BUFFERED_BYTES_MAX);
});
