import type { Ctx } from "../../../context.ts";
import type { MergeStyle, User } from "../../../db/schema/index.ts";
import { type ByteText, decodeText, encodeText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { buildMerge, type BuiltMerge, type MergeWriter } from "../../../git/merge/build-merge.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import type { Identity } from "../../../git/object/identity.ts";
import { stripSpace } from "../../../git/object/strip-space.ts";
import type { Oid } from "../../../git/oid.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import { logByTime } from "../../../git/walk/log.ts";
import { findDivergence } from "../../../git/walk/merge-bases.ts";
import { conflict, Failure, notApplicable } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { HeldLease, PushedMerge, Snapshot } from "../../../storage/repository-records.ts";
import { findByAddresses } from "../../people/accounts/find-by-addresses.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { nameConflicts } from "../../code/commits/name-conflicts.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { commitChange } from "../../code/git/commit-change.ts";
import { makeCommit } from "../../code/git/make-commit.ts";
import { findRef } from "../../code/git/open-snapshot.ts";
import { updateRefs } from "../../code/git/update-refs.ts";
import { loadMergeFacts, type MergeFacts } from "../../code/protections/merge-facts.ts";
import { findMergeRefusal, MERGE_QUEUE_REQUIRED } from "../../code/protections/merge-refusal.ts";
import { ProtectedRef } from "../../code/protections/ref-refusal.ts";
import { findPull } from "../pull/find-pull.ts";
import { locatePull, type OpenPull } from "../pull/open-pull.ts";
import { catchUp, isBehind } from "../sync/catch-up.ts";
import { addTrailer } from "./add-trailer.ts";
import { defaultMessage, joinMessage, type MergeMessage } from "./merge-message.ts";
import {
  NOTHING_TO_MERGE,
  notYetMergeable,
  requireMerger,
  requireReady,
  requireStyle,
  UNRELATED_HISTORIES,
} from "./require-mergeable.ts";

/** How a pull request is merged. */
export interface PullMergeOptions {
  readonly style: MergeStyle;
  /** The message of the commit that the style adds; "" for the defaults. */
  readonly title?: string;
  readonly message?: string;
  /** The head that the caller has seen; "" for any. */
  readonly headOid?: Oid | "";
  /** Whether an administrator overrides the rule of the base. */
  readonly isForced?: boolean;
  /** Whether it was scheduled. */
  readonly isAutomatic?: boolean;
  /** Whether the branch of the head is deleted afterwards, also if the Worker ends before. */
  readonly isBranchDeleted?: boolean;
}

/** Attempts to build a merge while pushes move the base. */
const ATTEMPTS_MAX = 10;
/** How long a merge waits for other merges into the base, in milliseconds. */
export const WAIT_MS_MAX = 30_000;
/** Commits of a head that are searched for one by the poster, newest first. */
const AUTHORS_MAX = 100;

/**
 * Merges a pull request into its base.
 *
 * The merge is checked, built in memory, and committed by one push, which fails if the base moved
 * since the check. Then the next attempt checks the new base. The push carries the data of the
 * merge: the batch that records the push also marks the pull request as merged. This call records
 * it or, if the Worker ends before, the maintenance of the repository. The repository refuses a
 * second merge of the same pull request, so that it is merged once or not at all.
 *
 * A lease on the ref of the base serializes merges into it, so that they don't invalidate each
 * other.
 *
 * Cost: three calls of the Durable Object for each attempt, and one more if it waited for another
 * merge.
 *
 * @throws MergeQueueRequired if the base has a merge queue, unless an administrator forces the
 *   merge.
 * @throws Failure as `requireMerger`, `requireStyle` and `requireReady`; `not_applicable` for
 * conflicts and for unmet conditions of the base's rule; `conflict` for another head than the
 * caller's, for a rebase with conflicts and for unrelated histories; BaseBusy if others keep
 * updating the base.
 */
export async function mergePull(
  ctx: Ctx,
  found: PullContext,
  user: User,
  options: PullMergeOptions,
): Promise<void> {
  requireMerger(found);
  const pull = await catchUp(ctx, found);
  requireMergeable(pull, options);
  const stored = ctx.git.repository(pull.repo.row);
  const until = Date.now() + WAIT_MS_MAX;
  // The pull request's ref reaches the head also if the head's branch does not.
  const pulls = [pull.row.number];
  let current = pull;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const { baseBranch } = current.pull;
    const waitMs = Math.max(0, until - Date.now());
    const leased = await stored.acquireLease(baseRefOf(current), waitMs, pulls);
    if (leased.kind === "busy") break;
    const { lease } = leased;
    let state = leased.snapshot;
    let isMerged = false;
    try {
      if (leased.hasWaited || attempt > 1) {
        current = await findPull(ctx, pull.repo, pull.row.number);
        requireMergeable(current, options);
        state = await stored.snapshot(pulls);
      }
      const isSameBase = current.pull.baseBranch === baseBranch;
      isMerged = isSameBase && (await attemptMerge(ctx, current, user, options, { lease, state }));
    } finally {
      if (!isMerged) ctx.defer(stored.releaseLease(lease));
    }
    if (isMerged) return;
  }
  throw new BaseBusy();
}

/** The refusal of a merge into a base that others keep updating. The merge may be tried again. */
export class BaseBusy extends Failure {
  constructor() {
    super("conflict", "merge push out of date");
  }
}

/** The ref on which a merge has the lease. */
export const baseRefOf = ({ pull }: PullContext): ByteText =>
  encodeText(branchRef(pull.baseBranch));

function requireMergeable(pull: PullContext, { style, headOid }: PullMergeOptions): void {
  requireMerger(pull);
  requireStyle(pull.repo, style);
  if (headOid && headOid !== pull.pull.headOid) throw conflict("head out of date");
}

/** The lease on the ref of a base, and the repository under it. */
interface LeasedBase {
  readonly lease: HeldLease;
  readonly state: Snapshot;
}

/** Checks and merges a pull request. @returns False if the base has moved meanwhile. */
async function attemptMerge(
  ctx: Ctx,
  loaded: PullContext,
  user: User,
  options: PullMergeOptions,
  { lease, state }: LeasedBase,
): Promise<boolean> {
  const stored = ctx.git.repository(loaded.repo.row);
  const [repository, facts] = await Promise.all([
    stored.openByBlock(state, ctx.git.budget),
    loadMergeFacts(ctx, loaded),
  ]);
  requireReady(loaded, facts);
  // The push checks the same rules.
  const pull = { ...loaded, repo: { ...loaded.repo, rules: facts.rules } };
  const opened = locatePull({ state, repository }, pull);
  const { base } = opened;
  if (base === undefined) throw notApplicable("Please try again later: the base does not exist");
  if (isBehind(pull)) throw notYetMergeable();
  await requireRules(ctx, pull, { ...opened, base, facts }, options);
  const built = await build(ctx, pull, user, { ...opened, base }, options);
  const baseOid = opened.snapshot.repository.graph.oid(base);
  try {
    await commit(ctx, pull, opened, { baseOid, built, lease }, options);
    return true;
  } catch (error) {
    // Some rules hold for merges too, such as one that requires signatures.
    if (error instanceof ProtectedRef) throw notApplicable(error.message);
    const isRefused = error instanceof Failure && error.kind === "conflict";
    if (isRefused && (await hasMoved(ctx, pull, baseOid))) return false;
    throw error;
  }
}

/**
 * Refuses a pull request that does not meet the rules of its base. Counts the commits of the opened
 * base anew, since the stored counts may be of an earlier one.
 *
 * @throws Failure `not_applicable`.
 */
async function requireRules(
  ctx: Ctx,
  context: PullContext,
  { snapshot, base, head, mergeBase, facts }: OpenPull & { base: Node; facts: MergeFacts },
  { isForced = false }: PullMergeOptions,
): Promise<void> {
  const { repository } = snapshot;
  const { graph } = repository;
  const pull = {
    ...context.pull,
    behindCount: findDivergence(graph, base, head).left.length,
    mergeBaseOid: mergeBase === undefined ? "" : graph.oid(mergeBase),
  };
  const attempt = { isForced, repository, facts };
  const refusal = await findMergeRefusal(ctx, { ...context, pull }, attempt);
  if (refusal === MERGE_QUEUE_REQUIRED) throw new MergeQueueRequired();
  if (refusal !== undefined) throw notApplicable(refusal);
}

/** The failure of a merge into a base that has a merge queue. */
export class MergeQueueRequired extends Failure {
  constructor() {
    super("not_applicable", MERGE_QUEUE_REQUIRED);
  }
}

type Built = Extract<BuiltMerge, { kind: "built" }>;

/**
 * Builds the merge of a pull request into a commit, which need not be the base's present one.
 *
 * @throws GitError `limit` if it is too large, and as `buildMerge`.
 */
export async function buildPullMerge(
  ctx: Ctx,
  pull: PullContext,
  user: User,
  opened: OpenPull & { readonly base: Node },
  options: PullMergeOptions,
): Promise<BuiltMerge> {
  const { snapshot, base, head } = opened;
  const { graph, objects } = snapshot.repository;
  const writer = await makeWriter(ctx, pull, user, opened, options);
  return buildMerge({ graph, objects, base, head }, options.style, writer);
}

async function build(
  ctx: Ctx,
  pull: PullContext,
  user: User,
  opened: OpenPull & { readonly base: Node },
  options: PullMergeOptions,
): Promise<Built> {
  try {
    const built = await buildPullMerge(ctx, pull, user, opened, options);
    if (built.kind === "built") return built;
    throw asRefusal(built, options.style);
  } catch (error) {
    if (!(error instanceof GitError) || error.code !== "limit") throw error;
    throw notApplicable(`the pull request is too large to merge here: ${error.message}`);
  }
}

function asRefusal(built: Exclude<BuiltMerge, Built>, style: MergeStyle): Failure {
  switch (built.kind) {
    case "conflicts": {
      const message = nameConflicts(built.paths.map(({ path }) => decodeText(path)));
      const isRebase = style === "rebase" || style === "rebase-merge";
      return isRebase ? conflict(message) : notApplicable(message);
    }
    case "diverged":
      return conflict("Not possible to fast-forward: the base has commits of its own");
    case "unrelated":
      return conflict(UNRELATED_HISTORIES);
    case "unchanged":
      return notApplicable(NOTHING_TO_MERGE);
    default:
      return built satisfies never;
  }
}

/** The message and the people of the commits that a merge makes. */
async function makeWriter(
  ctx: Ctx,
  pull: PullContext,
  user: User,
  opened: OpenPull & { readonly base: Node },
  { style, title = "", message = "" }: PullMergeOptions,
): Promise<MergeWriter> {
  const committer = toIdentity(ctx, user);
  const isSquash = style === "squash";
  const author = isSquash ? await findAuthor(ctx, pull, opened, committer) : committer;
  const own: MergeMessage = { title: title.trim(), body: message.trim() };
  const standard =
    own.title === "" || own.body === ""
      ? await defaultMessage(ctx, pull, opened.snapshot, style)
      : undefined;
  const parts =
    own.title === ""
      ? { title: standard?.title ?? "", body: own.body || (standard?.body ?? "") }
      : own;
  let text = decodeText(joinMessage(parts));
  if (isSquash && nameOf(author) !== nameOf(committer)) {
    text = addTrailer(text, "Co-authored-by", nameOf(author));
    text = addTrailer(text, "Co-committed-by", nameOf(author));
  }
  const context = { operation: "merge", people: [user] } as const;
  return {
    message: stripSpace(joinMessage({ title: text, body: "" })),
    author,
    committer,
    format: (fields) => makeCommit(ctx, fields, context),
  };
}

const nameOf = ({ name, email }: Identity): string => `${decodeText(name)} <${decodeText(email)}>`;

/**
 * Finds the author of a squashed commit: the poster, under the name and address in one of the
 * commits, since the address of the account may be hidden. If the poster's account is deleted, the
 * author of the head.
 */
async function findAuthor(
  ctx: Ctx,
  { poster }: PullContext,
  { snapshot, base, head }: OpenPull & { readonly base: Node },
  now: Pick<Identity, "timeSeconds" | "zone">,
): Promise<Identity> {
  const { graph, objects } = snapshot.repository;
  const byEmail = new Map<ByteText, Identity>();
  let left = AUTHORS_MAX;
  for (const node of logByTime(graph, { tips: [head], excluded: [base] })) {
    if (left-- === 0) break;
    const { author } = parseCommit(await objects.readAt(graph.location(node)));
    if (!byEmail.has(author.email)) byEmail.set(author.email, author);
  }
  const { timeSeconds, zone } = now;
  const authors = [...byEmail.values()].map(({ name, email }): Identity => {
    return { name, email, timeSeconds, zone };
  });
  if (!poster) {
    const [latest] = authors;
    if (!latest) throw new Error("a head without commits of its own is squashed");
    return latest;
  }
  const owners = await findByAddresses(
    ctx,
    authors.map(({ email }) => decodeText(email)),
  );
  const isPosters = ({ email }: Identity): boolean =>
    owners.get(decodeText(email).toLowerCase())?.id === poster.id;
  return authors.find(isPosters) ?? { ...toIdentity(ctx, poster), timeSeconds, zone };
}

/** A merge that is built on a value of the base. */
interface LeasedMerge {
  readonly baseOid: Oid;
  readonly built: Built;
  readonly lease: HeldLease;
}

/** Stores the new objects and moves the base, in one push. */
async function commit(
  ctx: Ctx,
  { repo, row, pull }: PullContext,
  { snapshot, mergeBase }: OpenPull,
  { baseOid, built: { tipOid, objects }, lease }: LeasedMerge,
  { style, isAutomatic = false, isBranchDeleted }: PullMergeOptions,
): Promise<void> {
  const { graph } = snapshot.repository;
  const updates = [{ ref: branchRef(pull.baseBranch), from: baseOid, to: tipOid }];
  const merge: PushedMerge = {
    number: row.number,
    issueId: row.id,
    kind: style,
    commitOid: tipOid,
    baseOid,
    mergeBaseOid: mergeBase === undefined ? "" : graph.oid(mergeBase),
    isAutomatic,
    ...(isBranchDeleted && { isBranchDeleted }),
  };
  const cause = "merge";
  if (objects.length === 0) {
    await updateRefs(ctx, repo, snapshot, updates, { cause, merges: [merge], lease });
    return;
  }
  const change = ({ pack }: { pack: PackSink }) => {
    for (const { kind, content } of objects) pack.add(kind, content);
    return Promise.resolve({ updates, merges: [merge] });
  };
  await commitChange(ctx, repo, change, { cause, lease, pulls: [row.number] });
}

/** Receives new objects. */
interface PackSink {
  add(kind: Built["objects"][number]["kind"], content: Uint8Array): Oid;
}

/** Whether the base has moved since the merge was built. */
async function hasMoved(ctx: Ctx, { repo, pull }: PullContext, baseOid: Oid): Promise<boolean> {
  const state = await ctx.git.repository(repo.row).snapshot("none");
  return findRef({ state }, branchRef(pull.baseBranch))?.oid !== baseOid;
}
