import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";

import { accountActor } from "../../../src/auth/actor.ts";
import type { Ctx } from "../../../src/context.ts";
import { openDatabase } from "../../../src/db/db.ts";
import {
  OWNER_PERMISSION,
  repositories,
  shardRepositories,
  type Issue,
  type Release,
  type Repository,
  type User,
} from "../../../src/db/schema/index.ts";
import type { Consequence, RecordedEvent } from "../../../src/events/consequence.ts";
import { WorkBudget } from "../../../src/lib/work-budget.ts";
import type { RepositoryContext } from "../../../src/shapes/repos/repository.ts";
import { copyAllTo } from "../../support/copies.ts";
import { db } from "../../support/db.ts";
import { makeIssue } from "../../support/issues.ts";
import { MAIL_SETTINGS, type Mailbox } from "../../support/mails.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeRelease } from "../../support/releases.ts";
import { systemCtx } from "../../support/system.ts";
import { migrate } from "../../support/migrate.ts";

// The first database is that of the Worker, so that accounts and repositories are made as everywhere.

const NOW = 1_700_000_000_000;
/** The bindings of the shards. */
export const SHARDS = { SHARD_1: env.SCENE_SHARD_1, SHARD_2: env.SCENE_SHARD_2 };

for (const shard of Object.values(SHARDS)) await migrate(shard);

/** The databases of the shards, by number. */
export const shards = new Map(
  Object.values(SHARDS).map((d1, at) => [at + 1, openDatabase(d1.withSession("first-primary"))]),
);
export const shardOf = (number: number) => shards.get(number) ?? db;

/** The context of a request of a user; about a repository if one is given. */
export function ctxOf(user?: User, repo?: Repository, bindings: { MAIL?: Mailbox } = {}): Ctx {
  const settings = { ...MAIL_SETTINGS, ROOT_URL: "https://forge.example" };
  const ctx = systemCtx({ ...SHARDS, ...bindings }, NOW, settings);
  return {
    ...ctx,
    ...(user && { actor: accountActor(user) }),
    ...(repo && { db: ctx.openShard(repo.shard) }),
  };
}

/** Brings the copies in the shards up to date. */
export const copyAll = (): Promise<void> => copyAllTo(ctxOf);

/** Puts a repository without own data into a shard, with a copy of what it refers to. */
export async function makeRepoIn(shard: number, owner: TestUser): Promise<TestRepo> {
  const repo = await make.repo(owner);
  // Enters the shards.
  await copyAll();
  if (shard !== 0) {
    await db.update(repositories).set({ shard }).where(eq(repositories.id, repo.id));
    await db.insert(shardRepositories).values({ shardId: shard, repoId: repo.id });
  }
  await copyAll();
  return { ...repo, shard };
}

let lastId = 100_000;
/** An id as a shard gives it: of none of the others. */
const idIn = ({ shard }: Repository): number => shard * 2 ** 40 + ++lastId;
/** The first database gives ids itself, to other tests as well. */
const givenId = (repo: Repository) => (repo.shard === 0 ? {} : { id: idIn(repo) });

export const makeIssueOf = (repo: Repository, fields: Partial<Issue> = {}): Promise<Issue> =>
  makeIssue(repo, { ...givenId(repo), ...fields }, shardOf(repo.shard));

export const makeReleaseOf = (repo: Repository, fields: Partial<Release> = {}): Promise<Release> =>
  makeRelease(repo, { ...givenId(repo), ...fields }, shardOf(repo.shard));

/** An event of a repository, with an id of its database. */
export const eventOf = (
  repo: Repository,
  by: Pick<User, "id">,
  event: Record<string, unknown>,
): RecordedEvent =>
  ({
    id: idIn(repo),
    actorId: by.id,
    createdAt: NOW,
    event: { ownerId: repo.ownerId, repoId: repo.id, ...event },
  }) as unknown as RecordedEvent;

/** Draws all steps of a consequence in the database of the event. */
export async function draw(
  consequence: Consequence,
  repo: Repository,
  event: RecordedEvent,
): Promise<void> {
  const budget = new WorkBudget(NOW, { ms: 60_000, statements: 1000 });
  let state: unknown;
  do state = await consequence.handle(ctxOf(undefined, repo), event, budget, state);
  while (state !== undefined);
}

/** A repository as its owner sees it. */
export const asOwner = (repo: Repository, owner: User): RepositoryContext => ({
  row: repo,
  owner,
  permission: OWNER_PERMISSION,
});
