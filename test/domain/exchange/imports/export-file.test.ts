import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  attachmentLooseFiles,
  foreignItems,
  imports,
  issues,
  pulls,
} from "../../../../src/db/schema/index.ts";
import { removeLooseAttachments } from "../../../../src/domain/issues/attachments/remove-loose-attachments.ts";
import { GIT_BUNDLE } from "../../../../src/domain/exchange/exports/export-files.ts";
import { advanceImport } from "../../../../src/domain/exchange/imports/advance-import.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { bundleOf, makeBundle, makeExport, type MadeFiles } from "../../../support/exports.ts";
import {
  findImportRow,
  foreignIssue,
  foreignPull,
  makeExportImport,
} from "../../../support/imports.ts";
import { make } from "../../../support/make.ts";
import { namedRefs } from "../../../support/mirrors.ts";
import { systemCtx } from "../../../support/system.ts";

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;

/** The import of an export with some files, which no job has worked on yet. */
async function makeStarted(files: MadeFiles = {}) {
  const owner = await make.user();
  const bytes = new Uint8Array(await makeExport(files).arrayBuffer());
  const { repo, importId } = await makeExportImport(owner, bytes);
  const uuid = (await findImportRow(importId)).options.file?.uuid ?? "";
  const isNote = eq(attachmentLooseFiles.uuid, uuid);
  return {
    owner,
    repo,
    importId,
    path: `/repos/${owner.name}/${repo.name}/migration`,
    work: (now = Date.now()) => advanceImport(systemCtx({}, now), importId),
    note: async () => (await db.select().from(attachmentLooseFiles).where(isNote))[0],
    expireIn: (ms: number) =>
      db
        .update(attachmentLooseFiles)
        .set({ expiresAt: Date.now() + ms })
        .where(isNote),
    /** Runs the job that removes files, some time from now. */
    sweep: (ms: number) => removeLooseAttachments(systemCtx({}, Date.now() + ms)),
    isStored: async () => (await env.PACKS.list()).objects.some(({ key }) => key.includes(uuid)),
  };
}

const BROKEN = { "issues/000001.json": "[" };

describe("the file of an export", () => {
  it("is kept for a week after a job was at work, and removed after that", async () => {
    const started = await makeStarted(BROKEN);
    await started.expireIn(HOUR_MS);

    await started.work();

    expect(await findImportRow(started.importId)).toMatchObject({
      state: "failed",
      lastError:
        "Migration failed: the file is no export of this service: issues/000001.json is no JSON.",
    });
    const { expiresAt = 0 } = (await started.note()) ?? {};
    expect(expiresAt).toBeGreaterThan(Date.now() + 6.9 * DAY_MS);
    await started.sweep(6.9 * DAY_MS);
    expect(await started.isStored()).toBe(true);
    await started.sweep(8 * DAY_MS);
    expect(await started.isStored()).toBe(false);
  });

  it("is removed soon after the import is done", async () => {
    const started = await makeStarted();
    expect(await started.isStored()).toBe(true);

    await started.work();

    expect(await findImportRow(started.importId)).toMatchObject({ state: "done", notes: [] });
    await started.sweep(0);
    expect(await started.isStored()).toBe(false);
  });

  it("lets a failed or cancelled import go on while it is there", async () => {
    const started = await makeStarted();
    expect((await call("POST", `${started.path}/cancel`, { as: started.owner })).status).toBe(200);
    await started.expireIn(HOUR_MS);

    const { status, body } = await call("POST", `${started.path}/continue`, {
      as: started.owner,
      json: {},
    });
    await started.work();

    expect({ status, body }).toMatchObject({ status: 202, body: { state: "running" } });
    expect(await findImportRow(started.importId)).toMatchObject({ state: "done" });
  });

  it("ends the import with a reason when it is gone, and can't be continued then", async () => {
    const started = await makeStarted();
    await started.expireIn(-2000);

    await started.work();

    expect(await findImportRow(started.importId)).toMatchObject({
      state: "failed",
      lastError: "Migration failed: the export is no longer here: import it anew.",
    });
    const before = await findImportRow(started.importId);
    const answer = await call("POST", `${started.path}/continue`, { as: started.owner, json: {} });
    expect(answer).toMatchObject({
      status: 409,
      body: { message: "the export is no longer here: import it anew" },
    });
    expect(await findImportRow(started.importId)).toEqual(before);
  });
});

describe("an export that anybody may have written", () => {
  const { pack, oid } = makeBundle();
  const side = { branch: "main", oid, repository: "a/b" };
  const lines = ["heads/main", "pull/2/head", "pull/x/head", "for/main", "tags/v1"];
  const bundle = bundleOf(lines.map((name) => `${oid} refs/${name}\n`).join(""), pack);

  it("has no other refs of pull requests than their heads", async () => {
    const { repo, work } = await makeStarted({ [GIT_BUNDLE]: bundle });

    await work();

    const names = ["refs/heads/main", "refs/pull/2/head", "refs/tags/v1"];
    expect(Object.keys(await namedRefs(repo)).toSorted()).toEqual(names);
  });

  it("gives each number, and each id, to the first item that has it", async () => {
    const issue = foreignIssue(1, { foreignId: "1" });
    const { repo, work, importId } = await makeStarted({
      [GIT_BUNDLE]: bundle,
      "issues/000001.json": [issue],
      "issues/000002.json": [
        foreignIssue(1, { foreignId: "2", title: "the same number" }),
        foreignIssue(3, { foreignId: "1", title: "the same id" }),
      ],
      "pulls/000001.json": [
        foreignPull(1, { foreignId: "3", head: side, base: side, title: "the same number" }),
        foreignPull(2, { foreignId: "4", head: side, base: side, labelIds: ["77"] }),
      ],
      "other/000001.json": "nothing refers to it",
    });

    await work();

    expect(await findImportRow(importId)).toMatchObject({ state: "done", lastError: "" });
    const rows = await db.select().from(issues).where(eq(issues.repoId, repo.id));
    expect(rows.map(({ number, title }) => [number, title])).toEqual([
      [1, issue.title],
      [2, "Pull 2"],
    ]);
    expect(await db.select().from(pulls).where(eq(pulls.repoId, repo.id))).toHaveLength(1);
    const isOpen = and(eq(foreignItems.repoId, repo.id), eq(foreignItems.revision, "*"));
    expect(await db.select().from(foreignItems).where(isOpen)).toEqual([]);
  });

  it("is refused without one of its pages", async () => {
    const { importId, work } = await makeStarted({
      "issues/000001.json": [foreignIssue(1)],
      "issues/000003.json": [foreignIssue(2)],
    });

    await work();

    expect(await findImportRow(importId)).toMatchObject({
      state: "failed",
      lastError: expect.stringContaining("issues/000002.json is missing"),
    });
  });

  // The archive is small, and what it unpacks to would be stored.
  it("can't fill the bucket with little", async () => {
    const assets = [1, 2].map((at) => [`assets/${at}`, "a".repeat(64 * 1024 * 1024)]);
    const { importId, work } = await makeStarted(Object.fromEntries(assets));

    await work();

    expect(await findImportRow(importId)).toMatchObject({
      state: "failed",
      lastError: expect.stringContaining("unpack"),
    });
  });

  it("ends by the right of its doer to the repository", async () => {
    const { importId, work } = await makeStarted();
    const stranger = await make.user();
    await db.update(imports).set({ doerId: stranger.id }).where(eq(imports.id, importId));

    await work();

    expect(await findImportRow(importId)).toMatchObject({
      state: "failed",
      lastError: "who asked for it may no longer administer the repository",
    });
  });
});
