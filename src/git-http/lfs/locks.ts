import type { Context } from "hono";
import { z } from "zod";

import { createLock } from "../../domain/code/lfs/create-lock.ts";
import { deleteLock } from "../../domain/code/lfs/delete-lock.ts";
import type { LockEntry } from "../../domain/code/lfs/find-lock.ts";
import { listLocks } from "../../domain/code/lfs/list-locks.ts";
import { normalizeLockPath } from "../../domain/code/lfs/lock-path.ts";
import { malformed, notFound } from "../../lib/failure.ts";
import { formatTime } from "../../lib/time.ts";
import type { GitHttpEnv } from "../env.ts";
import { answerJson } from "./dialect.ts";
import { enterSignedIn, enterToWrite } from "./enter-lfs.ts";
import { NamedRef, requireNamedRefInReach } from "./named-ref.ts";
import { readJson } from "./read-json.ts";

/** Ids are strings in the LFS API and numbers in the database. */
const isId = (text: string): boolean => /^\d{1,15}$/.test(text);

const toLock = ({ lock, ownerName }: LockEntry) => ({
  id: String(lock.id),
  path: lock.path,
  locked_at: formatTime(lock.lockedAt),
  owner: { name: ownerName },
});

/** The paging fields of a request. */
interface PageFields {
  cursor?: string | null | undefined;
  limit?: number | null | undefined;
}

/** @throws Failure `malformed` for an invalid cursor or limit. */
function readPage({ cursor, limit }: PageFields, limitMax: number) {
  const after = cursor || "0";
  if (!isId(after)) throw malformed("cursor: not one that was given here");
  if (!Number.isInteger(limit ?? 0)) throw malformed("limit: a whole number is expected");
  const isAny = typeof limit !== "number" || limit <= 0;
  return { afterId: Number(after), limit: isAny ? limitMax : Math.min(limit, limitMax) };
}

const nextCursor = (nextId: number | undefined) =>
  nextId === undefined ? {} : { next_cursor: String(nextId) };

/** Lists locks, optionally filtered by id or path. */
export async function list(c: Context<GitHttpEnv>): Promise<Response> {
  const { ctx, repo } = await enterSignedIn(c);
  const { id = "", path = "", cursor, limit } = c.req.query();
  const page = readPage(
    { cursor, limit: limit ? Number(limit) : undefined },
    ctx.config.lfsLockPageMax,
  );
  if (id !== "" && !isId(id)) throw malformed("id: not one that was given here");
  const { locks, nextId } = await listLocks(ctx, repo.row, {
    ...page,
    id: id === "" ? undefined : Number(id),
    path: path === "" ? undefined : normalizeLockPath(path),
  });
  return answerJson({ locks: locks.map(toLock), ...nextCursor(nextId) });
}

/** Locks a path. */
export async function create(c: Context<GitHttpEnv>): Promise<Response> {
  const { ctx, repo, user } = await enterToWrite(c);
  const { path, ref } = await readJson(c, z.object({ path: z.string(), ref: NamedRef }));
  requireNamedRefInReach(ctx.actor, ref);
  const { entry: lock, isNew } = await createLock(ctx, repo.row, user, path);
  const refusal = isNew ? {} : { message: "already created lock" };
  return answerJson({ lock: toLock(lock), ...refusal }, isNew ? 201 : 409);
}

/** Lists locks divided into the caller's own and others'. Clients check this before a push. */
export async function verifyLocks(c: Context<GitHttpEnv>): Promise<Response> {
  const { ctx, repo, user } = await enterToWrite(c);
  const fields = await readJson(
    c,
    z.object({ cursor: z.string().nullish(), limit: z.number().nullish() }),
  );
  const page = readPage(fields, ctx.config.lfsLockPageMax);
  const { locks, nextId } = await listLocks(ctx, repo.row, page);
  const isOurs = ({ lock }: LockEntry): boolean => lock.ownerId === user.id;
  return answerJson({
    ours: locks.filter(isOurs).map(toLock),
    theirs: locks.filter((lock) => !isOurs(lock)).map(toLock),
    ...nextCursor(nextId),
  });
}

/** Deletes a lock. */
export async function unlock(c: Context<GitHttpEnv>): Promise<Response> {
  const { ctx, repo, user } = await enterToWrite(c);
  const { force, ref } = await readJson(
    c,
    z.object({ force: z.boolean().nullish(), ref: NamedRef }),
  );
  requireNamedRefInReach(ctx.actor, ref);
  const { id = "" } = c.req.param() as { id?: string };
  if (!isId(id)) throw notFound("there is no such lock");
  const lock = await deleteLock(ctx, repo.row, user, Number(id), force ?? false);
  return answerJson({ lock: toLock(lock) });
}
