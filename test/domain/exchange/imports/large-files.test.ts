import { describe, expect, it } from "vitest";
import { eq } from "drizzle-orm";

import { imports, type ImportOptions, repositories } from "../../../../src/db/schema/index.ts";
import { advanceImport } from "../../../../src/domain/exchange/imports/advance-import.ts";
import { sealImportPassword } from "../../../../src/domain/exchange/imports/open-import.ts";
import { syncParts } from "../../../../src/domain/exchange/imports/sync-parts.ts";
import { formatBase64 } from "../../../../src/lib/base64.ts";
import { db } from "../../../support/db.ts";
import { advance, DataReader, findImportRow, makeImport } from "../../../support/imports.ts";
import {
  fetchObject,
  lfsSizeOf,
  looseOf,
  makeLargeFile,
  objectsOf,
  pointerTo,
  type TestFile,
} from "../../../support/large-files.ts";
import type { LfsFiles } from "../../../support/fake-lfs-server.ts";
import { make } from "../../../support/make.ts";
import { makePullMirror } from "../../../support/mirror-rows.ts";
import { syncFrom } from "../../../support/mirrors.ts";
import { type GitRemote, makeRemote } from "../../../support/remotes.ts";
import { SEALING_KEYS } from "../../../support/sealing.ts";
import { systemCtx } from "../../../support/system.ts";

const silent = { REMOTE_JOBS: { sendBatch: () => Promise.resolve() } as never };
/** None of its lists has an item. */
const reader = new DataReader({
  pageSize: 1,
  labels: [],
  milestones: [],
  issues: [],
  pulls: [],
  comments: [],
  reviews: [],
  releases: [],
});

/** A commit with a pointer to each file, as git-lfs makes it. */
function commitOf(files: readonly TestFile[], at: number): string {
  const pointers = files.map((file, index) => {
    const text = pointerTo(file);
    return `M 100644 inline large-${at}-${index}.bin\ndata ${text.length}\n${text}\n`;
  });
  return `commit refs/heads/main
committer C <c@example.com> ${1_600_000_000 + at} +0000
data 4
more
${at > 0 ? "from refs/heads/main^0\n" : ""}${pointers.join("")}`;
}

const served = (files: readonly TestFile[]): LfsFiles["files"] =>
  Object.fromEntries(files.map(({ oid, bytes }) => [oid, formatBase64(bytes)]));

const makeFiles = (count: number): TestFile[] =>
  Array.from({ length: count }, (_, at) => makeLargeFile(`file ${at} ${crypto.randomUUID()}`));

/** A remote whose history names the files, and an import of it that wants them. */
async function makeLargeImport(
  files: readonly TestFile[],
  state: Partial<LfsFiles> = {},
  options: Partial<ImportOptions> = {},
) {
  const owner = await make.user();
  const remote = await makeRemote();
  await remote.git(["fast-import", "--quiet"], commitOf(files, 0));
  await remote.lfs({ files: served(files), ...state });
  const made = await makeImport(owner, remote, { parts: [], withLargeFiles: true, ...options });
  return { ...made, remote, owner };
}

async function goOn(importId: number, remote: GitRemote): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const { state } = await findImportRow(importId);
    if (state === "done" || state === "failed") return;
    await db.update(imports).set({ dueAt: 1 }).where(eq(imports.id, importId));
    await advance(importId, remote, reader, systemCtx(silent, Date.now()));
  }
}

const oidsOf = async (repo: { id: number }) => (await objectsOf(repo)).map(({ oid }) => oid);
const sorted = (files: readonly TestFile[]) => files.map(({ oid }) => oid).toSorted();
const batchesOf = async (remote: GitRemote) =>
  (await remote.journal()).filter(({ path }) => path.endsWith("/batch"));

describe("the large files of an import", () => {
  it("come with it, as the history names them", async () => {
    const files = makeFiles(60);
    const { repo, importId, remote } = await makeLargeImport(files);
    await goOn(importId, remote);

    expect(await findImportRow(importId)).toMatchObject({
      state: "done",
      notes: [],
      progress: { large_files: { done: 60 } },
    });
    expect(await oidsOf(repo)).toEqual(sorted(files));
    expect(await lfsSizeOf(repo)).toBe(files.reduce((sum, { size }) => sum + size, 0));
    const [first] = files as [TestFile];
    expect((await fetchObject(repo, first.oid)).bytes).toEqual(first.bytes);
    expect(await looseOf(repo)).toEqual([]);
    const batches = await batchesOf(remote);
    expect(batches.map(({ body }) => JSON.parse(body).objects.length)).toEqual([50, 10]);
    expect(batches[0]?.headers).toMatchObject({
      accept: "application/vnd.git-lfs+json",
      "content-type": "application/vnd.git-lfs+json",
    });
  });

  it("stay there where the import does not include them", async () => {
    const { repo, importId, remote } = await makeLargeImport(
      makeFiles(1),
      {},
      { withLargeFiles: false },
    );
    await goOn(importId, remote);

    expect(await findImportRow(importId)).toMatchObject({ state: "done", notes: [] });
    expect(await oidsOf(repo)).toEqual([]);
    expect(await batchesOf(remote)).toEqual([]);
  });

  // SECURITY: what a server sends is stored only if it is what its name says.
  it("are left out with a note where they can't be had, and the others come", async () => {
    const [good, missing, unmentioned, wrong, short, long, forbidden] = makeFiles(7) as [
      TestFile,
      TestFile,
      TestFile,
      TestFile,
      TestFile,
      TestFile,
      TestFile,
    ];
    const all = [good, missing, unmentioned, wrong, short, long, forbidden];
    const files = served(all);
    delete files[missing.oid];
    files[wrong.oid] = formatBase64(wrong.bytes.map((byte) => byte ^ 1));
    files[short.oid] = formatBase64(short.bytes.subarray(1));
    files[long.oid] = formatBase64(new Uint8Array([...long.bytes, 1]));
    const { repo, importId, remote } = await makeLargeImport(all, {
      files,
      unmentioned: [unmentioned.oid],
      statuses: { [forbidden.oid]: [403] },
    });
    await goOn(importId, remote);

    const { state, notes } = await findImportRow(importId);
    expect(state).toBe("done");
    expect(await oidsOf(repo)).toEqual([good.oid]);
    expect(new Set(notes)).toEqual(
      new Set([
        `the large file ${missing.oid} was left out: it is not there`,
        `the large file ${unmentioned.oid} was left out: it is not there`,
        `the large file ${wrong.oid} was left out: the content is not of ${wrong.size} bytes with the SHA-256 ${wrong.oid}`,
        `the large file ${short.oid} was left out: the content is not of ${short.size} bytes with the SHA-256 ${short.oid}`,
        expect.stringContaining(`the large file ${long.oid} was left out: `),
        `the large file ${forbidden.oid} was left out: the file was answered with 403`,
      ]),
    );
    expect(await lfsSizeOf(repo)).toBe(good.size);
  });

  it("are waited for while the other side fails, and left out after three attempts", async () => {
    const [slow, gone] = makeFiles(2) as [TestFile, TestFile];
    const { repo, importId, remote } = await makeLargeImport([slow, gone], {
      statuses: { batch: [503], [slow.oid]: [500], [gone.oid]: Array(9).fill(502) as number[] },
    });
    await advance(importId, remote, reader, systemCtx(silent, Date.now()));
    expect(await findImportRow(importId)).toMatchObject({
      state: "waiting",
      stage: "large_files",
      lastError: expect.stringContaining("large files were answered with 503"),
    });
    await goOn(importId, remote);

    expect(await findImportRow(importId)).toMatchObject({
      state: "done",
      notes: [`the large file ${gone.oid} was left out: the file was answered with 502`],
    });
    expect(await oidsOf(repo)).toEqual([slow.oid]);
  });

  it("wait until a limit of rates ends", async () => {
    const files = makeFiles(1);
    const { repo, importId, remote } = await makeLargeImport(files, { statuses: { batch: [429] } });
    await advance(importId, remote, reader, systemCtx(silent, Date.now()));
    const waiting = await findImportRow(importId);
    expect(waiting).toMatchObject({ state: "waiting", stage: "large_files" });
    expect(waiting.dueAt).toBeGreaterThan(Date.now() + 30_000);
    await goOn(importId, remote);

    expect(await oidsOf(repo)).toEqual(sorted(files));
  });

  it("are noted once where the other side has none", async () => {
    const files = makeFiles(1);
    const { repo, importId, remote } = await makeLargeImport(files, { statuses: { batch: [404] } });
    await goOn(importId, remote);

    expect(await findImportRow(importId)).toMatchObject({
      state: "done",
      notes: ["large files can't be had: they were answered with 404"],
    });
    expect(await oidsOf(repo)).toEqual([]);
  });
});

// SECURITY: credentials go to the host of the address and to no other.
it.each([false, true])(
  "the credentials of an import reach its own host alone, elsewhere: %s",
  async (isElsewhere) => {
    const files = makeFiles(1);
    const owner = await make.user();
    const remote = await makeRemote();
    await remote.git(["fast-import", "--quiet"], commitOf(files, 0));
    await remote.lfs({ files: served(files), isElsewhere });
    const ctx = systemCtx(silent, Date.now(), { SEALING_KEYS });
    const { repo, importId } = await makeImport(
      owner,
      remote,
      { parts: [], withLargeFiles: true },
      {
        service: "git",
        address: remote.url("auth"),
        username: "user",
        sealedPassword: await sealImportPassword(ctx, "s3cret, püre"),
      },
    );
    await advanceImport(ctx, importId);

    expect(await findImportRow(importId)).toMatchObject({ state: "done", notes: [] });
    expect(await oidsOf(repo)).toEqual(sorted(files));
    const journal = await remote.journal();
    const sentTo = (part: string) =>
      journal.filter(({ path }) => path.includes(part)).map(({ headers }) => headers);
    expect(sentTo("/batch")).toMatchObject([{ authorization: expect.stringMatching(/^Basic /) }]);
    const [file] = sentTo(`/lfs/${remote.name}/`) as [Record<string, string>];
    expect(file).toMatchObject({ "x-lfs-ticket": "1" });
    expect("authorization" in file).toBe(!isElsewhere);
  },
);

describe("the large files of a mirror", () => {
  it("follow those of the remote, and only new packs are looked through", async () => {
    const [first, second, late] = makeFiles(3) as [TestFile, TestFile, TestFile];
    const { repo, importId, remote } = await makeLargeImport([first]);
    await goOn(importId, remote);
    const mirror = await makePullMirror(repo, { address: remote.url(), withLargeFiles: true });
    const [row] = await db.select().from(repositories).where(eq(repositories.id, repo.id));
    const sync = async () => {
      await syncFrom(repo, remote.url());
      await syncParts(systemCtx(silent, Date.now()), { row } as never, mirror);
      await goOn(importId, remote);
    };
    await batchesOf(remote);

    await sync();
    expect(await batchesOf(remote)).toEqual([]);

    // What the other side has only later comes later.
    await remote.git(["fast-import", "--quiet"], commitOf([second, late], 1));
    await remote.lfs({
      files: served([second, late]),
      statuses: { [late.oid]: [500, 500, 500] },
    });
    await sync();
    expect(await findImportRow(importId)).toMatchObject({ state: "done", lastError: "" });
    expect(await oidsOf(repo)).toEqual(sorted([first, second]));

    await batchesOf(remote);
    await sync();
    expect(await oidsOf(repo)).toEqual(sorted([first, second, late]));
    expect((await batchesOf(remote)).map(({ body }) => JSON.parse(body).objects)).toEqual([
      [{ oid: late.oid, size: late.size }],
    ]);
    await sync();
    expect(await batchesOf(remote)).toEqual([]);
  });

  it("stay there where the mirror is of git alone", async () => {
    const [first, second] = makeFiles(2) as [TestFile, TestFile];
    const { repo, importId, remote } = await makeLargeImport(
      [first],
      {},
      { withLargeFiles: false },
    );
    await goOn(importId, remote);
    const mirror = await makePullMirror(repo, { address: remote.url() });
    const [row] = await db.select().from(repositories).where(eq(repositories.id, repo.id));
    await remote.git(["fast-import", "--quiet"], commitOf([second], 1));
    await remote.lfs({ files: served([second]) });
    await syncFrom(repo, remote.url());
    await syncParts(systemCtx(silent, Date.now()), { row } as never, mirror);
    await goOn(importId, remote);

    expect(await oidsOf(repo)).toEqual([]);
  });
});
