import { deflateSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import { oidBytes } from "../../src/git/oid.ts";
import { formatEntryHeader, REF_DELTA } from "../../src/git/pack/entry-header.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { RESULT_STEPS_MAX } from "../../src/storage/result-cache.ts";
import { call } from "../support/call.ts";
import {
  craft,
  craftCommit,
  type CraftedObject,
  craftPack,
  craftTree,
} from "../support/crafted-pack.ts";
import { make } from "../support/make.ts";
import { pushCommands } from "../support/push.ts";
import { logged } from "../support/usage.ts";

/** Pushes a pack to a new public repository, and returns the path of its API. */
async function pushPack(head: CraftedObject, pack: Uint8Array): Promise<string> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const commands = [{ ref: "refs/heads/main", new: head.oid }];
  const { body } = await pushCommands(owner, repo, commands, { pack });
  expect(body).toContain("ok refs/heads/main");
  return `/repos/${repo.owner}/${repo.name}`;
}

describe("nested trees without files", () => {
  // No change is ever found, so the limit of changed files does not end the walk of ten billion trees.
  it.each([
    [".diff", (head: string) => `/git/commits/${head}.diff`],
    [".patch", (head: string) => `/git/commits/${head}.patch`],
  ])("are refused as a %s", async (_, pathOf) => {
    const trees = [craftTree([])];
    for (let depth = 0; depth < 10; depth++) {
      const { oid } = trees.at(-1) as CraftedObject;
      trees.push(craftTree(Array.from({ length: 10 }, (__, at) => ["40000", `d${at}`, oid])));
    }
    const head = craftCommit((trees.at(-1) as CraftedObject).oid);
    const path = await pushPack(head, craftPack([...trees, head]));
    const { answer, line } = await logged(() => call("GET", path + pathOf(head.oid)));
    expect(answer).toMatchObject({
      status: 413,
      body: { message: expect.stringMatching(/too many/) },
    });
    expect(line.steps).toBeLessThan(1.1 * RESULT_STEPS_MAX);
  });
});

/** An entry that appends a byte to its base of `sizeBytes`, which is between 2 and 16 MiB. */
function appendByte(baseOid: string, sizeBytes: number, byte: number): Uint8Array {
  const size = (bytes: number) => [
    (bytes & 0x7f) | 0x80,
    ((bytes >> 7) & 0x7f) | 0x80,
    ((bytes >> 14) & 0x7f) | 0x80,
    bytes >> 21,
  ];
  const copy = [0xf0, sizeBytes & 0xff, (sizeBytes >> 8) & 0xff, sizeBytes >> 16];
  const delta = Uint8Array.from([...size(sizeBytes), ...size(sizeBytes + 1), ...copy, 1, byte]);
  const header = formatEntryHeader(REF_DELTA, delta.length);
  return joinBytes([header, oidBytes(baseOid), deflateSync(delta)]);
}

// Git itself allows 4,095 deltas on an object of any size: to read one file is to copy 65 GB.
it("a file at the end of a long chain of large deltas is refused", async () => {
  const content = new Uint8Array(4 * 1024 * 1024 + 200);
  let sizeBytes = 4 * 1024 * 1024;
  let last = craft("blob", content.subarray(0, sizeBytes));
  const base = last;
  const entries: Uint8Array[] = [];
  for (let depth = 0; depth < 180; depth++) {
    entries.push(appendByte(last.oid, sizeBytes, 0));
    last = craft("blob", content.subarray(0, ++sizeBytes));
  }
  const tree = craftTree([["100644", "file", last.oid]]);
  const head = craftCommit(tree.oid);
  const path = await pushPack(head, craftPack([base, tree, head], entries));
  const { answer, line } = await logged(() => call("GET", `${path}/raw/file`));
  expect(answer).toMatchObject({ status: 413, body: { message: expect.any(String) } });
  expect(line.steps).toBeLessThan(150_000_000);
});
