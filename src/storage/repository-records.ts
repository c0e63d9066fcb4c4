/** Where a repository's git data is. */
export interface RepositoryLocation {
  /** Of the object that holds its refs. */
  readonly objectName: string;
  /** The fork network whose packs it shares. */
  readonly networkName: string;
}

/** The bytes of a large file, as one upload brought them. */
export interface LargeFile {
  /** The fork network whose repositories may share them. */
  readonly networkName: string;
  /** Their SHA-256 in hex, or what claims to be it. */
  readonly oid: string;
  readonly uploadId: string;
}

/** A ref. Names are byte text, one char a byte, as the engine has them. */
export interface StoredRef {
  name: string;
  oid: string;
  /** What an annotated tag leads to in the end, null for anything else. */
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

/** A repository at one moment: all that a read needs of what changes. */
export interface Snapshot {
  /** Grows with every change. */
  version: number;
  /** The full name of the branch that HEAD names; null until the first push. */
  head: string | null;
  /** By name. */
  refs: StoredRef[];
  /** Oldest first. */
  packs: PackRecord[];
}

/** One ref to move. A null id stands for "does not exist". */
export interface RefUpdate {
  ref: string;
  oldOid: string | null;
  newOid: string | null;
  /** Of an annotated tag: what it leads to. */
  peeledOid: string | null;
}

/** A renaming of the branch that HEAD names, by full names. */
export interface HeadMove {
  from: string;
  to: string;
}

export interface Push {
  id: string;
  actorId: number;
  /** The moment of the push, in milliseconds. */
  at: number;
  /** Where the service was reached; "" where the configuration says it. */
  rootUrl: string;
  /** The upload that brought the pack; null if none was needed. */
  uploadId: string | null;
  /** Packs that hold what the updates need; listed only if an update that needs them is made. */
  packs: PackRecord[];
  updates: RefUpdate[];
  /** All updates or none. */
  isAtomic: boolean;
  /** What is done to HEAD if it names `from`. */
  headMove?: HeadMove;
  /** What HEAD names where nothing was pushed yet. */
  defaultBranch: string;
}

/** What became of one update. */
export type RefOutcome =
  | { kind: "updated"; ref: string }
  /** The ref is not what the pusher saw: it is `actualOid`, or gone. */
  | { kind: "stale"; ref: string; actualOid: string | null }
  /** The name lies inside of another ref's, or another's inside of it. */
  | { kind: "conflict"; ref: string; otherRef: string }
  | { kind: "default-branch"; ref: string }
  /** The upload was given up, or the repository deleted, before the push came to its end. */
  | { kind: "expired"; ref: string }
  /** Nothing is wrong with it, but with another of an atomic push. */
  | { kind: "undone"; ref: string };

/** What a list of repositories shows of one. */
export interface RepositorySummary {
  /** The full name of the branch that HEAD names; null until the first push. */
  head: string | null;
  hasRefs: boolean;
  /** All packs together. */
  packBytes: number;
}

export interface PushOutcome {
  outcomes: RefOutcome[];
  /** What is to be told of it; null if nothing was moved. */
  entry: OutboxEntry | null;
  summary: RepositorySummary;
  /** True if the repository lists the packs now; if not, nobody refers to them. */
  arePacksKept: boolean;
  /** True if there are so many packs that they should be merged. */
  isMaintenanceDue: boolean;
}

export type ReplaceOutcome =
  /** All packs together are so large now. */
  { kind: "replaced"; packBytes: number } | { kind: "stale" };

/** A push that was stored and of which nobody was told yet. Its updates are in the reflog. */
export interface OutboxEntry {
  pushId: string;
  /** Of refs that were moved. */
  updateCount: number;
  actorId: number;
  at: number;
  rootUrl: string;
  /** The pack that it brought; null if none was needed. */
  packName: string | null;
  /** The first of its updates in the reflog, where the others follow. */
  firstLogId: number;
}

/** One ref that a push moved. A null id stands for "does not exist". */
export type MadeUpdate = Pick<RefUpdate, "ref" | "oldOid" | "newOid">;

/** A pack that the repository listed and lists no more. */
export interface RetiredPack {
  name: string;
  /** True if other repositories of the network may list it. */
  isShared: boolean;
}

/** What is to be done for a repository behind everybody's back. */
export interface Work {
  /** What `finishWork` is told of when all of this is done. */
  version: number;
  summary: RepositorySummary;
  /** Pushes that nobody was told of yet, oldest first. */
  outbox: OutboxEntry[];
  /** Uploads that were given up: whatever they left in the bucket is to go. */
  uploadIds: string[];
  /** Packs that nobody reads any more, of this repository's readers. */
  retired: RetiredPack[];
  /** Oldest first. */
  packs: PackRecord[];
  /** True if something has changed since the repository was tended last. */
  isChanged: boolean;
  /** True if the repository is deleted, and only what is still to go keeps its object alive. */
  isDiscarded: boolean;
}

/** What was done of it. */
export interface DoneWork {
  version: number;
  pushIds: string[];
  uploadIds: string[];
  retiredNames: string[];
}
