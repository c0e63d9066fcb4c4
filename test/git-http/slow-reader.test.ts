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

/** What may have left storage and not reached the client, in bytes, however large the answer is. */
const BUFFERED_BYTES_MAX = 3 * 1024 * 1024;

/** Asks for commits, and answers with the stream, which nobody reads yet. */
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
  ["passed through as it is stored", 1],
  ["put together of several packs", 2],
])("a client that stops reading a pack %s holds a few pieces of it in memory", async (_, packs) => {
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
});

it("a client that goes away in the middle of a pack ends the reading of it", async () => {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const oid = await pushLarge(owner, repo, "main");
  const { meter, reader } = await startFetch(owner, repo, [oid]);
  await reader.read();
  await reader.cancel();
  await settle(meter);
  expect(meter.bytes).toBeLessThan(BUFFERED_BYTES_MAX);
});
