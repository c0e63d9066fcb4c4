import { eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { repositories } from "../../../db/schema/index.ts";
import { type ByteText, decodeText, encodeText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { NULL_OID, type Oid, oidBytes } from "../../../git/oid.ts";
import { HaveWalk } from "../../../git/walk/have-walk.ts";
import { peel } from "../../../git/walk/peel.ts";
import type { RefCommand } from "../../../git/wire/receive-request.ts";
import { inPiecesOf } from "../../../lib/in-pieces-of.ts";
import { log } from "../../../lib/log.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { ReceivedPack } from "../../../storage/pack-receiver.ts";
import type { MadeUpdate, Snapshot } from "../../../storage/repository-records.ts";
import type { BegunUpload, StoredRepository } from "../../../storage/storage.ts";
import { packLimits } from "../../code/git/pack-limits.ts";
import { isHiddenRef, pushRefs, type RefPush } from "../../code/git/push-refs.ts";
import { chooseHead, chooseRefs, type ChosenRefs, type SkippedRef } from "./choose-refs.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import type { RemoteRepository } from "./remote-repository.ts";

/** The source of refs and packs: a remote, or a bundle that is read like one. */
export type FetchSource = Pick<
  RemoteRepository,
  "listRefs" | "fetchPack" | "shown" | "requestCount"
>;

/** Which refs are fetched from a remote, and how. */
export interface FetchRemotePlan {
  /**
   * Whether refs that the remote lacks are deleted here. Refs that only the service writes never
   * are.
   */
  readonly prune: boolean;
  /** Whether the repository is created from the remote: then no events are recorded. */
  readonly isFirst: boolean;
  /**
   * Which refs, and what they are called here; undefined leaves a ref out. By default all, except
   * those that only the service writes. With `prune`, refs of other names are deleted.
   */
  readonly refs?: (name: ByteText) => ByteText | undefined;
}

/** The result of a fetch. */
export interface FetchedRemote {
  readonly updates: readonly MadeUpdate[];
  /** The full name of the branch that HEAD names now; undefined before the first branch exists. */
  readonly head: string | undefined;
  /** Refs of the remote that can't be here, and refs here that can't be deleted. */
  readonly skipped: readonly SkippedRef[];
  /** Bytes of packs received. */
  readonly packBytes: number;
  /** Requests sent to the remote, of all calls on it. */
  readonly requestCount: number;
}

/** How often refs are updated again because others changed the repository meanwhile. */
const ATTEMPTS_MAX = 4;

/**
 * Takes over refs of a remote into a repository: fetches what is missing, checks it as a push is
 * checked, and updates the refs in one push of cause "mirror", or "import" for the first time. HEAD
 * follows the remote's.
 *
 * Nothing is visible before all of it is verified. Without changes nothing is written, and the
 * remote gets the requests of `listRefs` only.
 *
 * Cost: a call of the repository's Durable Object, and two more with a pack.
 *
 * @throws RemoteFailure if the remote can't be read, or what it sends is not valid; the repository
 *   is unchanged then.
 */
export async function fetchRemote(
  ctx: Ctx,
  repo: RepositoryContext,
  remote: FetchSource,
  plan: FetchRemotePlan,
): Promise<FetchedRemote> {
  const listed = await remote.listRefs();
  const chosen = chooseRefs(listed, plan.refs ?? defaultName);
  if (chosen.oids.size > ctx.config.pushMaxRefs) {
    throw new RemoteFailure("too_large", `the remote has more than ${ctx.config.pushMaxRefs} refs`);
  }
  const updates: MadeUpdate[] = [];
  let packBytes = 0;
  for (let attempt = 1; ; attempt++) {
    const taken = await takeOver(ctx, repo, remote, plan, chosen);
    updates.push(...taken.updates);
    packBytes += taken.packBytes;
    if (taken.isStale && attempt < ATTEMPTS_MAX) continue;
    const { head } = taken;
    const skipped = [...chosen.skipped, ...taken.skipped];
    return { updates, head, skipped, packBytes, requestCount: remote.requestCount };
  }
}

/** The name of a remote's ref here, unless the plan names it. */
const defaultName = (name: ByteText): ByteText | undefined =>
  isHiddenRef(name) ? undefined : name;

/** The result of one attempt. */
interface Taken {
  readonly updates: readonly MadeUpdate[];
  readonly skipped: readonly SkippedRef[];
  readonly packBytes: number;
  readonly head: string | undefined;
  /** Whether the repository was changed meanwhile, so that not all is done. */
  readonly isStale: boolean;
}

async function takeOver(
  ctx: Ctx,
  repo: RepositoryContext,
  remote: FetchSource,
  plan: FetchRemotePlan,
  chosen: ChosenRefs,
): Promise<Taken> {
  const stored = ctx.git.repository(repo.row);
  const snapshot = await stored.snapshot();
  const repository = await stored.open(snapshot);
  const missing = await findMissing(repository, snapshot, chosen);
  const fetched =
    missing.length === 0 ? undefined : await receivePack(ctx, stored, remote, chosen, missing);
  const state = fetched?.snapshot ?? snapshot;
  const head = chooseHead(chosen, state.head, encodeText(repo.row.defaultBranch));
  const commands = listCommands(state, plan, chosen);
  const applied = new Set<string>();
  const skipped: SkippedRef[] = [];
  let isStale = false;
  if (commands.length > 0) {
    const push: RefPush = {
      cause: plan.isFirst ? "import" : "mirror",
      commands,
      isAtomic: false,
      repository: fetched?.received.repository ?? repository,
      reachable: fetched?.received.reachable ?? repository.reachableFrom(state),
      uploadId: fetched?.uploadId,
      pack: fetched?.received.record,
      headMove: { from: head.from, to: head.to },
    };
    for (const result of await pushRefs(ctx, repo, push)) {
      if (result.kind === "ok") applied.add(result.ref);
      else if (result.isStale) isStale = true;
      else skipped.push({ ref: result.ref, reason: result.reason });
    }
  } else if (fetched) {
    await drop(stored, fetched.uploadId);
  }
  const isThere = !head.isBorn || state.refs.some(({ name }) => name === head.to);
  if (applied.size === 0 && isThere && head.to !== (state.head ?? head.from)) {
    await moveHead(ctx, repo, stored, head.to);
  }
  return {
    updates: commands.filter(({ ref }) => applied.has(ref)).map(toMadeUpdate),
    skipped,
    packBytes: fetched?.received.record.packBytes ?? 0,
    head: head.isBorn ? head.to : undefined,
    isStale,
  };
}

/** The ids that the chosen refs are to have and that no ref here reaches. */
async function findMissing(
  repository: OpenRepository,
  snapshot: Snapshot,
  { oids }: ChosenRefs,
): Promise<Oid[]> {
  const values = new Set(snapshot.refs.map(({ oid }) => oid));
  const unknown = new Set([...oids.values()].filter((oid) => !values.has(oid)));
  if (unknown.size === 0) return [];
  const reachable = repository.reachableFrom(snapshot);
  const missing: Oid[] = [];
  // SECURITY: what is merely stored may have been removed, or belong to a fork: it is fetched
  // again.
  for (const oid of unknown) if (!(await reachable.find(oid))) missing.push(oid);
  return missing;
}

/**
 * Bytes of a pack that are received at once. Packets have 64 KB at most, and each entry on the edge
 * of two pieces is read twice.
 */
const PIECE_BYTES = 256 * 1024;

interface Fetched extends BegunUpload {
  readonly received: ReceivedPack;
}

/** Fetches the objects that the wants reach, and verifies it. Removes stored data on failure. */
async function receivePack(
  { config, now }: Ctx,
  stored: StoredRepository,
  remote: FetchSource,
  chosen: ChosenRefs,
  wants: readonly Oid[],
): Promise<Fetched> {
  const begun = await stored.beginUpload(now, "all");
  const { uploadId, snapshot } = begun;
  const limits = packLimits(config);
  const receiver = stored.receivePack(uploadId, limits, config.findingSeverities);
  try {
    const repository = await stored.open(snapshot);
    const haves = openHaves(repository, snapshot, chosen, wants);
    const { onCommon } = haves;
    const pack = remote.fetchPack({ wants, haves, onCommon });
    for await (const piece of inPiecesOf(PIECE_BYTES, pack)) {
      await checked(remote, receiver.write(piece));
    }
    const received = await checked(remote, receiver.finish(repository, snapshot));
    const idx = received?.repository.catalog.packs.at(-1)?.idx;
    const left = wants.find((oid) => !idx || idx.find(oidBytes(oid)) < 0);
    if (!received || left !== undefined) {
      throw new RemoteFailure("protocol", `the remote's pack lacks ${left ?? "all objects"}`);
    }
    return { ...begun, received };
  } catch (error) {
    await drop(stored, uploadId, receiver);
    throw error;
  }
}

/** Rethrows the refusal of a pack as the remote's failure. */
async function checked<T>(remote: FetchSource, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const kind = error.code === "limit" ? "too_large" : "protocol";
    throw new RemoteFailure(kind, remote.shown(`the remote's pack is refused: ${error.message}`));
  }
}

/** Deletes the files of an upload. If that fails, maintenance does it when the upload expires. */
async function drop(
  stored: StoredRepository,
  uploadId: string,
  receiver?: Parameters<StoredRepository["dropUpload"]>[1],
): Promise<void> {
  try {
    await stored.dropUpload(uploadId, receiver);
  } catch (error) {
    log("remotes:upload-not-dropped", { uploadId, reason: String(error) });
  }
}

function openHaves(
  { catalog, graph }: OpenRepository,
  { refs }: Snapshot,
  { oids }: ChosenRefs,
  wants: readonly Oid[],
): HaveWalk {
  const wantSet = new Set(wants);
  const nodeOf = (oid: Oid) => {
    const found = catalog.find(oid);
    const location = found && peel(catalog, found);
    return location ? graph.nodeAt(location) : -1;
  };
  const common = [...new Set(oids.values())].filter((oid) => !wantSet.has(oid)).map(nodeOf);
  return new HaveWalk(
    graph,
    refs.map(({ oid, peeledOid }) => graph.find(peeledOid ?? oid)),
    common,
  );
}

/** The commands that make the refs here equal to the remote's. */
function listCommands(
  { refs }: Snapshot,
  { prune }: FetchRemotePlan,
  { oids, kept }: ChosenRefs,
): RefCommand[] {
  const commands: RefCommand[] = [];
  const current = new Map(refs.map(({ name, oid }) => [name, oid]));
  for (const [ref, newOid] of oids) {
    const oldOid = current.get(ref) ?? NULL_OID;
    if (oldOid !== newOid) commands.push({ ref, oldOid, newOid });
  }
  if (!prune) return commands;
  for (const { name, oid } of refs) {
    const ref = name as ByteText;
    if (oids.has(ref) || kept.has(ref) || isHiddenRef(ref)) continue;
    commands.push({ ref, oldOid: oid, newOid: NULL_OID });
  }
  return commands;
}

async function moveHead(
  { db, git }: Ctx,
  { row, isWiki }: RepositoryContext,
  stored: ReturnType<typeof git.repository>,
  to: ByteText,
): Promise<void> {
  await stored.setHead(to);
  const branch = decodeText(to.slice("refs/heads/".length) as ByteText);
  const column = isWiki ? { wikiBranch: branch } : { defaultBranch: branch };
  await db.update(repositories).set(column).where(eq(repositories.id, row.id));
}

const toMadeUpdate = ({ ref, oldOid, newOid }: RefCommand): MadeUpdate => ({
  ref,
  oldOid: oldOid === NULL_OID ? null : oldOid,
  newOid: newOid === NULL_OID ? null : newOid,
});
