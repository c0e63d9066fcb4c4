import type { MergeStyle } from "../db/schema/index.ts";
import type { ByteText } from "../git/byte-text.ts";
import type { Oid } from "../git/oid.ts";
import type { CollectionPolicy } from "./collection-policy.ts";

/** The location of a repository's git data. */
export interface RepositoryLocation {
  /** The name of the Durable Object that owns its refs. */
  readonly objectName: string;
  /** The fork network whose packs it shares. */
  readonly networkName: string;
}

/** A large file as stored by one upload. */
export interface LargeFile {
  /** The fork network whose repositories may share the file. */
  readonly networkName: string;
  /** The SHA-256 in hex, as claimed by a client and possibly unverified. */
  readonly oid: string;
  readonly uploadId: string;
}

/** A file with the image of an avatar, as stored by one upload. */
export interface AvatarFile {
  /** The SHA-256 of its bytes in hex. */
  readonly hash: string;
  readonly uploadId: string;
}

/** A ref. Names are byte text, one character per byte, as in the engine. */
export interface StoredRef {
  name: string;
  oid: string;
  /** The object to which an annotated tag peels; null for any other ref. */
  peeledOid: string | null;
}

/** A pack as the repository lists it. */
export interface PackRecord {
  name: string;
  /** The pack's trailing hash. */
  checksum: string;
  packBytes: number;
  idxBytes: number;
  sidecarBytes: number;
  objectCount: number;
}

/**
 * Which refs of pull requests (`refs/pull/N/…`) a snapshot has, by their numbers. A repository has
 * one or more for each pull request that it ever had, so that who needs some of them asks for these
 * only.
 */
export type PullRefs = "all" | "none" | readonly number[];

/** The mutable state of a repository at one moment, as its object returns it. */
export interface SnapshotRecord {
  /** Grows with every change. */
  version: number;
  /** The full name of the branch that HEAD names; null until the first push. */
  head: string | null;
  /** Ordered by name. */
  refs: StoredRef[];
  /** Whether the repository has refs of pull requests that `refs` lacks. */
  lacksPullRefs: boolean;
  /** Oldest first. */
  packs: PackRecord[];
  /** Grows with each pack of which unreachable objects were removed. */
  collections: number;
}

/**
 * The commit with which a repository begins that was generated from a template. It has a tree of
 * the template, and no parent.
 */
export interface Seed {
  /** The full name of its branch, the only ref. */
  ref: string;
  oid: Oid;
  /** Its content. */
  commit: ByteText;
  /** The upload of its pack, which belongs to it until it lists the pack. */
  uploadId: string;
}

/** The refs and packs that a fork takes over from its source, and the fork's location. */
export type ForkRecord = Pick<SnapshotRecord, "head" | "refs" | "packs"> & {
  location: RepositoryLocation;
  /** With it, the packs are taken over, and no ref. */
  seed?: Seed | undefined;
};

/** The mutable state of a repository at one moment, as a read needs it. */
export interface Snapshot extends SnapshotRecord {
  /**
   * The refs of pull requests, if `refs` lacks any of them; else none. Ordered by name, as of the
   * first call.
   *
   * SECURITY: objects that only they reach are as readable as all others, so that code that refuses
   * an object asks them first.
   */
  readonly loadPullRefs: () => Promise<readonly StoredRef[]>;
  /**
   * The same for those with one of some values, without reading the others: most look-ups are of
   * the head of one.
   */
  readonly findPullRefs: (oids: readonly string[]) => Promise<readonly StoredRef[]>;
}

/** The refs of a snapshot, as reachability needs them. */
export type SnapshotRefs = Pick<Snapshot, "refs" | "loadPullRefs">;

/** The update of one ref. A null oid stands for "does not exist". */
export interface RefUpdate {
  ref: string;
  oldOid: string | null;
  newOid: string | null;
  /** The object to which an annotated tag peels; null for any other ref. */
  peeledOid: string | null;
}

/** A renaming of the branch that HEAD names, by full names. */
export interface HeadMove {
  from: string;
  to: string;
}

/** The visibility of a repository, as its row has it. */
interface PushVisibility {
  visibility: "public" | "limited" | "private";
  isPrivate: boolean;
}

/** Why refs of a remote are taken over: by a mirror that follows it, or for the first time. */
type RemoteOrigin = "mirror" | "import";

/** A ref that must have a value. */
export type RequiredRef = Pick<StoredRef, "name" | "oid">;

/**
 * The merge of a pull request, which a push makes. A pull request is merged by one push at most.
 */
export interface PushedMerge {
  number: number;
  issueId: number;
  kind: MergeStyle;
  /**
   * The commit that the base becomes, and the one that it was; between merges of the same push also
   * ones in between.
   */
  commitOid: string;
  baseOid: string;
  /** The merge base of both sides; "" for unrelated histories. */
  mergeBaseOid: string;
  /** Whether it was scheduled, or queued. */
  isAutomatic: boolean;
  /** The user who merges it, if another one pushes. */
  mergerId?: number;
  /** Whether the branch of the head is deleted afterwards, if the merger may delete it. */
  isBranchDeleted?: boolean;
}

/** A lease on a ref, as its holder names it. */
export interface HeldLease {
  ref: string;
  id: string;
}

export type LeaseOutcome<S = Snapshot> =
  | {
      kind: "acquired";
      lease: HeldLease;
      /** Whether others had it before, so that what the holder read may have changed. */
      hasWaited: boolean;
      /** The repository when the lease was granted. */
      snapshot: S;
    }
  /** Others have the lease until the time to wait is over. */
  | { kind: "busy" };

export interface Push {
  id: string;
  actorId: number;
  /**
   * Whether its credential reaches less than its account: nothing follows from it in other
   * repositories.
   */
  isConfined: boolean;
  /**
   * That it takes over the refs of a remote: then also the branch that HEAD names may be deleted.
   */
  origin?: RemoteOrigin;
  /** The time of the push, in milliseconds. */
  at: number;
  /** The public URL of the service; "" if the configuration has one. */
  rootUrl: string;
  /** The repository's visibility when the push was received. */
  visibility: PushVisibility;
  /** The upload of the pack; null if the push needs no pack. */
  uploadId: string | null;
  /** Packs with the new objects; listed only if an update other than a deletion is applied. */
  packs: PackRecord[];
  /**
   * Packs of another repository of the network that the updates need, under hold here; listed
   * before `packs`.
   */
  adoptedPacks?: PackRecord[];
  /**
   * With `adoptedPacks`: the `collections` of the snapshot by which they were chosen. Objects that
   * no ref reached then may be among the needed ones, so the push is refused if any were removed
   * since.
   */
  adoptedAt?: number;
  updates: RefUpdate[];
  /**
   * Refs that reach what the new objects and values rely on. The push is refused if one of them has
   * changed.
   */
  requiredRefs: RequiredRef[];
  /** Whether either all updates are applied or none. */
  isAtomic: boolean;
  /** Points HEAD at `to` if it names `from`. */
  headMove?: HeadMove;
  /** The branch that HEAD names before the first push. */
  defaultBranch: string;
  /** The merges that it makes: all of them, or the push is refused. */
  merges?: readonly PushedMerge[];
  /** Ends with the push if it updates a ref. */
  lease?: HeldLease;
}

/** The result of one update. */
export type RefOutcome =
  | { kind: "updated"; ref: string }
  /** The ref does not have the expected old oid: it has `actualOid`, or does not exist. */
  | { kind: "stale"; ref: string; actualOid: string | null }
  /** The name conflicts with another ref's as file and directory. */
  | { kind: "conflict"; ref: string; otherRef: string }
  | { kind: "default-branch"; ref: string }
  /** The upload expired, or the repository was deleted, before the push was committed. */
  | { kind: "expired"; ref: string }
  /** A required ref has changed. */
  | { kind: "required-ref-changed"; ref: string }
  /** Another push has merged one of the pull requests. */
  | { kind: "merged"; ref: string }
  /** The update is valid, but another update of the atomic push failed. */
  | { kind: "undone"; ref: string };

/** The git data of a repository that is copied to its D1 row for lists. */
export interface RepositorySummary {
  /** The full name of the branch that HEAD names; null until the first push. */
  head: string | null;
  hasRefs: boolean;
  /** The size of all packs together. */
  packBytes: number;
}

export interface PushOutcome {
  outcomes: RefOutcome[];
  /**
   * The push's outbox entry, to be settled after its follow-up work; null if no ref was updated.
   */
  entry: OutboxEntry | null;
  summary: RepositorySummary;
  /** The branches' distinct oids before the push; empty unless the push created a branch. */
  earlierHeads: string[];
  /** True if the repository lists the packs now; otherwise no repository references them. */
  arePacksKept: boolean;
  /** True if there are enough small packs to merge them now. */
  isMaintenanceDue: boolean;
}

export type ReplaceOutcome =
  /** `packBytes` is the size of all packs together. */
  { kind: "replaced"; packBytes: number } | { kind: "stale" };

/** Counts that show whether a search for unreachable objects is still valid. */
export interface CollectionEpoch {
  readonly collections: number;
  /** Of pushes that took what another repository of the network reaches. */
  readonly adoptions: number;
}

/** Former values of refs, and the reflog id behind which there are more; null if there are not. */
export interface FormerOids {
  oids: string[];
  nextId: number | null;
}

/** A repository as a search for unreachable objects needs it. */
export interface CollectionView {
  epoch: CollectionEpoch;
  /** Oldest first. */
  packs: PackRecord[];
  /** Names of those that other repositories of the network may list. */
  sharedNames: string[];
  /** The distinct values of all refs. */
  tipOids: string[];
  /** Values that refs had, whose grace period is not over. */
  former: FormerOids;
}

/** The replacement of a pack by one without the objects that nothing reaches. */
export interface CollectedPack {
  oldName: string;
  /** Null if nothing of it is left. */
  pack: PackRecord | null;
  /** The upload of the pack; null if the repository has the pack under hold. */
  uploadId: string | null;
  /** Whether other repositories of the network are to list the new pack. */
  isShared: boolean;
  /** As of the view by which it was made. */
  epoch: CollectionEpoch;
}

/**
 * A committed push whose follow-up work, such as recording its event, is not done. Its updates are
 * in the reflog.
 */
export interface OutboxEntry {
  pushId: string;
  /** The number of updated refs. */
  updateCount: number;
  actorId: number;
  isConfined: boolean;
  at: number;
  rootUrl: string;
  visibility: PushVisibility;
  /** The pack of the push; null if it needed none. */
  packName: string | null;
  /** The reflog id of its first update; the ids of its other updates follow. */
  firstLogId: number;
  /** That it took over the refs of a remote. */
  origin?: RemoteOrigin;
  /** The merges that it makes, which are recorded with it. */
  merges?: readonly PushedMerge[];
}

/** The update of one ref as a push applied it. A null oid stands for "does not exist". */
export type MadeUpdate = Pick<RefUpdate, "ref" | "oldOid" | "newOid">;

/** A branch that does not exist any more. */
export interface DeletedBranch {
  /** The full name. */
  ref: string;
  /** The commit that it led to. */
  oid: string;
  /** When it was deleted, in milliseconds. */
  at: number;
}

/** A pack that was removed from the repository's list and is kept for running reads. */
export interface RetiredPack {
  name: string;
  /** True if other repositories of the network may list it. */
  isShared: boolean;
}

/** The last repository of the network that was asked for retired packs. */
export interface Inquiry {
  /** Shared packs that none of the asked repositories needs. */
  names: string[];
  /** Repositories with ids up to this one were asked. */
  askedTo: number;
  /** When the first was asked, in milliseconds. */
  startedAt: number;
}

/** The maintenance due for a repository. */
export interface Work {
  /** The version at which the work was listed, passed to `finishWork` when all of it is done. */
  version: number;
  summary: RepositorySummary;
  /** Pushes that are not settled, oldest first. */
  outbox: OutboxEntry[];
  /** Expired uploads, whose files are to be deleted. */
  uploadIds: string[];
  /** Retired packs that readers of this repository no longer use. */
  retired: RetiredPack[];
  /**
   * Forks that have not taken over, and of which it is not known whether they exist; all of a
   * deleted repository.
   */
  forkNames: string[];
  /** An inquiry that an earlier job has left; null if there is none. */
  inquiry: Inquiry | null;
  /** Oldest first. */
  packs: PackRecord[];
  /** True if the repository has changed since its last maintenance. */
  isChanged: boolean;
  /** True if the repository is deleted; its object exists only until all files are deleted. */
  isDiscarded: boolean;
}

/** The maintenance that a job finished. */
export interface DoneWork {
  version: number;
  pushIds: string[];
  uploadIds: string[];
  retiredNames: string[];
  /** Forks that do not exist, or have taken over. */
  goneForkNames: string[];
  /** Forks that exist and may not have taken over. */
  confirmedForkNames: string[];
  /** The inquiry that the next job continues; null if there is none. */
  inquiry: Inquiry | null;
  /** When the repository is to be searched for unreachable objects. */
  policy: CollectionPolicy;
}

/** A piece of the log of a task. */
export interface LogPiece {
  readonly taskId: number;
  /** From 0. */
  readonly firstRow: number;
  readonly rowCount: number;
}
