import { gzipSync } from "node:zlib";

import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";

import { attachmentLooseFiles, attachments } from "../../src/db/schema/index.ts";
import worker from "../../src/worker.ts";
import { db } from "../support/db.ts";
import { eventsOf } from "../support/events.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { makeRelease } from "../support/releases.ts";
import { filesOf, makeCommit, pushBody, refsOf } from "../support/push.ts";

let owner: TestUser;
let repo: TestRepo;
beforeAll(async () => {
  owner = await make.user();
  repo = await make.repo(owner);
});

/**
 * A body that ends with an error after `bytes`, as the runtime's does when the client disconnects.
 */
function cutBody(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const isLost = isSent || bytes.length === 0;
      if (isLost) controller.error(new Error("Network connection lost."));
      else controller.enqueue(new Uint8Array(bytes));
      isSent = true;
    },
  });
}

const gitPath = (rest: string): string => `/${repo.owner}/${repo.name}.git/${rest}`;

/**
 * Sends a request whose client hangs up after `bytes`, and returns the log lines of the request.
 */
async function hangUp(path: string, bytes: Uint8Array, headers: Record<string, string>) {
  const spy = vi.spyOn(console, "log").mockImplementation(() => {});
  try {
    const request = new Request(`https://forge.example${path}`, {
      method: path.includes("lfs") ? "PUT" : "POST",
      headers: { Authorization: `token ${owner.token}`, ...headers },
      body: cutBody(bytes),
    });
    const execution = createExecutionContext();
    const response = await worker.fetch(
      request as Parameters<typeof worker.fetch>[0],
      env,
      execution,
    );
    await waitOnExecutionContext(execution);
    const id = response.headers.get("X-Request-Id");
    return spy.mock.calls
      .map(([line]) => String(line))
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as { id: string; event: string; status?: number })
      .filter((line) => line.id === id);
  } finally {
    spy.mockRestore();
  }
}

const { oid, pack } = makeCommit("half of it is never sent");
const body = pushBody([{ ref: "refs/heads/main", new: oid }], {
  pack,
  capabilities: "side-band-64k",
});
const packStart = body.length - pack.length;
const zipped = new Uint8Array(gzipSync(body));

describe("a client that hangs up", () => {
  it.each<[string, string, Uint8Array, Record<string, string>]>([
    ["before the first byte of a push", "git-receive-pack", new Uint8Array(0), {}],
    ["in the commands of a push", "git-receive-pack", body.subarray(0, 40), {}],
    ["right before the pack of a push", "git-receive-pack", body.subarray(0, packStart), {}],
    ["in the pack of a push", "git-receive-pack", body.subarray(0, packStart + 40), {}],
    ["before the trailer of a pack", "git-receive-pack", body.subarray(0, -10), {}],
    [
      "in a compressed push",
      "git-receive-pack",
      zipped.subarray(0, zipped.length - 30),
      { "Content-Encoding": "gzip" },
    ],
    ["in a fetch", "git-upload-pack", new TextEncoder().encode("0014command=ls-r"), {}],
  ])("%s makes ordinary log lines, and leaves nothing", async (_, service, bytes, headers) => {
    const type = { "Content-Type": `application/x-${service}-request` };
    expect(await hangUp(gitPath(service), bytes, { ...type, ...headers })).toEqual([
      expect.objectContaining({ event: "request", status: 499 }),
    ]);
    expect([await refsOf(repo), await filesOf(repo), await eventsOf(repo)]).toEqual([[], [], []]);
    const uploads = await env.REPOSITORY.getByName(repo.objectName).listWork(Date.now() * 2);
    expect(uploads.uploadIds).toEqual([]);
  });

  it("in the middle of a large file makes ordinary log lines, and stores nothing", async () => {
    const oid64 = "a".repeat(64);
    const lines = await hangUp(gitPath(`info/lfs/objects/${oid64}/1000`), new Uint8Array(100), {});
    expect(lines).toEqual([expect.objectContaining({ event: "request", status: 499 })]);
    expect(await filesOf(repo)).toEqual([]);
  });

  it("in the middle of a file of a release makes ordinary log lines, and leaves no file", async () => {
    const { id } = await makeRelease(repo);
    const path = `/api/v1/repos/${repo.owner}/${repo.name}/releases/${id}/assets?name=a.bin`;
    const bytes = new Uint8Array(200_000);
    const readStored = async () => [
      (await env.PACKS.list({ prefix: "attachments/" })).objects.map(({ key }) => key),
      await db.select().from(attachments),
      await db.select().from(attachmentLooseFiles),
    ];
    const before = await readStored();
    const lines = await hangUp(path, bytes, { "Content-Type": "application/octet-stream" });
    expect(lines).toEqual([expect.objectContaining({ event: "request", status: 499 })]);
    expect(await readStored()).toEqual(before);
  });

  it("in the body of an API request makes an ordinary log line, and changes nothing", async () => {
    const path = `/api/v1/repos/${repo.owner}/${repo.name}/contents/file`;
    const headers = { "Content-Type": "application/json" };
    const lines = await hangUp(path, new TextEncoder().encode('{"content": "YQ=='), headers);
    expect(lines).toEqual([expect.objectContaining({ event: "request", status: 499 })]);
    expect(await refsOf(repo)).toEqual([]);
  });
});

// The body arrives whole, and its content is what is wrong.
it("a compressed push that is cut off is refused without a bug", async () => {
  const spy = vi.spyOn(console, "log").mockImplementation(() => {});
  try {
    const request = new Request(
      `https://forge.example/${repo.owner}/${repo.name}.git/git-receive-pack`,
      {
        method: "POST",
        headers: {
          Authorization: `token ${owner.token}`,
          "Content-Type": "application/x-git-receive-pack-request",
          "Content-Encoding": "gzip",
        },
        body: zipped.subarray(0, zipped.length - 30),
      },
    );
    const execution = createExecutionContext();
    const response = await worker.fetch(
      request as Parameters<typeof worker.fetch>[0],
      env,
      execution,
    );
    expect(await response.text()).toContain("the body is not gzip");
    await waitOnExecutionContext(execution);
    const logged = spy.mock.calls.map(([line]) => String(line)).join("\n");
    expect(logged).not.toContain("request:bug");
  } finally {
    spy.mockRestore();
  }
});
