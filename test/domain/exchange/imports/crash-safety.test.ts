import { eq, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  attachmentLooseFiles,
  attachments,
  codeComments,
  events,
  foreignItems,
  imports,
  issueLabels,
  issues,
  labels,
  milestones,
  pulls,
  releases,
  repositories,
  reviews,
  timelineEntries,
} from "../../../../src/db/schema/index.ts";
import type { Ctx } from "../../../../src/context.ts";
import { advanceImport } from "../../../../src/domain/exchange/imports/advance-import.ts";
import { formatBase64 } from "../../../../src/lib/base64.ts";
import { RemoteFailure } from "../../../../src/outgoing/remote-failure.ts";
import { db } from "../../../support/db.ts";
import { exportBytes } from "../../../support/exports.ts";
import { failCalls, failing, type Fault } from "../../../support/faults.ts";
import {
  advance,
  DataReader,
  findImportRow,
  type ForeignData,
  type ForeignGit,
  makeForeignData,
  makeForeignGit,
  makeExportImport,
  makeImport,
} from "../../../support/imports.ts";
import { makeLargeFile, objectsOf, pointerTo } from "../../../support/large-files.ts";
import { make, type TestRepo, type TestUser } from "../../../support/make.ts";
import { systemCtx } from "../../../support/system.ts";
import { makeWholeRepository } from "../../../support/whole-repository.ts";

/** Everything that an import writes, without ids and times of this run. */
async function contentOf(repoId: number) {
  const [repo] = await db.select().from(repositories).where(eq(repositories.id, repoId));
  const rows = await db.select().from(issues).where(eq(issues.repoId, repoId)).orderBy(issues.id);
  const entries = await db
    .select()
    .from(timelineEntries)
    .where(eq(timelineEntries.repoId, repoId))
    .orderBy(timelineEntries.id);
  const count = async (table: typeof labels | typeof milestones | typeof reviews) =>
    (await db.select({ id: table.id }).from(table).where(eq(table.repoId, repoId))).length;
  const files = await db.select().from(attachments).where(eq(attachments.repoId, repoId));
  const items = await db.select().from(foreignItems).where(eq(foreignItems.repoId, repoId));
  const ofPulls = await db
    .select()
    .from(pulls)
    .where(eq(pulls.repoId, repoId))
    .orderBy(pulls.issueId);
  const recorded = await db.select().from(events).where(eq(events.repoId, repoId));
  return {
    counters: repo && {
      open: repo.openIssueCount,
      closed: repo.closedIssueCount,
      openPulls: repo.openPullCount,
      closedPulls: repo.closedPullCount,
      releases: repo.releaseCount,
      last: repo.lastIssueNumber,
      topics: repo.topics,
      origin: repo.origin?.import,
      lfsSize: repo.lfsSizeBytes,
    },
    issues: rows.map(({ number, title, commentCount, isClosed }) => ({
      number,
      title,
      commentCount,
      isClosed,
    })),
    pulls: ofPulls.map(({ headOid, headBranch, mergeBaseOid, mergedAt, mergeCommitOid }) => ({
      headOid,
      headBranch,
      mergeBaseOid,
      mergedAt,
      mergeCommitOid,
    })),
    largeFiles: (await objectsOf({ id: repoId })).map(({ oid, sizeBytes }) => ({ oid, sizeBytes })),
    entries: entries.map(({ kind, body }) => ({ kind, body })),
    labels: await count(labels),
    milestones: await count(milestones),
    reviews: await count(reviews),
    releases: (
      await db.select({ tag: releases.tagName }).from(releases).where(eq(releases.repoId, repoId))
    ).map(({ tag }) => tag),
    labelled: (await db.select().from(issueLabels).where(eq(issueLabels.repoId, repoId))).length,
    onCode: (
      await db
        .select({ path: codeComments.path })
        .from(codeComments)
        .innerJoin(issues, eq(issues.id, codeComments.issueId))
        .where(eq(issues.repoId, repoId))
    ).length,
    files: files.map(({ name }) => name).toSorted(),
    isArchived: repo?.archivedAt !== null,
    isEachSettled: items.every(({ revision }) => revision !== "*"),
    items: items.length,
    fileIsKept: (await listKeptFiles(repoId)).length > 0,
    finished: recorded.filter(({ type }) => type === "migration.finished").length,
  };
}

/** The notes of the file of an export whose import goes on. */
const listKeptFiles = async (repoId: number) =>
  db
    .select({ uuid: attachmentLooseFiles.uuid })
    .from(attachmentLooseFiles)
    .innerJoin(
      imports,
      sql`${imports.options} ->> '$.file.uuid' = ${attachmentLooseFiles.uuid}
        and ${attachmentLooseFiles.expiresAt} > 0`,
    )
    .where(eq(imports.repoId, repoId));

/** How imports of one kind are made, and are worked on once. */
interface Way {
  /** What a whole one has. */
  readonly holds: object;
  make(): Promise<{ repo: TestRepo; importId: number }>;
  advance(importId: number, ctx?: Ctx): Promise<void>;
}

/** Imports of a project elsewhere. */
async function makeForgeWay(): Promise<Way> {
  const owner = await make.user();
  const git = await makeForeignGit();
  await addLargeFiles(git);
  const data = makeSmall(makeForeignData(git));
  return {
    holds: {
      issues: { length: 6 },
      pulls: { length: 3 },
      reviews: 2,
      onCode: 3,
      files: ["a.txt", "b.txt"],
      largeFiles: { length: 2 },
      isEachSettled: true,
      finished: 1,
    },
    make: () => makeImport(owner, git.remote, { withLargeFiles: true }),
    advance: (importId, ctx) => advance(importId, git.remote, new DataReader(data), ctx),
  };
}

/** Imports of an export of this service. */
async function makeExportWay(): Promise<Way> {
  const { owner, repo } = await makeWholeRepository();
  const bytes = await exportBytes(repo, owner);
  return {
    holds: { isEachSettled: true, fileIsKept: false, finished: 1 },
    make: () => makeExportImport(owner, bytes),
    advance: (importId, ctx = systemCtx({}, Date.now())) => advanceImport(ctx, importId),
  };
}

/** Goes on with an import as the schedule does, until it is done. */
async function goOn(importId: number, way: Way): Promise<void> {
  for (let round = 0; round < 5; round++) {
    const { state } = await findImportRow(importId);
    if (state === "done") return;
    // As time passes: the dead job's lease ends, and the wait after a failure.
    await db
      .update(imports)
      .set({ leasedUntil: 0, dueAt: 1, ...(state === "failed" && { state: "running" }) })
      .where(eq(imports.id, importId));
    await way.advance(importId);
  }
}

/** The context of a job of which one call fails. */
function failingCtx(fault: Fault) {
  const faults = failing(fault);
  const ctx = systemCtx(faults.bindings, Date.now());
  return { faults, ctx: { ...ctx, outgoing: faults.outgoingOf(ctx.outgoing) } };
}

describe("an import whose job dies", () => {
  // The calls to the database, the bucket, the repository's object and other hosts.
  it.each([
    ["of a project elsewhere", makeForgeWay],
    ["of an export", makeExportWay],
  ])(
    "%s is continued at every call, and ends as if nothing had happened",
    { timeout: 1_800_000 },
    async (_, makeWay) => {
      const way = await makeWay();
      const whole = await way.make();
      await way.advance(whole.importId);
      const expected = await contentOf(whole.repo.id);
      expect(expected).toMatchObject(way.holds);

      const run = async (fault: Fault) => {
        const { repo, importId } = await way.make();
        const { faults, ctx } = failingCtx(fault);
        await way.advance(importId, ctx).catch(() => undefined);
        await goOn(importId, way);
        expect(await contentOf(repo.id), JSON.stringify(fault)).toEqual(expected);
        return faults;
      };
      expect(await failCalls(run, { isLong: true })).toBeGreaterThan(40);
    },
  );

  it("waits out rate limits and failures at every tenth answer", async () => {
    const owner = await make.user();
    const git = await makeForeignGit();
    const data = { ...makeForeignData(git), pageSize: 1 };
    const expected = await makeWhole(owner, git, data);
    const { repo, importId } = await makeImport(owner, git.remote);

    for (let attempt = 0; attempt < 30; attempt++) {
      const reader = new FailingReader(data);
      await advance(importId, git.remote, reader);
      const { state, lastError, dueAt } = await findImportRow(importId);
      if (state === "done") break;
      expect(state).toBe("waiting");
      expect(lastError).toMatch(/rate limitation|Migration failed: the server fails/);
      expect(dueAt).toBeGreaterThan(Date.now());
      await db.update(imports).set({ dueAt: 1 }).where(eq(imports.id, importId));
    }

    expect(await contentOf(repo.id)).toEqual(expected);
  });
});

/** Fails at each tenth answer, in turn by a rate limit and by itself. */
class FailingReader extends DataReader {
  private asked = 0;

  override async readPage(...args: Parameters<DataReader["readPage"]>) {
    this.asked++;
    if (this.asked % 20 === 10) {
      throw new RemoteFailure("rate_limited", "too many", Date.now() + 60_000);
    }
    if (this.asked % 10 === 0) throw new RemoteFailure("server", "the server fails");
    return super.readPage(...args) as never;
  }
}

/** Fewer items: each call of an import is one run of the whole of it. */
const makeSmall = (data: ForeignData): ForeignData => ({
  ...data,
  pageSize: 20,
  issues: data.issues.slice(0, 3),
  comments: data.comments.filter(({ number }) => number === 1 || number === 21),
});

/** Files of Git LFS, which a branch of their own names. */
async function addLargeFiles({ remote }: ForeignGit): Promise<void> {
  const files = ["one", "two"].map((text) => makeLargeFile(text.repeat(1000)));
  const pointers = files.map((file, at) => {
    const text = pointerTo(file);
    return `M 100644 inline ${at}.bin\ndata ${text.length}\n${text}\n`;
  });
  const commit = `commit refs/heads/large\ncommitter C <c@example.com> 1600000000 +0000\ndata 5\nlarge\n`;
  await remote.git(["fast-import", "--quiet"], `${commit}${pointers.join("")}`);
  const served = files.map(({ oid, bytes }) => [oid, formatBase64(bytes)]);
  await remote.lfs({ files: Object.fromEntries(served) });
}

/** What a whole import of a project elsewhere writes. */
async function makeWhole(owner: TestUser, git: ForeignGit, data: ForeignData) {
  const { repo, importId } = await makeImport(owner, git.remote);
  await advance(importId, git.remote, new DataReader(data));
  return contentOf(repo.id);
}
