import { DurableObject } from "cloudflare:workers";

/** A ref. Names are byte text, one char a byte, as the engine has them. */
interface StoredRef {
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

export interface Push {
  id: string;
  actorId: number;
  /** The moment of the push, in milliseconds. */
  at: number;
  /** Packs that hold what the updates need; listed only if an update that needs them is made. */
  packs: PackRecord[];
  updates: RefUpdate[];
  /** All updates or none. */
  isAtomic: boolean;
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
  /** Nothing is wrong with it, but with another of an atomic push. */
  | { kind: "undone"; ref: string };

export interface PushOutcome {
  outcomes: RefOutcome[];
  /** True if the repository lists the packs now; if not, nobody refers to them. */
  arePacksKept: boolean;
  /** The full name of the branch that HEAD names. */
  head: string;
  hasRefs: boolean;
  /** All packs together. */
  packBytes: number;
}

export type ReplaceOutcome = { kind: "replaced" } | { kind: "stale" };

/** An update that was stored and of which nobody was told yet. */
export interface OutboxEntry {
  pushId: string;
  updates: RefUpdate[];
  actorId: number;
  at: number;
}

/** Thrown to undo a transaction, and caught around it. */
const undo = Symbol("undo");

// A column more is a statement more at the end: each is run once for every object.
const SCHEMA = [
  `create table refs (name text primary key, oid text not null, peeled_oid text) without rowid`,
  `create table packs (
    name text primary key, position integer not null unique, checksum text not null,
    pack_bytes integer not null, idx_bytes integer not null, sidecar_bytes integer not null,
    object_count integer not null
  ) without rowid`,
  `create table reflog (
    id integer primary key autoincrement, push_id text not null, ref text not null,
    old_oid text, new_oid text, actor_id integer not null, at integer not null
  )`,
  `create index reflog_ref on reflog (ref, id)`,
  `create table outbox (push_id text primary key, payload text not null) without rowid`,
];

/**
 * What changes of one repository, named by the repository's id.
 *
 * Its methods are short and wait for nothing, so each is one step that no other comes between.
 * They answer with tagged unions: an error would lose its own fields on the way.
 */
export class RepositoryObject extends DurableObject<Env> {
  private readonly sql: SqlStorage;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.sql = state.storage.sql;
    this.migrate();
  }

  private migrate(): void {
    const { kv } = this.ctx.storage;
    const applied = kv.get<number>("schema") ?? 0;
    if (applied === SCHEMA.length) return;
    this.ctx.storage.transactionSync(() => {
      for (const statement of SCHEMA.slice(applied)) this.sql.exec(statement);
      kv.put("schema", SCHEMA.length);
    });
  }

  snapshot(): Snapshot {
    return {
      version: this.version(),
      head: this.head(),
      refs: this.sql
        .exec<Row<StoredRef>>(`select name, oid, peeled_oid as "peeledOid" from refs order by name`)
        .toArray(),
      packs: this.listPacks(),
    };
  }

  /**
   * Moves refs, each only if it still is what the pusher saw, and lists the packs that they need.
   *
   * The one way in which a ref moves: what is checked here is checked for every push, merge and
   * edit.
   */
  commitPush(push: Push): PushOutcome {
    const outcomes: RefOutcome[] = [];
    let arePacksKept = false;
    try {
      this.ctx.storage.transactionSync(() => {
        const head = this.head() ?? `refs/heads/${push.defaultBranch}`;
        // Deletions first: they may make room for names that lie inside of theirs.
        const deletions = push.updates.filter(({ newOid }) => newOid === null);
        const others = push.updates.filter(({ newOid }) => newOid !== null);
        for (const update of [...deletions, ...others]) outcomes.push(this.moveRef(update, head));

        const hasFailed = outcomes.some(({ kind }) => kind !== "updated");
        if (push.isAtomic && hasFailed) throw undo;
        const done = new Set(outcomes.filter(isUpdated).map(({ ref }) => ref));
        const made = push.updates.filter(({ ref }) => done.has(ref));
        if (made.length === 0) return;
        if (made.some(({ newOid }) => newOid !== null)) {
          this.addPacks(push.packs);
          arePacksKept = true;
        }
        this.settleHead(head, made);
        this.note(push, made);
        this.bumpVersion();
      });
    } catch (error) {
      if (error !== undo) throw error;
      for (const [at, { kind, ref }] of outcomes.entries()) {
        if (kind === "updated") outcomes[at] = { kind: "undone", ref };
      }
    }
    const order = new Map(push.updates.map(({ ref }, at) => [ref, at]));
    const { bytes } = this.sql
      .exec<{ bytes: number }>("select coalesce(sum(pack_bytes), 0) as bytes from packs")
      .one();
    return {
      outcomes: outcomes.toSorted((a, b) => (order.get(a.ref) ?? 0) - (order.get(b.ref) ?? 0)),
      arePacksKept,
      head: this.head() ?? `refs/heads/${push.defaultBranch}`,
      hasRefs: this.sql.exec("select 1 from refs limit 1").toArray().length > 0,
      packBytes: bytes,
    };
  }

  /** Puts packs in the place of others that hold the same objects, if all those are still listed. */
  replacePacks(oldNames: string[], packs: PackRecord[]): ReplaceOutcome {
    return this.ctx.storage.transactionSync(() => {
      const listed = this.listPacks();
      const old = new Set(oldNames);
      const kept = listed.filter(({ name }) => !old.has(name));
      if (kept.length + old.size !== listed.length) return { kind: "stale" };
      // SECURITY: the new packs stand where the oldest of the old ones stood, before all later
      // ones: an object's home is its oldest pack, and deltas may point to older packs only.
      const first = listed.findIndex(({ name }) => old.has(name));
      const at = listed.slice(0, Math.max(first, 0)).filter(({ name }) => !old.has(name)).length;
      this.sql.exec("delete from packs");
      this.addPacks([...kept.slice(0, at), ...packs, ...kept.slice(at)]);
      this.bumpVersion();
      return { kind: "replaced" };
    });
  }

  /** Points HEAD to a branch, which need not exist. */
  setHead(ref: string): void {
    this.ctx.storage.kv.put("head", ref);
    this.bumpVersion();
  }

  /** Updates that were stored and not settled, oldest first. */
  listOutbox(): OutboxEntry[] {
    return this.sql
      .exec<{ payload: string }>("select payload from outbox")
      .toArray()
      .map(({ payload }) => JSON.parse(payload) as OutboxEntry);
  }

  /** Forgets an entry of the outbox: everybody who had to be told of the push was. */
  settle(pushId: string): void {
    this.sql.exec("delete from outbox where push_id = ?", pushId);
  }

  /** Forgets everything. For a repository that is deleted: its id is never given again. */
  async destroy(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.migrate();
  }

  private moveRef({ ref, oldOid, newOid, peeledOid }: RefUpdate, head: string): RefOutcome {
    const [row] = this.sql
      .exec<{ oid: string }>("select oid from refs where name = ?", ref)
      .toArray();
    const actualOid = row?.oid ?? null;
    if (actualOid !== oldOid) return { kind: "stale", ref, actualOid };
    if (newOid === null) {
      if (ref === head) return { kind: "default-branch", ref };
      this.sql.exec("delete from refs where name = ?", ref);
      return { kind: "updated", ref };
    }
    const otherRef = oldOid === null ? this.findConflict(ref) : undefined;
    if (otherRef !== undefined) return { kind: "conflict", ref, otherRef };
    this.sql.exec(
      `insert into refs (name, oid, peeled_oid) values (?, ?, ?)
       on conflict (name) do update set oid = excluded.oid, peeled_oid = excluded.peeled_oid`,
      ref,
      newOid,
      peeledOid,
    );
    return { kind: "updated", ref };
  }

  /** A ref that could not lie beside `ref` in a directory: git would refuse to fetch both. */
  private findConflict(ref: string): string | undefined {
    const inside = this.sql
      .exec<{ name: string }>(
        "select name from refs where name > ? and name < ? limit 1",
        `${ref}/`,
        `${ref}0`, // the character behind the slash
      )
      .toArray();
    if (inside[0]) return inside[0].name;
    const parts = ref.split("/");
    for (let length = parts.length - 1; length > 1; length--) {
      const outer = parts.slice(0, length).join("/");
      if (this.sql.exec("select 1 from refs where name = ?", outer).toArray().length > 0) {
        return outer;
      }
    }
    return undefined;
  }

  private listPacks(): PackRecord[] {
    return this.sql
      .exec<Row<PackRecord>>(
        `select name, checksum, pack_bytes as "packBytes", idx_bytes as "idxBytes",
           sidecar_bytes as "sidecarBytes", object_count as "objectCount"
         from packs order by position`,
      )
      .toArray();
  }

  private addPacks(packs: readonly PackRecord[]): void {
    for (const pack of packs) {
      this.sql.exec(
        `insert into packs
           (name, position, checksum, pack_bytes, idx_bytes, sidecar_bytes, object_count)
         values (?, (select coalesce(max(position), 0) + 1 from packs), ?, ?, ?, ?, ?)`,
        pack.name,
        pack.checksum,
        pack.packBytes,
        pack.idxBytes,
        pack.sidecarBytes,
        pack.objectCount,
      );
    }
  }

  /** A HEAD that leads nowhere takes the first branch that comes. */
  private settleHead(head: string, made: readonly RefUpdate[]): void {
    const isBorn = this.sql.exec("select 1 from refs where name = ?", head).toArray().length > 0;
    const first = made.find(({ ref, newOid }) => newOid !== null && ref.startsWith("refs/heads/"));
    this.ctx.storage.kv.put("head", isBorn || !first ? head : first.ref);
  }

  private note({ id, actorId, at }: Push, made: readonly RefUpdate[]): void {
    for (const { ref, oldOid, newOid } of made) {
      this.sql.exec(
        `insert into reflog (push_id, ref, old_oid, new_oid, actor_id, at)
         values (?, ?, ?, ?, ?, ?)`,
        id,
        ref,
        oldOid,
        newOid,
        actorId,
        at,
      );
    }
    // A row holds 2 MB at most; of a push of very many refs the reflog has the rest.
    const updates = made.slice(0, OUTBOX_UPDATES_MAX);
    const entry: OutboxEntry = { pushId: id, updates: [...updates], actorId, at };
    this.sql.exec("insert into outbox values (?, ?)", id, JSON.stringify(entry));
  }

  private head(): string | null {
    return this.ctx.storage.kv.get<string>("head") ?? null;
  }

  private version(): number {
    return this.ctx.storage.kv.get<number>("version") ?? 0;
  }

  private bumpVersion(): void {
    this.ctx.storage.kv.put("version", this.version() + 1);
  }
}

/** Updates that one entry of the outbox names. */
const OUTBOX_UPDATES_MAX = 1000;

/** A row as the cursor types it. */
type Row<T> = { [K in keyof T]: T[K] & SqlStorageValue };

const isUpdated = (outcome: RefOutcome): boolean => outcome.kind === "updated";
