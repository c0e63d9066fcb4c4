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

/** Maximum bytes of a ref name, so that a client can store it as a file. */
const REF_BYTES_MAX = 1000;

/** A set of ref updates, from a client's push or from the service itself. */
export interface RefPush {
  commands: readonly RefCommand[];
  /** Whether all commands are applied or none. */
  isAtomic: boolean;
  /** The repository, including the pushed pack. */
  repository: OpenRepository;
  /** The upload of the pack; undefined without a pack. */
  uploadId: string | undefined;
  /** The pushed pack; undefined if no new objects are needed. */
  pack: PackRecord | undefined;
  /** Moves HEAD along with the branch it points at. Ignored if HEAD points at another branch by then. */
  headMove?: HeadMove | undefined;
}

/**
 * Updates refs and records the push event.
 *
 * Each command is validated separately, and applied only if the ref still has the expected old id. Updates
 * are durable when this returns; a pack that no update needs is deleted. If it throws, it is unknown whether
 * the refs were updated, so the pack is kept.
 *
 * @returns The result of each command, in their order.
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
    const applied = updates.filter(({ ref }) => results.get(ref)?.kind === "ok");
    await recordEvents(ctx, row, push, outcome.entry, outcome.summary, applied);
  }
  if (outcome?.isMaintenanceDue) ctx.defer(ctx.git.maintainLater(row));
  return push.commands.map(({ ref }) => {
    const result = results.get(ref);
    return result ?? { kind: "refused", ref, reason: UNDONE };
  });
}

const UNDONE = "atomic push failure";

/** The reason to refuse additions if the pushed pack makes the repository too large. */
function findOverflow({ config }: Ctx, { pack, repository }: RefPush): string | undefined {
  const bytesMax = config.gitRepositoryMaxBytes;
  if (!pack || bytesMax < 0) return undefined;
  const bytes = repository.catalog.packs.reduce((sum, { source }) => sum + source.sizeBytes, 0);
  return bytes > bytesMax ? `the repository may have ${bytesMax} bytes at most` : undefined;
}

/**
 * Validates a command. Returns the ref update, or the reason for a refusal.
 *
 * @param overflow The reason to refuse additions to a repository that is too large. Deletions stay possible,
 * since they free space.
 */
function validateCommand(
  command: RefCommand,
  { catalog }: OpenRepository,
  overflow: string | undefined,
): RefUpdate | string {
  const { ref, newOid } = command;
  const oldOid = command.oldOid === NULL_OID ? null : command.oldOid;
  if (ref.length > REF_BYTES_MAX) return "the name is too long";
  // SECURITY: the only check that every ref name passes before it is stored.
  if (!ref.startsWith("refs/") || !isRefName(ref)) return "funny refname";
  // SECURITY: only the service writes the refs of pull requests, or a push could forge one.
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
      // Git's own message, for which git clients print advice.
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
 * Records the events of a push whose refs are updated already. A failure here must not fail the push: the outbox
 * entry of the repository stays, and a job records it later.
 */
async function recordEvents(
  ctx: Ctx,
  repo: Repository,
  { repository, pack }: RefPush,
  entry: OutboxEntry,
  summary: RepositorySummary,
  applied: readonly RefUpdate[],
): Promise<void> {
  try {
    // The pushed pack is the last one of the catalog. A push without a pack has no new commits.
    const packNumber = pack ? repository.catalog.packs.length - 1 : -1;
    await recordPush(ctx, repo, entry, summary, [applied], (updates) =>
      listPushedCommits(repository, packNumber, updates),
    );
    ctx.defer(ctx.git.repository(repo).settle(entry.pushId));
  } catch (error) {
    // Maintenance records it from the outbox.
    const reason = String(error);
    log("receive:not-recorded", { repoId: repo.id, pushId: entry.pushId, reason });
  }
}
