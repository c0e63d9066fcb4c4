import { eq } from "drizzle-orm";
import { inject } from "vitest";

import { imports, type ImportOptions, repositories } from "../../src/db/schema/index.ts";
import type { Ctx } from "../../src/context.ts";
import type {
  ForeignComment,
  ForeignFilter,
  ForeignIssue,
  ForeignItems,
  ForeignKind,
  ForeignPage,
  ForeignProject,
  ForeignPull,
  ForeignUser,
  ForgeReader,
} from "../../src/forges/forge.ts";
import { storeLooseFile } from "../../src/domain/issues/attachments/receive-file.ts";
import { advanceImport } from "../../src/domain/exchange/imports/advance-import.ts";
import type { ImportSource } from "../../src/domain/exchange/imports/import-job.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { make, type TestRepo, type TestUser } from "./make.ts";
import { commitsOn, type GitRemote, makeRemote, openRemote } from "./remotes.ts";
import { systemCtx } from "./system.ts";

/** A project elsewhere, by kinds of items; pages have `pageSize` items. */
export type ForeignData = { [K in ForeignKind]: ForeignItems[K][] } & { pageSize: number };

/** A reader of a project in memory. `failures` are thrown first, one for each reading. */
export class DataReader implements ForgeReader {
  readonly service = "gitea";
  readonly data: ForeignData;
  readonly failures: Error[] = [];
  /** How many pages were read, by kind. */
  readonly reads: Partial<Record<ForeignKind | "project", number>> = {};
  readonly filters: ForeignFilter[] = [];

  constructor(data: ForeignData) {
    this.data = data;
  }

  async readProject(): Promise<ForeignProject> {
    this.count("project");
    return {
      description: "A garden 🌱",
      website: "https://garden.example/",
      topics: ["Plants", "no such topic!", "soil"],
      defaultBranch: "main",
      isPrivate: false,
      isArchived: false,
      cloneUrl: "https://forge.example/gardeners/app.git",
      htmlUrl: "https://forge.example/gardeners/app",
      tracksIssues: true,
      takesPulls: true,
    };
  }

  async readPage<K extends ForeignKind>(
    kind: K,
    cursor: string | undefined,
    filter: ForeignFilter,
  ): Promise<ForeignPage<ForeignItems[K]>> {
    this.count(kind);
    this.filters.push(filter);
    const at = Number(cursor ?? 0);
    const all = this.data[kind] as ForeignItems[K][];
    const end = at + this.data.pageSize;
    return {
      items: all.slice(at, end),
      next: end < all.length ? String(end) : undefined,
      total: all.length,
    };
  }

  headersFor(): Readonly<Record<string, string>> {
    return { "X-Reader": "1" };
  }

  private count(kind: ForeignKind | "project"): void {
    this.reads[kind] = (this.reads[kind] ?? 0) + 1;
    const failure = this.failures.shift();
    if (failure) throw failure;
  }
}

const START = Date.UTC(2020, 0, 1);
const HOUR = 3600_000;
const timeOf = (number: number): number => START + number * HOUR;

export const ada: ForeignUser = { id: 7, name: "Ada" };
export const brian: ForeignUser = { id: 8, name: "brian" };
const ghost: ForeignUser = { id: 0, name: "ghost" };

/** An issue with what tests do not care about filled in. */
export function foreignIssue(number: number, fields: Partial<ForeignIssue> = {}): ForeignIssue {
  const updatedAt = timeOf(number) + 1;
  return {
    kind: "issue",
    foreignId: `i${number}`,
    number,
    poster: number % 3 === 0 ? ghost : ada,
    title: `Issue ${number}`,
    body: `Körper ${number}: see #1`,
    ref: "",
    labelIds: [],
    milestoneId: null,
    assignees: [],
    reactions: [],
    isLocked: false,
    isClosed: number % 2 === 0,
    closedAt: number % 2 === 0 ? updatedAt : null,
    deadlineAt: null,
    createdAt: timeOf(number),
    updatedAt,
    ...fields,
  };
}

export function foreignPull(
  number: number,
  fields: Pick<ForeignPull, "head" | "base"> & Partial<ForeignPull>,
): ForeignPull {
  return {
    ...foreignIssue(number),
    isClosed: false,
    closedAt: null,
    kind: "pull",
    title: `Pull ${number}`,
    headRef: `refs/pull/${number}/head`,
    mergeBaseOid: "",
    allowMaintainerEdit: false,
    mergedAt: null,
    merger: null,
    mergeCommitOid: "",
    ...fields,
  };
}

export const foreignComment = (
  id: number,
  number: number,
  fields: Partial<ForeignComment> = {},
): ForeignComment => ({
  kind: "comment",
  foreignId: String(id),
  number,
  poster: brian,
  body: `Comment ${id}`,
  reactions: [],
  createdAt: timeOf(number) + id,
  updatedAt: timeOf(number) + id,
  ...fields,
});

/**
 * A repository with branches `main` and `feature`, a merged branch, a tag, and the heads of its
 * pull requests.
 */
export async function makeForeignGit() {
  const remote = await makeRemote();
  await remote.git(["fast-import", "--quiet"], commitsOn("main", 6));
  await remote.git(["fast-import", "--quiet"], commitsOn("feature", 2, 0, "refs/heads/main~2"));
  await remote.git(["fast-import", "--quiet"], commitsOn("fork", 3, 0, "refs/heads/main"));
  await remote.git(["tag", "v1", "main~1"]);
  const refs = await remote.refs();
  const featureOid = refs["refs/heads/feature"] ?? "";
  const forkOid = refs["refs/heads/fork"] ?? "";
  const mainOid = refs["refs/heads/main"] ?? "";
  const oldOid = await remote.git(["rev-parse", "main~3"]);
  await remote.git(["update-ref", "refs/pull/21/head", featureOid]);
  await remote.git(["update-ref", "refs/pull/22/head", forkOid]);
  // The heads of forks have no branch there.
  await remote.git(["update-ref", "-d", "refs/heads/fork"]);
  return { remote, featureOid, forkOid, mainOid, oldOid };
}
export type ForeignGit = Awaited<ReturnType<typeof makeForeignGit>>;

/** A project with something of everything, and more pages than one of most. */
export function makeForeignData(git: ForeignGit): ForeignData {
  const { featureOid, forkOid, mainOid, oldOid } = git;
  const name = (git.remote.name ?? "").replace(/\.git$/, "");
  const own = `git/${name}`;
  const base = { branch: "main", oid: mainOid, repository: own };
  const [receiver] = inject("receivers");
  return {
    pageSize: 5,
    labels: ["bug", "kind/feature", "kind/docs", "wontfix", "help", "ünï", "old"].map(
      (label, at) => ({
        foreignId: String(100 + at),
        name: label,
        color: "AABB0" + at,
        description: `Label ${label}`,
        isExclusive: label.includes("/"),
        isArchived: label === "old",
      }),
    ),
    milestones: [1, 2].map((at) => ({
      foreignId: String(at),
      title: `M${at}`,
      description: "Soon",
      deadlineAt: timeOf(1000),
      isClosed: at === 2,
      closedAt: at === 2 ? timeOf(900) : null,
      createdAt: timeOf(at),
      updatedAt: timeOf(at) + 5,
    })),
    issues: Array.from({ length: 12 }, (_, at) =>
      foreignIssue(at + 1, {
        labelIds: at === 0 ? ["100", "101"] : at % 4 === 0 ? ["103"] : [],
        milestoneId: at < 3 ? "1" : null,
        isLocked: at === 4,
        deadlineAt: at === 5 ? timeOf(2000) : null,
        assignees: at === 0 ? [ada, brian] : [],
        reactions: at === 0 ? [{ user: ada, content: "heart" }] : [],
      }),
    ),
    pulls: [
      foreignPull(20, {
        head: { branch: "gone", oid: oldOid, repository: "" },
        base,
        headRef: "",
        isClosed: true,
        closedAt: timeOf(21),
        mergedAt: timeOf(21),
        merger: brian,
        mergeCommitOid: oldOid,
      }),
      foreignPull(21, {
        head: { branch: "feature", oid: featureOid, repository: own },
        base,
        labelIds: ["101"],
      }),
      foreignPull(22, {
        head: { branch: "main", oid: forkOid, repository: "brian/app" },
        base,
        title: "WIP: from a fork",
      }),
    ],
    comments: [
      ...Array.from({ length: 7 }, (_, at) => foreignComment(at + 1, 1)),
      foreignComment(8, 21, { reactions: [{ user: ada, content: "+1" }] }),
      foreignComment(9, 12),
      // Of an issue that is not there.
      foreignComment(10, 99),
    ],
    reviews: [
      {
        foreignId: "r1",
        number: 21,
        reviewer: brian,
        state: "approved",
        isDismissed: false,
        isOfficial: true,
        body: "Fine",
        commitOid: featureOid,
        createdAt: timeOf(30),
        comments: [],
      },
      {
        foreignId: "r2",
        number: 21,
        reviewer: ada,
        state: "comment",
        isDismissed: false,
        isOfficial: false,
        body: "",
        commitOid: featureOid,
        createdAt: timeOf(31),
        comments: ["c1", "c2", "c3"].map((foreignId, at) => ({
          foreignId,
          answersId: at === 2 ? "c2" : at === 1 ? "c1" : "",
          poster: at === 1 ? brian : ada,
          body: `On code ${at}`,
          path: "dir0/file-0.txt",
          line: 1,
          isOnOldSide: false,
          commitOid: featureOid,
          hunk: "@@ -0,0 +1 @@\n+content 0 of feature",
          isResolved: at === 0,
          reactions: [],
          createdAt: timeOf(31) + at,
          updatedAt: timeOf(31) + at,
        })),
      },
    ],
    releases: [
      {
        foreignId: "50",
        tagName: "v1",
        target: "main",
        title: "One",
        body: "The first",
        isDraft: false,
        isPrerelease: false,
        publisher: ada,
        createdAt: timeOf(40),
        assets: ["a.txt", "b.txt"].map((file, at) => ({
          foreignId: `a${at}`,
          name: file,
          sizeBytes: null,
          downloadCount: 3 + at,
          createdAt: timeOf(40) + at,
          url: `${receiver}/echo?${file}`,
        })),
      },
      {
        foreignId: "51",
        tagName: "v2",
        target: "main",
        title: "Two",
        body: "",
        isDraft: true,
        isPrerelease: true,
        publisher: ghost,
        createdAt: timeOf(41),
        assets: [],
      },
    ],
  };
}

export const ALL_PARTS: ImportOptions["parts"] = [
  "labels",
  "milestones",
  "issues",
  "pulls",
  "releases",
];

/** A repository that is being migrated, by rows. */
export async function makeImport(
  owner: TestUser,
  remote: GitRemote,
  options: Partial<ImportOptions> = {},
  fields: Partial<typeof imports.$inferInsert> = {},
): Promise<{ repo: TestRepo; importId: number }> {
  const repo = await make.repo(owner);
  const address = remote.url();
  await db
    .update(repositories)
    .set({ origin: { url: address, import: "running" } })
    .where(eq(repositories.id, repo.id));
  const created = await db
    .insert(imports)
    .values({
      repoId: repo.id,
      doerId: owner.id,
      service: "gitea",
      address,
      options: {
        parts: ALL_PARTS,
        withLargeFiles: false,
        largeFilesUrl: "",
        authors: {},
        ...options,
      },
      dueAt: 1,
      createdAt: 1000,
      ...fields,
    })
    .returning();
  return { repo, importId: only(created).id };
}

/** A repository that is being imported from an export, by rows and its file. */
export async function makeExportImport(
  owner: TestUser,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<{ repo: TestRepo; importId: number }> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  const ctx = systemCtx({}, Date.now());
  const { uuid, sizeBytes } = await storeLooseFile(ctx, pieces(), bytes.length);
  const repo = await make.repo(owner);
  await db
    .update(repositories)
    .set({ origin: { url: "", import: "running" } })
    .where(eq(repositories.id, repo.id));
  const created = await db
    .insert(imports)
    .values({
      repoId: repo.id,
      doerId: owner.id,
      service: "bundle",
      address: "",
      options: {
        parts: ALL_PARTS,
        withLargeFiles: true,
        largeFilesUrl: "",
        authors: {},
        file: { uuid, sizeBytes },
      },
      dueAt: 1,
      createdAt: 1000,
    })
    .returning();
  return { repo, importId: only(created).id };
}

/** The source of a test's import. */
export const sourceOf = (ctx: Ctx, remote: GitRemote, reader: ForgeReader): ImportSource => ({
  remote: openRemote(ctx, remote.url()),
  reader,
  authorizationFor: () => ({}),
});

/** Works on an import once, with the context of a job. */
export async function advance(
  importId: number,
  remote: GitRemote,
  reader: ForgeReader,
  ctx: Ctx = systemCtx({}, Date.now()),
): Promise<void> {
  await advanceImport(ctx, importId, async () => sourceOf(ctx, remote, reader));
}

export const findImportRow = async (importId: number) =>
  only(await db.select().from(imports).where(eq(imports.id, importId)));

/** The import of a repository, which is at work on nothing by itself; once for each repository. */
export async function makeImportRow(
  repo: Pick<TestRepo, "id" | "ownerId">,
  fields: Partial<typeof imports.$inferInsert> = {},
): Promise<void> {
  await db
    .insert(imports)
    .values({
      repoId: repo.id,
      doerId: repo.ownerId,
      service: "git",
      address: "http://127.0.0.1:48999/a/b.git",
      options: { parts: [], withLargeFiles: false, largeFilesUrl: "", authors: {} },
      state: "waiting",
      dueAt: Date.now() + 3600_000,
      createdAt: 1000,
      ...fields,
    })
    .onConflictDoNothing();
}
