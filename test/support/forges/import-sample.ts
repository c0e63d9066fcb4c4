import { and, eq } from "drizzle-orm";

import { type Import, imports, repositories } from "../../../src/db/schema/index.ts";
import { advanceImport } from "../../../src/domain/exchange/imports/advance-import.ts";
import { runRemoteJob } from "../../../src/jobs/remote-jobs.ts";
import { only } from "../../../src/lib/only.ts";
import { call } from "../call.ts";
import { db } from "../db.ts";
import { findImportRow } from "../imports.ts";
import { freshName, type TestUser } from "../make.ts";
import { GitRemote } from "../remotes.ts";
import { SEALING_KEYS } from "../sealing.ts";
import { serviceWith } from "../service.ts";
import { systemCtx } from "../system.ts";

const silent = { sendBatch: () => Promise.resolve() } as never;
const SETTINGS = { SEALING_KEYS };
/** The service of which no job runs by itself, and which waits for none. */
export const service = serviceWith(
  { ...SETTINGS, MIGRATION_WAIT_SECONDS: "0" },
  { REMOTE_JOBS: silent },
);

const blob = (path: string, text: string): string =>
  `M 100644 inline ${JSON.stringify(path)}\ndata ${text.length}\n${text}\n`;

/**
 * A repository with branches `main` and `feature`, which change a file in line 2, a merged fix, and
 * heads of pull requests.
 *
 * @param heads The refs of heads by the commit that they are at.
 */
export async function makeProjectGit(
  name: string,
  path: string,
  heads: Readonly<Record<"feature" | "fix", readonly string[]>>,
) {
  const remote = new GitRemote(`${name}.git`);
  await remote.git(["init", "--quiet", "--bare", "--initial-branch=main", remote.name]);
  const commit = (branch: string, at: number, more: string): string =>
    `commit refs/heads/${branch}
committer C <c@example.com> ${1_600_000_000 + at} +0000
data ${branch.length}
${branch}
${more}`;
  const stream = [
    commit("main", 0, blob(path, "one\ntwo\n")),
    commit("feature", 1, `from refs/heads/main\n${blob(path, "one\n2\n")}`),
    commit("fix", 2, `from refs/heads/main\n${blob("fix.txt", "fixed\n")}`),
    commit("main", 3, blob("other.txt", "other\n")),
    commit("main", 4, `merge refs/heads/fix\n${blob("fix.txt", "fixed\n")}`),
  ];
  await remote.git(["fast-import", "--quiet"], stream.join(""));
  const refs = await remote.refs();
  const oidOf = (branch: string): string => refs[`refs/heads/${branch}`] ?? "";
  const oids = {
    base: await remote.git(["merge-base", "main", "feature"]),
    feature: oidOf("feature"),
    fix: oidOf("fix"),
    merge: oidOf("main"),
  };
  for (const key of ["feature", "fix"] as const) {
    for (const ref of heads[key]) await remote.git(["update-ref", ref, oids[key]]);
  }
  // Merged branches are deleted there.
  await remote.git(["update-ref", "-d", "refs/heads/fix"]);
  return { remote, oids };
}

/** What one message of an import has used. */
export interface MessageUsage {
  readonly statements: number;
  readonly requests: number;
}

/** Where an import is, and whose. */
interface At {
  readonly path: string;
  readonly owner: TestUser;
}

/** What a test does while an import goes on. */
export interface Hooks {
  /** Called after each message, of which there are as many as the import needs. */
  onMessage?(used: MessageUsage): void;
  /** Called before each time that it goes on. */
  onWait?(row: Import, at: At): Promise<unknown>;
}

/**
 * How often an import may be woken: more than there are failures in a row, and messages of a large
 * project.
 */
const WAKES_MAX = 1000;

/**
 * Asks for the migration of a whole project by the API, and works on it until it ends; waits
 * between attempts are left out.
 *
 * @param owner An administrator, who may map authors.
 */
export async function importSample(
  owner: TestUser,
  sent: {
    service: string;
    clone_addr: string;
    auth_token?: string;
    authors: Readonly<Record<string, string>>;
  },
  hooks: Hooks = {},
) {
  const name = freshName("moved");
  const { status, body } = await service("POST", "/repos/migrate", {
    as: owner,
    json: {
      ...sent,
      repo_name: name,
      labels: true,
      milestones: true,
      issues: true,
      // Without effect, as in Gitea: comments come with their issues.
      comments: false,
      pull_requests: true,
      releases: true,
    },
  });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  const [repo] = await db
    .select({ id: repositories.id })
    .from(repositories)
    .where(and(eq(repositories.ownerId, owner.id), eq(repositories.name, name)));
  const { id } = only(
    await db
      .select({ id: imports.id })
      .from(imports)
      .where(eq(imports.repoId, repo?.id ?? 0)),
  );
  const path = `/repos/${owner.name}/${name}`;
  const at = { path, owner };
  const errors = new Set<string>();
  await finish(id, at, hooks, errors);
  /** Continues the import with a token. */
  const goOn = async (token: string) => {
    const json = { auth_token: token };
    const asked = await service("POST", `${path}/migration/continue`, { as: owner, json });
    if (asked.status !== 202) throw new Error(`${asked.status} ${JSON.stringify(asked.body)}`);
    await finish(id, at, hooks, errors);
    return findImportRow(id);
  };
  /** Synchronizes a mirror, with all that it keeps in step. */
  const sync = async () => {
    const asked = await service("POST", `${path}/mirror-sync`, { as: owner });
    if (asked.status !== 200) throw new Error(`${asked.status} ${JSON.stringify(asked.body)}`);
    const ctx = systemCtx({ REMOTE_JOBS: silent }, Date.now(), SETTINGS);
    await runRemoteJob(ctx, { kind: "pull-mirror", repoId: repo?.id ?? 0 });
    await finish(id, at, hooks, errors);
    return findImportRow(id);
  };
  const get = async (rest: string) => (await call("GET", `${path}${rest}`, { as: owner })).body;
  /** All pages of a list. */
  const list = async (rest: string) => {
    const all = [];
    for (let page = 1; ; page++) {
      const query = `${rest}${rest.includes("?") ? "&" : "?"}limit=50&page=${page}`;
      const items = await get(query);
      all.push(...items);
      if (items.length < 50) return all;
    }
  };
  return { row: await findImportRow(id), errors, get, list, sync, goOn };
}

/** Works on an import until it ends, without its waits. */
async function finish(id: number, at: At, hooks: Hooks, errors: Set<string>): Promise<void> {
  for (let wakes = 1; wakes <= WAKES_MAX; wakes++) {
    const ctx = systemCtx({ REMOTE_JOBS: silent }, Date.now(), SETTINGS);
    await advanceImport(ctx, id);
    hooks.onMessage?.({
      statements: ctx.db.statementCount,
      requests: ctx.outgoing.requestCount,
    });
    const row = await findImportRow(id);
    if (row.lastError !== "") errors.add(row.lastError);
    if (row.state !== "running" && row.state !== "waiting") return;
    await hooks.onWait?.(row, at);
    await db.update(imports).set({ dueAt: 1 }).where(eq(imports.id, id));
  }
}

type Fields = Record<string, unknown>;

/** Some fields of an object, for comparisons. */
export const pick =
  (...names: string[]) =>
  (object: Fields): Fields =>
    Object.fromEntries(names.map((name) => [name, object[name]]));

/**
 * The imported items without ids, as the API returns them. @param pull A pull request with reviews.
 */
export async function readBack(
  { get, list, row }: Awaited<ReturnType<typeof importSample>>,
  pull: number,
) {
  const reviews = await list(`/pulls/${pull}/reviews`);
  const releases = await list("/releases");
  const onCode = [];
  for (const { id } of reviews)
    onCode.push(...(await get(`/pulls/${pull}/reviews/${id}/comments`)));
  return {
    state: row.state,
    notes: row.notes,
    progress: row.progress,
    labels: (await list("/labels")).map(pick("name", "color", "description")),
    milestones: (await list("/milestones?state=all")).map(
      pick("title", "state", "open_issues", "closed_issues"),
    ),
    issues: (await list("/issues?state=all&type=all&sort=oldest")).map(
      pick("number", "title", "body", "state", "comments", "original_author", "updated_at"),
    ),
    comments: (await list("/issues/comments")).map(pick("body", "original_author", "created_at")),
    reactions: (await get(`/issues/${pull}/reactions`)).map(pick("content")),
    reviews: reviews.map(pick("state", "body", "dismissed", "comments_count", "submitted_at")),
    onCode: onCode.map(pick("body", "path", "position", "original_position", "diff_hunk")),
    releases: releases.map(pick("tag_name", "name", "body", "draft")),
    assets: releases.map(({ assets }) => assets.map(pick("name", "size", "download_count"))),
  };
}
