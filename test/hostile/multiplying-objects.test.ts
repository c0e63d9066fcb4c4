import { deflateSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import { oidBytes } from "../../src/git/oid.ts";
import { formatEntryHeader, REF_DELTA } from "../../src/git/pack/entry-header.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { RESULT_STEPS_MAX } from "../../src/storage/result-cache.ts";
import { call, visit } from "../support/call.ts";
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

/** Eleven trees that are found at ten billion paths, and their commit. */
function craftNested(): CraftedObject[] {
  const trees = [craftTree([])];
  for (let depth = 0; depth < 10; depth++) {
    const { oid } = trees.at(-1) as CraftedObject;
    trees.push(craftTree(Array.from({ length: 10 }, (_, at) => ["40000", `d${at}`, oid])));
  }
  return [...trees, craftCommit((trees.at(-1) as CraftedObject).oid)];
}

const pkt = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;

describe("nested trees, to an anonymous caller", () => {
  // A clone has no budget of steps: it visits each object once, however many paths lead to it.
  it.each([
    ["a clone", []],
    ["a shallow clone, which reads the whole tree", ["deepen 1\n"]],
    ["a clone to a depth of trees", ["filter tree:20\n"]],
    ["a clone without files", ["filter blob:none\n"]],
  ])("are each sent once in %s", async (_, args) => {
    const objects = craftNested();
    const head = objects.at(-1) as CraftedObject;
    const path = (await pushPack(head, craftPack(objects))).replace("/repos", "");
    const lines = [...args, `want ${head.oid}\n`, "done\n"].map(pkt).join("");
    const { answer, sent } = await logged(() =>
      visit("POST", `${path}.git/git-upload-pack`, {
        headers: {
          "Content-Type": "application/x-git-upload-pack-request",
          "Git-Protocol": "version=2",
        },
        body: `${pkt("command=fetch\n")}0001${lines}0000`,
      }),
    );
    expect(answer.status).toBe(200);
    // The header of a pack of twelve objects.
    expect(answer.body).toContain("PACK\0\0\0\u0002\0\0\0\f");
    expect(sent?.r2Calls).toBeLessThan(10);
  });

  // What an archive holds is counted by tree and not by path, before its first byte.
  it.each(["tar.gz", "zip"])("are refused as an archive, %s", async (format) => {
    const objects = craftNested();
    const head = objects.at(-1) as CraftedObject;
    const path = (await pushPack(head, craftPack(objects))).replace("/repos", "");
    const { answer, line } = await logged(() => visit("GET", `${path}/archive/main.${format}`));
    expect(answer.status).toBe(413);
    expect(line.r2Calls).toBeLessThan(10);
  });
});

describe("nested trees without files", () => {
  // No change is ever found, so the limit of changed files does not end the walk of ten billion
  // trees.
  it.each([
    [".diff", (head: string) => `/git/commits/${head}.diff`],
    [".patch", (head: string) => `/git/commits/${head}.patch`],
  ])("are refused as a %s", async (_, pathOf) => {
    const objects = craftNested();
    const head = objects.at(-1) as CraftedObject;
    const path = await pushPack(head, craftPack(objects));
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
