import { isConfined } from "../../../auth/actor.ts";
import type { Ctx } from "../../../context.ts";
import { type ByteText, decodeText, encodeText } from "../../../git/byte-text.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import { COMMIT, TAG } from "../../../git/object/kind.ts";
import { NULL_OID, type Oid, oidBytes } from "../../../git/oid.ts";
import { findMisleading, isRefName } from "../../../git/ref-name.ts";
import { peel } from "../../../git/walk/peel.ts";
import type { ReachableObjects } from "../../../git/walk/reachable-objects.ts";
import { isDelete, type RefCommand } from "../../../git/wire/receive-request.ts";
import { Failure } from "../../../lib/failure.ts";
import { log } from "../../../lib/log.ts";
import { pause } from "../../../lib/time-slice.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type {
  HeadMove,
  HeldLease,
  OutboxEntry,
  PackRecord,
  Push,
  PushedMerge,
  PushOutcome,
  RefOutcome,
  RefUpdate,
  RequiredRef,
  SnapshotRefs,
  StoredRef,
} from "../../../storage/repository-records.ts";
import type { StoredRepository } from "../../../storage/storage.ts";
import { requireRoom } from "../../people/quotas/owner-quota.ts";
import { BranchRule, type BranchRename } from "../protections/branch-rule.ts";
import { wordDefault } from "../protections/ref-refusal.ts";
import { loadRules } from "../protections/select-rules.ts";
import { TagRule } from "../protections/tag-rule.ts";
import { listPushedCommits } from "./list-pushed-commits.ts";
import { isPullRef } from "./pull-refs.ts";
import { recordPush } from "./record-push.ts";
import type { PushedRef } from "./ref-update-request.ts";
import { recordWikiPush } from "./record-wiki-push.ts";
import { TokenRule } from "./token-rule.ts";

/** Steps that the checks of one command count. */
const CHECK_STEPS = 2000;

/** Maximum bytes of a ref name, so that a client can store it as a file. */
const REF_BYTES_MAX = 1000;

/**
 * What a repository takes from another one of its network, or from its own past: objects that none
 * of its refs reaches.
 */
export interface Adopted {
  /** The packs that it lacks, under hold. They are part of the opened repository. */
  packs: readonly PackRecord[];
  /**
   * The ref that reaches what is taken: of the other repository, or a deleted one. The caller may
   * read it, and its value is not required to stay.
   */
  ref: StoredRef;
  /** The `collections` of the snapshot of the repository that takes. */
  collections: number;
}

/**
 * The refs that reach what is there for an update: those of the repository, and the one of the
 * other.
 */
export const withAdopted = (state: SnapshotRefs, adopted: Adopted | undefined): SnapshotRefs =>
  adopted ? { ...state, refs: [...state.refs, adopted.ref] } : state;

/** Why refs are updated. */
export type PushCause =
  /** By a client's push, or by an operation of the API that stands for one. */
  | "push"
  /**
   * By a merge that was checked already: rules about who pushes do not apply, all others do.
   */
  | "merge"
  /**
   * By the service itself: no permission and no rule is checked, and refs of pull requests may
   * be written.
   */
  | "service"
  /**
   * By a mirror that follows its remote: no permission and no rule is checked. Its events have the
   * owner as actor, are marked as a mirror's, and have no consequences.
   */
  | "mirror"
  /**
   * By the first taking over of a remote: as by a mirror, but no event is recorded, and refs of
   * pull requests may be written.
   */
  | "import";

/** A set of ref updates, from a client's push or from the service itself. */
export interface RefPush {
  /** A push, if missing. */
  cause?: PushCause;
  commands: readonly RefCommand[];
  /** Whether all commands are applied or none. */
  isAtomic: boolean;
  /** The repository, including the pushed pack. */
  repository: OpenRepository;
  /** The objects that the repository's refs reach without the pack. */
  reachable: ReachableObjects;
  /** The upload of the pack; undefined without a pack. */
  uploadId: string | undefined;
  /** The pushed pack; undefined if no new objects are needed. */
  pack: PackRecord | undefined;
  /** The packs that the updates take from another repository of the network. */
  adopted?: Adopted | undefined;
  /**
   * Moves HEAD along with the branch it points at. Ignored if HEAD points at another branch by
   * then.
   */
  headMove?: HeadMove | undefined;
  /** The branch that is renamed; its own exact rule follows it. */
  rename?: BranchRename | undefined;
  /**
   * The merges that the push makes. They are recorded with the push, also if the Worker dies
   * before.
   */
  merges?: readonly PushedMerge[] | undefined;
  /** A lease on a ref that it updates, which ends with it. */
  lease?: HeldLease | undefined;
}

/**
 * Updates refs and records the push event.
 *
 * Each command is validated separately, and applied only if the ref still has the expected old id.
 * Updates are durable when this returns; a pack that no update needs is deleted. If it throws, it
 * is unknown whether the refs were updated, so the pack is kept.
 *
 * @returns The result of each command, in their order.
 */
export async function pushRefs(
  ctx: Ctx,
  repo: RepositoryContext,
  push: RefPush,
): Promise<PushedRef[]> {
  const { row } = repo;
  const stored = ctx.git.repository(row);
  const results = new Map<string, PushedRef>();
  const updates: RefUpdate[] = [];
  const excess = await findExcess(ctx, repo, push);
  const overflow = findOverflow(ctx, push) ?? excess?.message;
  const findRefusal = await openRules(ctx, repo, push);
  for (const command of push.commands) {
    const { ref } = command;
    const turn = pause(CHECK_STEPS);
    if (turn) await turn;
    const update = await validateCommand(command, push, overflow);
    if (typeof update === "string") {
      const failure = excess && update === excess.message ? { failure: excess } : {};
      results.set(ref, { kind: "refused", ref, reason: update, ...failure });
      continue;
    }
    // SECURITY: every ref update passes here, over any protocol.
    const failure = await findRefusal(update);
    if (failure) results.set(ref, { kind: "refused", ref, reason: failure.message, failure });
    else updates.push(update);
  }
  const isUndone = push.isAtomic && results.size > 0;
  let outcome: PushOutcome | undefined;
  if (updates.length > 0 && !isUndone) {
    const { cause } = push;
    const origin = cause === "mirror" || cause === "import" ? cause : undefined;
    outcome = await commit(stored, push, {
      id: crypto.randomUUID(),
      actorId: origin ? row.ownerId : (ctx.actor.user?.id ?? 0),
      isConfined:
        origin !== undefined ||
        isConfined(ctx.actor) ||
        push.merges?.some(({ isAutomatic }) => isAutomatic) === true,
      ...(origin && { origin }),
      at: ctx.now,
      rootUrl: ctx.config.publicUrl === "" ? ctx.publicUrl : "",
      visibility: { visibility: row.visibility, isPrivate: row.isPrivate },
      uploadId: push.uploadId ?? null,
      packs: push.pack ? [push.pack] : [],
      ...(push.adopted && {
        adoptedPacks: [...push.adopted.packs],
        adoptedAt: push.adopted.collections,
      }),
      updates,
      isAtomic: push.isAtomic,
      ...(push.headMove && { headMove: push.headMove }),
      ...(push.merges && { merges: push.merges }),
      ...(push.lease && { lease: push.lease }),
      defaultBranch: encodeText(row.defaultBranch),
    });
    for (const each of outcome.outcomes) results.set(each.ref, toResult(each));
  }
  if (push.uploadId !== undefined && !outcome?.arePacksKept) {
    ctx.defer(stored.dropUpload(push.uploadId));
  }
  if (outcome?.entry) {
    const applied = updates.filter(({ ref }) => results.get(ref)?.kind === "ok");
    // Updates of refs of pull requests have no event, so that no response waits for their record.
    const isForPulls = applied.every(({ ref }) => isPullRef(ref));
    if (isForPulls && changesNoRow(push)) ctx.defer(stored.settle(outcome.entry.pushId));
    else {
      const recording = recordEvents(ctx, repo, push, outcome, outcome.entry, applied);
      if (isForPulls) ctx.defer(recording);
      else await recording;
    }
  }
  if (outcome?.isMaintenanceDue) ctx.defer(ctx.git.maintainLater(row));
  return push.commands.map(({ ref }) => {
    const result = results.get(ref);
    return result ?? { kind: "refused", ref, reason: UNDONE };
  });
}

/** Whether a push of refs of pull requests adds no pack and merges nothing. */
const changesNoRow = ({ pack, adopted, merges = [] }: RefPush): boolean =>
  pack === undefined && adopted === undefined && merges.length === 0;

/**
 * Opens the checks of each update of a push: the bindings of the caller's token, then the rules for
 * branches and tags.
 *
 * Cost: a query if rules apply and were not loaded with the repository.
 */
async function openRules(
  ctx: Ctx,
  repo: RepositoryContext,
  push: RefPush,
): Promise<(update: RefUpdate) => Promise<Failure | undefined>> {
  if (push.cause === "service" || push.cause === "mirror" || push.cause === "import") {
    return async () => undefined;
  }
  const tokenRule = new TokenRule(ctx, push);
  // The rules of branches and tags are those of the code.
  if (repo.isWiki || !push.commands.some(({ ref }) => /^refs\/(?:heads|tags)\//.test(ref))) {
    return (update) => tokenRule.findRefusal(update);
  }
  const rules = await loadRules(ctx, repo);
  const branchRule = new BranchRule(ctx, rules, push, {
    defaultBranch: repo.row.defaultBranch,
    isMerge: push.cause === "merge",
  });
  const tagRule = new TagRule(ctx, rules);
  return async (update) =>
    (await tokenRule.findRefusal(update)) ??
    (await branchRule.findRefusal(update)) ??
    (await tagRule.findRefusal(update));
}

const UNDONE = "atomic push failure";

/**
 * Refs that only the service writes, and names that are no refs: a push to `refs/for/` opens a pull
 * request.
 */
const HIDDEN = /^refs\/(?:pull|for|for-review)\//;

/** Whether only the service writes refs of this name. */
export const isHiddenRef = (ref: ByteText): boolean => HIDDEN.test(ref);

/** How often a push is committed again because refs that it builds on have moved forward. */
const RETRIES_MAX = 5;

/**
 * Commits a push while the refs on which it relies have the values that were checked.
 *
 * A ref that moved forward still reaches what the push relies on: then the push is committed again,
 * on the new values.
 */
async function commit(
  stored: StoredRepository,
  { reachable, adopted }: RefPush,
  push: Omit<Push, "requiredRefs">,
): Promise<PushOutcome> {
  let requiredRefs: RequiredRef[] | undefined = reachable.usedRefs.filter(
    (ref) => ref !== adopted?.ref,
  );
  let outcome = await stored.commitPush({ ...push, requiredRefs });
  for (let retries = 0; retries < RETRIES_MAX; retries++) {
    if (outcome.outcomes[0]?.kind !== "required-ref-changed") break;
    requiredRefs = await findNewRefs(stored, requiredRefs);
    if (!requiredRefs) break;
    outcome = await stored.commitPush({ ...push, requiredRefs });
  }
  return outcome;
}

/**
 * Finds refs that reach the former values of refs; undefined if no ref reaches one of the values.
 */
async function findNewRefs(
  stored: StoredRepository,
  formerRefs: readonly RequiredRef[],
): Promise<RequiredRef[] | undefined> {
  const snapshot = await stored.snapshot("none");
  const reachable = (await stored.openByBlock(snapshot)).reachableFrom(snapshot);
  for (const { oid } of formerRefs) if (!(await reachable.find(oid))) return undefined;
  return reachable.usedRefs;
}

/** The reason to refuse additions if the pushed pack makes the repository too large. */
function findOverflow({ config }: Ctx, { pack, adopted, repository }: RefPush): string | undefined {
  const bytesMax = config.gitRepositoryMaxBytes;
  if ((!pack && !adopted) || bytesMax < 0) return undefined;
  const bytes = repository.catalog.packs.reduce((sum, { source }) => sum + source.sizeBytes, 0);
  return bytes > bytesMax ? `the repository may have ${bytesMax} bytes at most` : undefined;
}

/** The refusal of additions if the owner stores as much as they may. */
async function findExcess(
  ctx: Ctx,
  { owner }: RepositoryContext,
  { pack }: RefPush,
): Promise<Failure | undefined> {
  try {
    await requireRoom(ctx, owner, pack?.packBytes ?? 0);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

/**
 * Validates a command. Returns the ref update, or the reason for a refusal.
 *
 * @param overflow The reason to refuse additions to a repository that is too large. Deletions stay
 * possible, since they free space.
 */
async function validateCommand(
  command: RefCommand,
  push: RefPush,
  overflow: string | undefined,
): Promise<RefUpdate | string> {
  const { catalog } = push.repository;
  const { ref, newOid } = command;
  const oldOid = command.oldOid === NULL_OID ? null : command.oldOid;
  // SECURITY: the only check that every ref name passes before it is stored.
  const misnomer = findMisnomer(ref);
  if (misnomer !== undefined) return misnomer;
  // SECURITY: only the service writes the refs of pull requests, or a push could forge one.
  if (push.cause !== "service" && push.cause !== "import" && isHiddenRef(ref)) {
    return "hidden ref: only the service writes it";
  }
  if (isDelete(command)) return { ref, oldOid, newOid: null, peeledOid: null };
  // A deletion may name them: an earlier version of the service accepted such names.
  const misleading = findMisleading(ref);
  if (misleading !== undefined) return misleading;
  if (overflow !== undefined) return overflow;

  const location = await findNewValue(push, newOid);
  if (!location) return MISSING_OBJECTS;
  const kind = await resident(() => catalog.kind(location));
  if (ref.startsWith("refs/heads/") && kind !== COMMIT) return "a branch must lead to a commit";
  const peeledOid = await resident(() => {
    const peeled = kind === TAG ? peel(catalog, location) : undefined;
    return peeled ? catalog.oid(peeled) : null;
  });
  return { ref, oldOid, newOid, peeledOid };
}

/** Why a ref can't lead to an object that is not found. */
export const MISSING_OBJECTS = "missing necessary objects";

/**
 * Finds an object to which a push may point a ref: in the pushed pack, or among those that the
 * repository's refs reach.
 *
 * SECURITY: any stored object would do otherwise, also one that was removed, or that only a fork
 * has.
 */
export async function findNewValue(
  { repository: { catalog }, pack, reachable }: Pick<RefPush, "repository" | "pack" | "reachable">,
  oid: Oid,
): Promise<ObjectLocation | undefined> {
  const isPushed = pack !== undefined && catalog.packs.at(-1)?.idx.find(oidBytes(oid)) !== -1;
  const isKnown = isPushed || (await reachable.find(oid)) !== undefined;
  return isKnown ? resident(() => catalog.find(oid)) : undefined;
}

/** Why no ref may have a name, whether or not it exists; undefined for any other name. */
export function findMisnomer(ref: ByteText): string | undefined {
  if (ref.length > REF_BYTES_MAX) return "the name is too long";
  if (!ref.startsWith("refs/") || !isRefName(ref)) return "funny refname";
  return ref === "refs/heads/HEAD" ? "a branch can't be called HEAD" : undefined;
}

function toResult(outcome: RefOutcome): PushedRef {
  const ref = outcome.ref as ByteText;
  const refused = (reason: string): PushedRef => ({ kind: "refused", ref, reason });
  const stale = (reason: string): PushedRef => ({ ...refused(reason), isStale: true });
  switch (outcome.kind) {
    case "updated":
      return { kind: "ok", ref };
    case "stale":
      // Git's own message, for which git clients print advice.
      return stale("fetch first");
    case "conflict":
      return refused(`the name clashes with ${outcome.otherRef}`);
    case "default-branch":
      return refused(wordDefault(decodeText(ref.replace(/^refs\/heads\//, "") as ByteText)));
    case "expired":
      return stale("the push took too long: push again");
    case "required-ref-changed":
      return stale("a ref that the push builds on has changed: fetch and push again");
    case "merged":
      return refused("the pull request is merged already");
    case "undone":
      return refused(UNDONE);
    default:
      return outcome satisfies never;
  }
}

/**
 * Records the events of a push whose refs are updated already. A failure here must not fail the
 * push: the outbox entry of the repository stays, and a job records it later.
 */
async function recordEvents(
  ctx: Ctx,
  { row, isWiki }: RepositoryContext,
  { repository, pack }: RefPush,
  { summary, earlierHeads }: PushOutcome,
  entry: OutboxEntry,
  applied: readonly RefUpdate[],
): Promise<void> {
  try {
    if (isWiki) {
      await recordWikiPush(ctx, row, entry, summary, [applied], async () => repository);
      ctx.defer(ctx.git.repository(row).settle(entry.pushId));
      return;
    }
    // The pushed pack is the last one of the catalog.
    const packNumber = pack ? repository.catalog.packs.length - 1 : -1;
    const origin = { packNumber, earlierHeads, head: summary.head };
    await recordPush(ctx, row, entry, summary, [applied], (updates) =>
      listPushedCommits(repository, origin, updates),
    );
    ctx.defer(ctx.git.repository(row).settle(entry.pushId));
  } catch (error) {
    // Maintenance records it from the outbox.
    const reason = String(error);
    log("receive:not-recorded", { repoId: row.id, pushId: entry.pushId, reason });
  }
}
