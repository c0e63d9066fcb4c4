import type { Ctx } from "../../context.ts";
import type { Repository } from "../../db/schema/index.ts";
import { type ByteText, encodeText } from "../../git/byte-text.ts";
import { COMMIT, TAG } from "../../git/object/kind.ts";
import { NULL_OID } from "../../git/oid.ts";
import { isRefName } from "../../git/ref-name.ts";
import { peel } from "../../git/walk/peel.ts";
import type { RefResult } from "../../git/wire/receive-report.ts";
import { isDelete, type RefCommand } from "../../git/wire/receive-request.ts";
import { log } from "../../lib/log.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import type {
  HeadMove,
  OutboxEntry,
  PackRecord,
  PushOutcome,
  RefOutcome,
  RefUpdate,
  RepositorySummary,
} from "../../storage/repository-records.ts";
import { listPushedCommits } from "./list-pushed-commits.ts";
import { recordPush } from "./record-push.ts";

/** Bytes of a ref's name at most: as a file it must fit a path of the client's. */
const REF_BYTES_MAX = 1000;

/** What moves refs, wherever it comes from. */
export interface RefPush {
  commands: readonly RefCommand[];
  /** All or none. */
  isAtomic: boolean;
  /** The repository with the pack that came along. */
  repository: OpenRepository;
  /** The upload that brought the pack; undefined where there was none. */
  uploadId: string | undefined;
  /** That pack; undefined where nothing new is needed. */
  pack: PackRecord | undefined;
  /** Where HEAD goes with the branch that it names; nowhere, if it names another by then. */
  headMove?: HeadMove | undefined;
}

/**
 * Moves refs and tells of it.
 *
 * Each ref is judged by itself, and moved only if it still is what the pusher saw. What was moved
 * is stored when this returns; a pack that no ref needs is removed again. If it throws, nobody
 * knows whether the refs were moved, so the pack stays.
 *
 * @returns What became of each command, in their order.
 */
export async function pushRefs(
  ctx: Ctx,
  repo: RepositoryContext,
  push: RefPush,
): Promise<RefResult[]> {
  const { row } = repo;
  const stored = ctx.git.repository(row);
  const results = new Map<string, RefResult>();
  const updates: RefUpdate[] = [];
  const overflow = findOverflow(ctx, push);
  for (const command of push.commands) {
    const update = validateCommand(command, push.repository, overflow);
    if (typeof update !== "string") updates.push(update);
    else results.set(command.ref, { kind: "refused", ref: command.ref, reason: update });
  }
  const isUndone = push.isAtomic && results.size > 0;
  let outcome: PushOutcome | undefined;
  if (updates.length > 0 && !isUndone) {
    outcome = await stored.commitPush({
      id: crypto.randomUUID(),
      actorId: ctx.actor.user?.id ?? 0,
      at: ctx.now,
      rootUrl: ctx.config.rootUrl === "" ? ctx.rootUrl : "",
      uploadId: push.uploadId ?? null,
      packs: push.pack ? [push.pack] : [],
      updates,
      isAtomic: push.isAtomic,
      ...(push.headMove && { headMove: push.headMove }),
      defaultBranch: encodeText(row.defaultBranch),
    });
    for (const each of outcome.outcomes) results.set(each.ref, toResult(each));
  }
  if (push.uploadId !== undefined && !outcome?.arePacksKept) {
    ctx.defer(stored.dropUpload(push.uploadId));
  }
  if (outcome?.entry) {
    const made = updates.filter(({ ref }) => results.get(ref)?.kind === "ok");
    await tell(ctx, row, push, outcome.entry, outcome.summary, made);
  }
  if (outcome?.isMaintenanceDue) ctx.defer(ctx.git.maintainLater(row));
  return push.commands.map(({ ref }) => {
    const result = results.get(ref);
    return result ?? { kind: "refused", ref, reason: UNDONE };
  });
}

const UNDONE = "atomic push failure";

/** Why nothing may be added, where the pack that came along makes the repository too large. */
function findOverflow({ config }: Ctx, { pack, repository }: RefPush): string | undefined {
  const bytesMax = config.gitRepositoryMaxBytes;
  if (!pack || bytesMax < 0) return undefined;
  const bytes = repository.catalog.packs.reduce((sum, { source }) => sum + source.sizeBytes, 0);
  return bytes > bytesMax ? `the repository may have ${bytesMax} bytes at most` : undefined;
}

/**
 * The update that a command asks for, or why it is refused.
 *
 * @param overflow Why nothing may be added; removing is what then helps.
 */
function validateCommand(
  command: RefCommand,
  { catalog }: OpenRepository,
  overflow: string | undefined,
): RefUpdate | string {
  const { ref, newOid } = command;
  const oldOid = command.oldOid === NULL_OID ? null : command.oldOid;
  if (ref.length > REF_BYTES_MAX) return "the name is too long";
  // SECURITY: the one place through which every name passes on its way to the store.
  if (!ref.startsWith("refs/") || !isRefName(ref)) return "funny refname";
  // SECURITY: what pull requests show is written by the service alone.
  if (/^refs\/(?:pull|for|for-review)\//.test(ref)) return "hidden ref: only the service writes it";
  if (ref === "refs/heads/HEAD") return "a branch can't be called HEAD";
  if (isDelete(command)) return { ref, oldOid, newOid: null, peeledOid: null };
  if (overflow !== undefined) return overflow;

  const location = catalog.find(newOid);
  if (!location) return "missing necessary objects";
  const kind = catalog.kind(location);
  if (ref.startsWith("refs/heads/") && kind !== COMMIT) return "a branch must lead to a commit";
  const peeled = kind === TAG ? peel(catalog, location) : undefined;
  return { ref, oldOid, newOid, peeledOid: peeled ? catalog.oid(peeled) : null };
}

function toResult(outcome: RefOutcome): RefResult {
  const ref = outcome.ref as ByteText;
  const refused = (reason: string): RefResult => ({ kind: "refused", ref, reason });
  switch (outcome.kind) {
    case "updated":
      return { kind: "ok", ref };
    case "stale":
      // In git's words, for which clients have their own advice.
      return refused("fetch first");
    case "conflict":
      return refused(`the name clashes with ${outcome.otherRef}`);
    case "default-branch":
      return refused("the default branch can't be deleted: choose another one first");
    case "expired":
      return refused("the push took too long: push again");
    case "undone":
      return refused(UNDONE);
    default:
      return outcome satisfies never;
  }
}

/**
 * Tells of a push whose refs are moved already, which nothing here may take back: if the database
 * fails, the entry in the repository's outbox stays, and a job tells of it later.
 */
async function tell(
  ctx: Ctx,
  repo: Repository,
  { repository, pack }: RefPush,
  entry: OutboxEntry,
  summary: RepositorySummary,
  made: readonly RefUpdate[],
): Promise<void> {
  try {
    // Its own pack is the youngest; without one it brought nothing.
    const packNumber = pack ? repository.catalog.packs.length - 1 : -1;
    await recordPush(ctx, repo, entry, summary, [made], (updates) =>
      listPushedCommits(repository, packNumber, updates),
    );
    ctx.defer(ctx.git.repository(repo).settle(entry.pushId));
  } catch (error) {
    // It is told from the outbox.
    const reason = String(error);
    log("receive:not-recorded", { repoId: repo.id, pushId: entry.pushId, reason });
  }
}
