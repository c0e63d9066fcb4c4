import { eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { allOf, isViolation, onlyWhile } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { branchTips, pulls, repositories } from "../../../db/schema/index.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import type { Oid } from "../../../git/oid.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { findRange } from "../../../git/walk/log.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import type { RefUpdateRequest } from "../../code/git/ref-update-request.ts";
import { updateRefs } from "../../code/git/update-refs.ts";
import { asOpeningRefusal, openingStatements } from "../../issues/issue/create-issue.ts";
import { insertEntryOnNew } from "../../issues/issue/insert-entry.ts";
import { newIdIn } from "../../issues/issue/new-issue-id.ts";
import { headRefOf, latestBase } from "../pull/open-pull.ts";
import { toPushBody } from "../pull/push-entry.ts";
import type { PullOptions } from "./parse-target.ts";

/** How often a number is tried anew because others took it. */
const RETRIES_MAX = 5;
/** Maximum characters of a description, as the API has it. */
const BODY_MAX = 262_144;

/** A pull request to open, whose head is stored as the ref of `number`. */
interface NewPushed {
  readonly number: number;
  readonly head: Node;
  readonly headOid: Oid;
  readonly base: string;
  readonly baseOid: Oid;
  readonly topic: string;
}

/**
 * Stores a pull request whose head is stored already, under the number that it should get. Where
 * another issue took that number, the head moves to the next one.
 *
 * @returns Its number.
 * @throws Failure if it can't be opened; its ref is removed then.
 */
export async function openPushedPull(
  ctx: Ctx,
  repo: RepositoryContext,
  repository: OpenRepository,
  input: NewPushed,
  options: PullOptions,
): Promise<number> {
  const text = await readText(repository, input.headOid, options);
  let { number } = input;
  try {
    for (let tries = 0; tries < RETRIES_MAX; tries++) {
      if (await tryInsert(ctx, repo, repository, { ...input, number }, text)) return number;
      const free = (await readLastNumber(ctx, repo)) + 1;
      if (free === number) throw conflict("the topic was pushed at the same time: push again");
      await moveRef(ctx, repo, input.headOid, number, free);
      number = free;
    }
    throw conflict("too many issues are opened at once: push again");
  } catch (error) {
    const refusal = asOpeningRefusal(error);
    ctx.defer(moveRef(ctx, repo, input.headOid, number, undefined));
    throw refusal;
  }
}

interface Text {
  readonly title: string;
  readonly body: string;
}

/** The title and the description, by default of the head's commit. */
async function readText(
  { objects }: OpenRepository,
  headOid: Oid,
  { title, description }: PullOptions,
): Promise<Text> {
  const found = await objects.readObject(headOid);
  if (!found) throw notFound("the commit does not exist");
  const message = decodeText(parseCommit(found.content).message).toWellFormed().trim();
  const end = message.indexOf("\n");
  const subject = (end < 0 ? message : message.slice(0, end)).trim();
  const rest = end < 0 ? "" : message.slice(end).trim();
  return {
    title: title.trim() || subject || headOid,
    body: (description || rest).slice(0, BODY_MAX).toWellFormed(),
  };
}

/** @returns False if the number is taken, or the topic has a pull request by now. */
async function tryInsert(
  ctx: Ctx,
  repo: RepositoryContext,
  repository: OpenRepository,
  { number, head, headOid, base, baseOid, topic }: NewPushed,
  text: Text,
): Promise<boolean> {
  const { graph } = repository;
  const { id: repoId } = repo.row;
  const baseNode = graph.find(baseOid);
  const mergeBase = latestBase({ repository }, baseNode, head);
  const added = [...findRange(graph, [head], [baseNode]).nodes].map((node) => graph.oid(node));
  const isFree = sql`(
    select ${repositories.lastIssueNumber} = ${number}
    from ${repositories}
    where ${repositories.id} = ${repoId}
  ) and not exists (
    select 1
    from ${pulls}
    where ${allOf(
      eq(pulls.headRepoId, repoId),
      eq(pulls.headBranch, topic),
      eq(pulls.isClosed, false),
      eq(pulls.repoId, repoId),
      eq(pulls.baseBranch, base),
      eq(pulls.flow, "agit"),
    )}
  )`;
  const insert = insertSelect(
    ctx.db,
    pulls,
    {
      issueId: newIdIn(repoId),
      repoId,
      flow: "agit",
      headRepoId: repoId,
      headBranch: onlyWhile(isFree, topic),
      baseBranch: base,
      headOid,
      mergeBaseOid: mergeBase === undefined ? "" : graph.oid(mergeBase),
    },
    sql`where true`,
  );
  const tip = ctx.db
    .insert(branchTips)
    .values({ repoId, branch: base, oid: baseOid })
    .onConflictDoNothing();
  const body = toPushBody(false, added.toReversed());
  try {
    await ctx.db.batch([
      ...openingStatements(ctx, repo, { ...text, isPull: true }, [], [insert, tip]),
      insertEntryOnNew(ctx, { kind: "pull_push", repoId, body }),
    ]);
    return true;
  } catch (error) {
    if (isViolation(error, "NOT NULL", "pulls.head_branch")) return false;
    throw error;
  }
}

async function readLastNumber({ db }: Ctx, { row }: RepositoryContext): Promise<number> {
  const [found] = await db
    .select({ number: repositories.lastIssueNumber })
    .from(repositories)
    .where(eq(repositories.id, row.id));
  if (!found) throw notFound();
  return found.number;
}

/** Moves a head from the ref of one number to that of another, or removes it. Other values stay. */
async function moveRef(
  ctx: Ctx,
  repo: RepositoryContext,
  oid: Oid,
  from: number,
  to: number | undefined,
): Promise<void> {
  const stored = ctx.git.repository(repo.row);
  const state = await stored.snapshot(to === undefined ? [from] : [from, to]);
  const snapshot = { state, repository: await stored.openByBlock(state) };
  const updates: RefUpdateRequest[] = [];
  const valueOf = (number: number) => findRef(snapshot, headRefOf(number))?.oid;
  if (valueOf(from) === oid) updates.push({ ref: headRefOf(from), from: oid });
  if (to !== undefined && valueOf(to) !== oid) {
    const former = valueOf(to);
    updates.push({ ref: headRefOf(to), to: oid, ...(former !== undefined && { from: former }) });
  }
  if (updates.length > 0) await updateRefs(ctx, repo, snapshot, updates, { cause: "service" });
}
