import { eq } from "drizzle-orm";

import {
  events,
  OWNER_PERMISSION,
  repositories,
  type User,
  users,
} from "../../src/db/schema/index.ts";
import {
  type FetchedRemote,
  type FetchRemotePlan,
  fetchRemote,
} from "../../src/domain/exchange/remotes/fetch-remote.ts";
import {
  type PushedRemote,
  type PushRemotePlan,
  pushRemote,
} from "../../src/domain/exchange/remotes/push-remote.ts";
import { type ByteText, decodeText } from "../../src/git/byte-text.ts";
import { RemoteFailure } from "../../src/outgoing/remote-failure.ts";
import type { RemoteLimits } from "../../src/domain/exchange/remotes/smart-http.ts";
import type { RepositoryContext } from "../../src/shapes/repos/repository.ts";
import { db } from "./db.ts";
import { make, type TestRepo } from "./make.ts";
import { refsOf } from "./push.ts";
import { openRemote } from "./remotes.ts";
import { systemCtx } from "./system.ts";

/** An empty repository to take a remote over into. */
export async function makeMirror() {
  const owner = await make.user();
  return { owner, repo: await make.repo(owner) };
}

export async function contextOf(repo: TestRepo): Promise<RepositoryContext> {
  const row = await rowOf(repo);
  const [owner] = await db.select().from(users).where(eq(users.id, row.ownerId));
  return { row, owner: owner as User, permission: OWNER_PERMISSION };
}

/** The row of a repository as it is now. */
export const rowOf = async ({ id }: TestRepo) =>
  (await db.select().from(repositories).where(eq(repositories.id, id)))[0] as TestRepo;

/** Options of a sync beside its plan. */
interface SyncOptions {
  readonly limits?: Partial<RemoteLimits>;
  readonly settings?: Record<string, string>;
}

/** Takes the remote of an address over into a repository, with prune. */
export async function syncFrom(
  repo: TestRepo,
  url: string,
  plan: Partial<FetchRemotePlan> = {},
  { limits, settings }: SyncOptions = {},
): Promise<FetchedRemote> {
  const ctx = systemCtx({}, Date.now(), settings);
  const remote = openRemote(ctx, url, limits);
  return fetchRemote(ctx, await contextOf(repo), remote, { prune: true, isFirst: false, ...plan });
}

/** Pushes a repository to an address, with prune. */
export async function pushTo(
  repo: TestRepo,
  url: string,
  plan: Partial<PushRemotePlan> = {},
  { limits, settings }: SyncOptions = {},
): Promise<PushedRemote> {
  const ctx = systemCtx({}, Date.now(), settings);
  return pushRemote(ctx, await contextOf(repo), openRemote(ctx, url, limits), {
    prune: true,
    ...plan,
  });
}

/** The failure of a remote with which work ends. */
export async function failureOf(work: Promise<unknown>): Promise<RemoteFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof RemoteFailure) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

/** Values of refs by name. */
export const namedRefs = async (repo: TestRepo): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await refsOf(repo)).map(({ name, oid }) => [decodeText(name as ByteText), oid]),
  );

export const eventsOf = async (repo: TestRepo) =>
  (await db.select().from(events).where(eq(events.repoId, repo.id))).map(({ type, payload }) => ({
    type,
    payload,
  }));
