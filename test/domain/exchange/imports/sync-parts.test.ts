import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { imports, repositories } from "../../../../src/db/schema/index.ts";
import { syncParts } from "../../../../src/domain/exchange/imports/sync-parts.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import {
  advance,
  ALL_PARTS,
  DataReader,
  findImportRow,
  foreignComment,
  foreignIssue,
  makeForeignData,
  makeForeignGit,
  makeImport,
} from "../../../support/imports.ts";
import { make } from "../../../support/make.ts";
import { makePullMirror } from "../../../support/mirror-rows.ts";
import { systemCtx } from "../../../support/system.ts";

/** Its jobs are run by the test. */
const silent = { REMOTE_JOBS: { sendBatch: () => Promise.resolve() } as never };

/** A mirror of a forge that keeps everything in step, after its first import. */
async function makeFollowing() {
  const owner = await make.user();
  const git = await makeForeignGit();
  const data = makeForeignData(git);
  const reader = new DataReader(data);
  const { repo, importId } = await makeImport(owner, git.remote);
  await advance(importId, git.remote, reader);
  const mirror = await makePullMirror(repo, { parts: ALL_PARTS, address: git.remote.url() });
  const path = `/repos/${owner.name}/${repo.name}`;
  const get = async (rest: string) => (await call("GET", `${path}${rest}`, { as: owner })).body;
  return { owner, git, data, reader, repo, importId, mirror, path, get };
}

async function sync(at: Awaited<ReturnType<typeof makeFollowing>>): Promise<void> {
  const ctx = systemCtx(silent, Date.now());
  const [row] = await db.select().from(repositories).where(eq(repositories.id, at.repo.id));
  await syncParts(ctx, { row } as never, at.mirror);
  await advance(at.importId, at.git.remote, at.reader);
}

describe("syncParts", () => {
  it("takes what is new, and changes what has changed there", async () => {
    const at = await makeFollowing();
    const { data, get } = at;
    const first = data.issues[0] as (typeof data.issues)[0];
    const now = Date.now();
    data.issues[0] = {
      ...first,
      title: "Renamed",
      body: "Another text",
      isClosed: true,
      closedAt: now,
      labelIds: ["102"],
      updatedAt: now,
    };
    data.issues.push(foreignIssue(40));
    data.comments[0] = { ...foreignComment(1, 1), body: "Edited", updatedAt: now };
    data.comments.push(foreignComment(60, 40));
    data.releases[0] = { ...(data.releases[0] as (typeof data.releases)[0]), title: "Uno" };

    await sync(at);

    expect(await findImportRow(at.importId)).toMatchObject({ state: "done", lastError: "" });
    expect(await get("/issues/1")).toMatchObject({
      title: "Renamed",
      body: "Another text",
      state: "closed",
      labels: [{ name: "kind/docs" }],
      comments: 7,
    });
    expect((await get("/issues/1/comments"))[0]).toMatchObject({ body: "Edited" });
    expect(await get("/issues/40")).toMatchObject({ title: "Issue 40", comments: 1 });
    expect(await get("/releases/tags/v1")).toMatchObject({ name: "Uno", assets: [{}, {}] });
    expect(await get("")).toMatchObject({ open_issues_count: 5 });
    expect(at.reader.filters.filter(({ since }) => since !== undefined)).not.toEqual([]);
    // It is no migration any more: nothing is locked meanwhile.
    expect((await get("")).migration).toBeUndefined();
  });

  // SECURITY: who administers a repository could else put words into the mouth of an account that
  // was mapped.
  it("gives no account the words of a server to which the mirror was led later", async () => {
    const at = await makeFollowing();
    const other = await makeForeignGit();
    await db
      .update(imports)
      .set({
        options: { ...(await findImportRow(at.importId)).options, authors: { ada: at.owner.id } },
      })
      .where(eq(imports.id, at.importId));
    at.data.issues.push(foreignIssue(40));
    await sync(at);
    expect(await at.get("/issues/40")).toMatchObject({ user: { login: at.owner.name } });

    at.data.issues.push(foreignIssue(41));
    await sync({ ...at, git: other, mirror: { ...at.mirror, address: other.remote.url() } });

    expect(await at.get("/issues/41")).toMatchObject({ user: { id: -1 }, original_author: "Ada" });
    expect((await findImportRow(at.importId)).options.authors).toEqual({});
  });

  it("reads only what changed since it last began to read", async () => {
    const at = await makeFollowing();
    await db.update(imports).set({ createdAt: 5_000_000_000 }).where(eq(imports.id, at.importId));

    await sync(at);

    const { options } = await findImportRow(at.importId);
    expect(options.since).toBe(5_000_000_000 - 600_000);
    expect(options.readAt).toBeGreaterThan(Date.now() - 60_000);
  });

  it("refuses changes of what is in step, and says why", async () => {
    const { owner, path, mirror, get } = await makeFollowing();
    const name = path.split("/").at(-1);

    const answers = [
      await call("POST", `${path}/issues`, { as: owner, json: { title: "Mine" } }),
      await call("POST", `${path}/issues/1/comments`, { as: owner, json: { body: "Mine" } }),
      await call("POST", `${path}/releases`, { as: owner, json: { tag_name: "v1" } }),
    ];

    expect(answers.map(({ status, body }) => [status, body.message])).toEqual([
      [423, expect.stringContaining(`${owner.name}/${name} is a mirror: its issues are read-only`)],
      [423, expect.stringContaining(mirror.address)],
      [423, expect.stringContaining("its releases are read-only")],
    ]);
    expect(await get("/issues/1")).toMatchObject({ comments: 7 });
    // What is no part of the other side stays changeable.
    expect((await call("PATCH", path, { as: owner, json: { website: "" } })).status).toBe(200);
  });
});
