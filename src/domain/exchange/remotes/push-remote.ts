import type { Ctx } from "../../../context.ts";
import type { ByteText } from "../../../git/byte-text.ts";
import { NULL_OID, type Oid } from "../../../git/oid.ts";
import { planFetch } from "../../../git/walk/fetch-plan.ts";
import type { RefResult } from "../../../git/wire/receive-report.ts";
import { isDelete, type RefCommand } from "../../../git/wire/receive-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { Snapshot } from "../../../storage/repository-records.ts";
import { isHiddenRef } from "../../code/git/push-refs.ts";
import { type PackOrigin, sendPack } from "../../code/git/send-pack.ts";
import type { RemotePushRefs } from "./remote-push.ts";
import type { RemoteRepository } from "./remote-repository.ts";

/** The refs that a remote is to have. */
export interface PushRemotePlan {
  /** Whether refs that are not here are deleted there. */
  readonly prune: boolean;
  /**
   * Which refs, by their full names: branches and tags by default. No others are deleted either.
   */
  readonly refs?: (name: ByteText) => boolean;
  /** Push options for the remote. */
  readonly options?: readonly string[];
}

/** The result of a push. */
export interface PushedRemote {
  /** One for each ref that differed, deletions first. */
  readonly results: readonly RefResult[];
  /** The refused updates, with the remote's reasons without credentials. */
  readonly refused: readonly Extract<RefResult, { kind: "refused" }>[];
  /** Bytes of packs sent. */
  readonly packBytes: number;
  /** Requests sent to the remote, of all calls on it. */
  readonly requestCount: number;
}

/**
 * Makes the refs of a remote equal to those of a repository: creates them, updates them also where
 * history was rewritten, and deletes them.
 *
 * Each update applies only to the value that the remote listed, so that a concurrent push there is
 * not overwritten. The push is atomic if the remote supports it. If it refuses some refs for a
 * reason of its own, a second push updates the others.
 *
 * Cost: one request without differences, otherwise two or three; one call of the repository's
 * Durable Object.
 *
 * @throws RemoteFailure if the remote can't be reached, or refuses the push as a whole.
 */
export async function pushRemote(
  ctx: Ctx,
  repo: RepositoryContext,
  remote: RemoteRepository,
  plan: PushRemotePlan,
): Promise<PushedRemote> {
  const stored = ctx.git.repository(repo.row);
  const snapshot = await stored.snapshot();
  const remoteRefs = await remote.listPushRefs();
  const { commands, refused: impossible } = listCommands(snapshot, remoteRefs, plan);
  let results: readonly RefResult[] = [];
  let packBytes = 0;
  if (commands.length > 0) {
    const repository = await stored.open(snapshot);
    const origin: PackOrigin = { stored, repository };
    const count = (bytes: number): void => void (packBytes += bytes);
    const push = async (isAtomic: boolean): Promise<readonly RefResult[]> => {
      const pack = commands.every(isDelete)
        ? undefined
        : makePack(
            origin,
            await listKnown(repository, snapshot, remoteRefs),
            commands,
            remoteRefs,
            count,
          );
      const { options } = plan;
      const report = await remote.push({ commands, pack, isAtomic, ...(options && { options }) });
      return report.results;
    };
    const isAtomic = remoteRefs.capabilities.has("atomic") && !hasNameChange(commands);
    results = await push(isAtomic);
    const isRefused = results.some(({ kind }) => kind === "refused");
    if (isAtomic && isRefused && commands.length > 1) results = await push(false);
  }
  const all = [...impossible, ...results];
  return {
    results: all,
    refused: all.filter((result) => result.kind === "refused"),
    packBytes,
    requestCount: remote.requestCount,
  };
}

const isBranchOrTag = (name: ByteText): boolean => /^refs\/(?:heads|tags)\//.test(name);

/** The commands of a push, deletions first: a new name may lie below a deleted one. */
function listCommands(
  { refs }: Snapshot,
  remoteRefs: RemotePushRefs,
  { prune, refs: isChosen = isBranchOrTag }: PushRemotePlan,
): { commands: RefCommand[]; refused: RefResult[] } {
  const isPushed = (name: ByteText): boolean => isChosen(name) && !isHiddenRef(name);
  const here = new Map(refs.map(({ name, oid }) => [name as ByteText, oid]));
  const remote = new Map(remoteRefs.refs.map(({ name, oid }) => [name, oid]));
  const commands: RefCommand[] = [];
  const refused: RefResult[] = [];
  for (const [ref, oldOid] of remote) {
    if (!prune || here.has(ref) || !isPushed(ref)) continue;
    if (remoteRefs.capabilities.has("delete-refs"))
      commands.push({ ref, oldOid, newOid: NULL_OID });
    else refused.push({ kind: "refused", ref, reason: "the remote can't delete refs" });
  }
  for (const [ref, newOid] of here) {
    const oldOid = remote.get(ref) ?? NULL_OID;
    if (isPushed(ref) && oldOid !== newOid) commands.push({ ref, oldOid, newOid });
  }
  return { commands, refused };
}

/**
 * Whether a new ref lies below a deleted one, or the reverse: git can't do both in one transaction.
 */
function hasNameChange(commands: readonly RefCommand[]): boolean {
  const deleted = new Set<string>(commands.filter(isDelete).map(({ ref }) => ref));
  if (deleted.size === 0) return false;
  const created = new Set<string>(commands.filter((each) => !isDelete(each)).map(({ ref }) => ref));
  const liesBelow = (names: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
    [...names].some((name) => outersOf(name).some((outer) => others.has(outer)));
  return liesBelow(created, deleted) || liesBelow(deleted, created);
}

const outersOf = (name: string): string[] =>
  name.split("/").map((_, length, parts) => parts.slice(0, length).join("/"));

/**
 * The objects of the remote that are here.
 *
 * SECURITY: objects that no ref here reaches count as unknown, or the pack would reveal that they
 * are stored.
 */
async function listKnown(
  repository: OpenRepository,
  snapshot: Snapshot,
  remoteRefs: RemotePushRefs,
): Promise<Oid[]> {
  const reachable = repository.reachableFrom(snapshot);
  const known: Oid[] = [];
  for (const oid of new Set([...remoteRefs.refs.map((ref) => ref.oid), ...remoteRefs.haveOids])) {
    if (await reachable.find(oid)) known.push(oid);
  }
  return known;
}

/** The pack of what the remote lacks. */
async function* makePack(
  origin: PackOrigin,
  haveOids: readonly Oid[],
  commands: readonly RefCommand[],
  { capabilities }: RemotePushRefs,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const { catalog, graph, objects } = origin.repository;
  const has = new Set(haveOids);
  const newOids = new Set(commands.filter((each) => !isDelete(each)).map(({ newOid }) => newOid));
  const plan = await planFetch(graph, catalog, objects, {
    wantOids: [...newOids].filter((oid) => !has.has(oid)),
    haveOids,
    clientShallowOids: [],
    cut: undefined,
    filter: undefined,
    tags: [],
    isThin: !capabilities.has("no-thin"),
  });
  try {
    for await (const piece of sendPack(origin, plan, capabilities.has("ofs-delta"))) {
      onBytes(piece.length);
      yield piece;
    }
  } catch (error) {
    // Damage on this side must not be reported as a failure of the remote.
    throw new Error("the pack for a remote can't be made", { cause: error });
  }
}
