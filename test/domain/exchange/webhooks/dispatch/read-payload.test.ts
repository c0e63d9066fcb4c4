import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { commitStatuses, repositories } from "../../../../../src/db/schema/index.ts";
import {
  openPayloadSource,
  readPayload,
} from "../../../../../src/domain/exchange/webhooks/dispatch/read-payload.ts";
import type { WebhookEvent } from "../../../../../src/events/webhooks/payloads/webhook-event.ts";
import { History } from "../../../../support/commits.ts";
import { db } from "../../../../support/db.ts";
import { make } from "../../../../support/make.ts";
import { NULL, pushCommands } from "../../../../support/push.ts";
import { systemCtx } from "../../../../support/system.ts";

async function read(webhookEvent: WebhookEvent, actorId = 0) {
  const ctx = { ...systemCtx({}, Date.now()), publicUrl: "https://forge.example" };
  return readPayload(await openPayloadSource(ctx, [webhookEvent], actorId), webhookEvent);
}

/** Makes twelve commits on main, and a tag of the first. */
async function makeHistory() {
  const owner = await make.user();
  const repo = await make.repo(owner);
  const history = new History();
  const oids: string[] = [];
  for (let at = 0; at < 12; at++) {
    const author = `A <${owner.email}>`;
    const files = { [`file-${at}`]: "text" };
    oids.push(history.commit({ files, parents: oids.slice(-1), message: `No ${at}\n`, author }));
  }
  const oid = (at: number): string => oids[at] ?? "";
  const tagOid = history.tag(oid(0), "v1");
  const pack = history.build();
  const commands = [
    { ref: "refs/heads/main", new: oid(11) },
    { ref: "refs/tags/v1", new: tagOid },
  ];
  const { status } = await pushCommands(owner, repo, commands, { pack });
  expect(status).toBe(200);
  return { owner, repo, oid, tagOid };
}

describe("readPayload", () => {
  it("reads the commits of a push", async () => {
    const { owner, repo, oid, tagOid } = await makeHistory();
    const push = { event: "push", repoId: repo.id, ref: "refs/heads/main" } as const;

    const pushed = await read({ ...push, before: oid(3), after: oid(11) }, owner.id);
    expect(pushed?.body).toMatchObject({
      total_commits: 8,
      commits: [11, 10, 9, 8, 7].map((at) => ({ id: oid(at), message: `No ${at}\n` })),
      head_commit: { id: oid(11), added: ["file-11"], removed: ["file-10"], modified: [] },
      sender: { login: owner.name, email: `${owner.lowerName}@noreply.forge.example` },
    });

    const fresh = await read({ ...push, before: null, after: oid(11) });
    expect(fresh?.body).toMatchObject({
      before: NULL,
      total_commits: 10,
      compare_url: expect.stringContaining(`/compare/${oid(1)}...${oid(11)}`),
      sender: { login: "Ghost" },
    });

    const tag = { ...push, ref: "refs/tags/v1" };
    expect((await read({ ...tag, before: null, after: tagOid }))?.body).toMatchObject({
      after: tagOid,
      commits: [],
      total_commits: 0,
      head_commit: { id: oid(0) },
    });
    expect((await read({ ...tag, before: tagOid, after: null }))?.body).toMatchObject({
      after: NULL,
      head_commit: null,
    });
  });

  it("counts no new commits if a branch is reset", async () => {
    const { repo, oid } = await makeHistory();
    const back = { ref: "refs/heads/main", before: oid(11), after: oid(3) };
    const payload = await read({ event: "push", repoId: repo.id, ...back });
    expect(payload?.body).toMatchObject({
      commits: [],
      total_commits: 0,
      head_commit: { id: oid(3) },
    });
  });

  it("discloses no code of a repository whose code is disabled", async () => {
    const { repo, oid } = await makeHistory();
    await db.update(repositories).set({ hasCode: false }).where(eq(repositories.id, repo.id));
    const pushed = { ref: "refs/heads/main", before: null, after: oid(11) };
    expect(await read({ event: "push", repoId: repo.id, ...pushed })).toBeUndefined();
    expect(await read({ event: "create", repoId: repo.id, ...pushed })).toBeUndefined();
    expect(await read({ event: "delete", repoId: repo.id, ...pushed })).toBeUndefined();
  });

  it("reads a commit status with its commit", async () => {
    const { owner, repo, oid } = await makeHistory();
    await db.insert(commitStatuses).values({
      repoId: repo.id,
      commitOid: oid(2),
      number: 1,
      state: "success",
      context: "ci",
      description: "",
      targetUrl: "",
      creatorId: owner.id,
      createdAt: 1000,
    });
    const status = { event: "status", repoId: repo.id, commitOid: oid(2) } as const;
    expect((await read({ ...status, number: 1 }))?.body).toMatchObject({
      sha: oid(2),
      state: "success",
      commit: { id: oid(2), added: ["file-2"] },
    });
    expect(await read({ ...status, number: 2 })).toBeUndefined();
  });

  // SECURITY: the approver of a hook of the source may not be allowed to see the fork.
  it("discloses a fork only if it is as visible as its source", async () => {
    const owner = await make.user();
    const [source, fork] = [await make.repo(owner), await make.repo(await make.user())];
    const webhookEvent = { event: "fork", repoId: source.id, forkId: fork.id } as const;
    expect((await read(webhookEvent))?.body).toMatchObject({
      forkee: { id: source.id },
      repository: { id: fork.id },
    });
    await db.update(repositories).set({ isPrivate: true }).where(eq(repositories.id, fork.id));
    expect(await read(webhookEvent)).toBeUndefined();
    await db.update(repositories).set({ isPrivate: true }).where(eq(repositories.id, source.id));
    expect(await read(webhookEvent)).toBeUndefined();
  });

  it("returns nothing for a deleted repository", async () => {
    const webhookEvent = { event: "repository", repoId: 2 ** 40, action: "created" } as const;
    expect(await read(webhookEvent)).toBeUndefined();
  });
});
