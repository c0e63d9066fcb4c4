import { isPullRef } from "../domain/code/git/pull-refs.ts";
import { sendPack } from "../domain/code/git/send-pack.ts";
import type { ByteText } from "../git/byte-text.ts";
import { GitError, missing } from "../git/error.ts";
import { isWholeId, type Oid } from "../git/oid.ts";
import { resident } from "../git/catalog/block-pool.ts";
import { NO_NODE, type Node } from "../git/walk/commit-graph.ts";
import { type FetchNeeds, type FetchPlan, planFetch } from "../git/walk/fetch-plan.ts";
import { peel } from "../git/walk/peel.ts";
import { areAllBasedOn, findReachable } from "../git/walk/reachable.ts";
import { ReachableObjects } from "../git/walk/reachable-objects.ts";
import { ReachableCommits } from "../git/walk/reachable-commits.ts";
import { cutByDepth, cutByRange, cutRelative, type ShallowCut } from "../git/walk/shallow.ts";
import type { AdvertisedRef } from "../git/wire/advertisement.ts";
import { DEPTH_INFINITE, type FetchRequest } from "../git/wire/fetch-request.ts";
import type { ShallowUpdate } from "../git/wire/fetch-response.ts";
import { FRAME_PAYLOAD_MAX, FRAME_SPACING } from "../git/wire/side-band.ts";
import type { Spacing } from "../git/store.ts";
import type { OpenRepository } from "../storage/open-repository.ts";
import type { Snapshot } from "../storage/repository-records.ts";
import type { ResultKey } from "../storage/result-cache.ts";
import type { StoredRepository } from "../storage/storage.ts";
import type { RefView } from "./advertised-refs.ts";
import { formatTotal, type SentPack, type StoredPack, keepPieces, openKept } from "./kept-pack.ts";
import { frameSpaced, inFrames } from "./pack-frames.ts";

/** The prefixes that git puts before a short name to find a ref, in its order. */
const SHORT_NAMES = ["", "refs/", "refs/tags/", "refs/heads/"];

/**
 * Whether a request has the same answer without the refs of pull requests that a snapshot lacks: it
 * wants values of the other refs, and all commits of the client that are stored are reached by
 * these.
 */
export function coversRequest(
  { refs }: Pick<Snapshot, "refs">,
  { graph }: OpenRepository,
  { wantOids, wantRefs, haveOids, deepen }: FetchRequest,
): boolean {
  const names = new Set(refs.map(({ name }) => name)).add("HEAD");
  const notRefs = deepen?.notRefs ?? [];
  if (!wantRefs.every((name) => names.has(name))) return false;
  if (notRefs.some((name) => SHORT_NAMES.some((each) => isPullRef(`${each}${name}`)))) return false;
  const tips = new Set(refs.flatMap(({ oid, peeledOid }) => [oid, peeledOid ?? oid]));
  if (!wantOids.every((oid) => tips.has(oid))) return false;
  let commits: ReachableCommits | undefined;
  return haveOids.every((oid) => {
    const node = graph.find(oid);
    if (tips.has(oid) || node === NO_NODE) return true;
    commits ??= new ReachableCommits(
      graph,
      Array.from(tips, (tip) => graph.find(tip)),
    );
    return commits.tipOf(node) !== undefined;
  });
}

/** Evaluates one fetch request, in any version of the protocol. */
export class FetchSession {
  private readonly stored: StoredRepository;
  private readonly view: RefView;
  /** Refs by name, since a request may want very many. */
  private readonly refs: ReadonlyMap<string, AdvertisedRef>;
  private readonly repository: OpenRepository;
  private readonly request: FetchRequest;
  /** Refs that the client wants by name (`want-ref`). */
  readonly wantedRefs: readonly AdvertisedRef[];
  private readonly wantOids: readonly Oid[];
  private readonly tips: readonly Node[];
  private readonly cut: ShallowCut | undefined;
  /** The client's haves that a ref of this repository reaches, in the client's order. */
  readonly commonOids: readonly Oid[];

  /** @throws GitError `missing` for a want that does not exist or is not reachable from a ref. */
  static async open(
    stored: StoredRepository,
    view: RefView,
    repository: OpenRepository,
    request: FetchRequest,
  ): Promise<FetchSession> {
    await refuseUnreachable(stored, view, repository, request.wantOids);
    return resident(() => new FetchSession(stored, view, repository, request));
  }

  private constructor(
    stored: StoredRepository,
    view: RefView,
    repository: OpenRepository,
    request: FetchRequest,
  ) {
    this.stored = stored;
    this.view = view;
    this.refs = new Map(view.refs.map((ref) => [ref.name, ref]));
    this.repository = repository;
    this.request = request;
    this.wantedRefs = request.wantRefs.map((name) => this.findRef(name));
    this.wantOids = [...request.wantOids, ...this.wantedRefs.map(({ oid }) => oid)];
    this.tips = this.wantOids.map((oid) => this.nodeOf(oid)).filter((node) => node !== NO_NODE);
    this.cut = this.findCut();
    this.commonOids = this.findReached(request.haveOids);
  }

  /**
   * True if every wanted commit descends from a commit of the client, so that negotiation can end.
   */
  isReady(): Promise<boolean> {
    return resident(() => {
      const common = this.commonOids.map((oid) => this.nodeOf(oid));
      return areAllBasedOn(this.repository.graph, this.tips, common);
    });
  }

  /** The changes of the client's shallow boundary; undefined if the request does not deepen. */
  shallowUpdate(): ShallowUpdate | undefined {
    const { cut, request } = this;
    const { graph } = this.repository;
    if (!cut) return undefined;
    const known = new Set(request.shallowOids);
    const shallowOids = [...cut.boundary]
      .map((node) => graph.oid(node))
      .filter((oid) => !known.has(oid));
    const unshallowOids = request.shallowOids.filter((oid) => {
      const node = graph.find(oid);
      return cut.nodes.has(node) && !cut.boundary.has(node);
    });
    return { shallowOids, unshallowOids };
  }

  /** The annotated tags that are sent with what they point to. */
  private get tags(): FetchNeeds["tags"] {
    if (!this.request.includesTags) return [];
    return this.view.refs
      .filter(({ name, peeledOid }) => peeledOid !== undefined && name.startsWith("refs/tags/"))
      .map(({ oid, peeledOid }) => ({ tagOid: oid, peeledOid: peeledOid ?? oid }));
  }

  /** Computes the objects to send. */
  plan(): Promise<FetchPlan> {
    const { catalog, graph, objects } = this.repository;
    const { request } = this;
    return planFetch(graph, catalog, objects, {
      wantOids: this.wantOids,
      haveOids: this.commonOids,
      clientShallowOids: request.shallowOids,
      cut: this.cut,
      filter: request.filter,
      tags: this.tags,
      isThin: request.isThin,
    });
  }

  /**
   * Streams the pack.
   *
   * @param spacing How it is laid out in the pieces.
   * @returns Git's summary line ("Total …").
   */
  async *packBytes(plan: FetchPlan, spacing?: Spacing): AsyncGenerator<Uint8Array, string> {
    const origin = { stored: this.stored, repository: this.repository };
    const report = yield* sendPack(origin, plan, this.request.takesOfsDelta, spacing);
    return formatTotal(plan.toPack.size, report);
  }

  /**
   * Opens the pack as it is sent. That of a part of the history is kept: the next client that
   * wants the same part is sent the same frames.
   *
   * SECURITY: all that was kept follows from the wanted objects and the tags that are compared with
   * them, which refs reach now.
   *
   * @param payloadMax Maximum payload of a frame in bytes; undefined for a pack without side-band.
   */
  async openPack(payloadMax: number | undefined): Promise<SentPack | StoredPack> {
    const isFramed = payloadMax === FRAME_PAYLOAD_MAX;
    const key = isFramed ? this.partKey() : undefined;
    const entry = key && (await this.repository.results.find(key));
    const kept = await openKept(this.stored, entry, Date.now());
    if (kept) return kept;
    const plan = await this.plan();
    const bytes = this.packBytes(plan, isFramed ? FRAME_SPACING : undefined);
    const pieces =
      payloadMax === undefined
        ? bytes
        : isFramed
          ? frameSpaced(bytes)
          : inFrames(bytes, payloadMax);
    const sent = { objectCount: plan.toPack.size, pieces };
    if (!entry) return sent;
    const large = this.isTipAlone() ? this.stored : undefined;
    return { ...sent, pieces: keepPieces(sent, entry, this.stored.openGauge(), large) };
  }

  /**
   * Whether the client wants the tip of the default branch alone, as most that build it do. Only
   * this is kept in the bucket, since readers could ask for any number of others.
   */
  private isTipAlone(): boolean {
    const { deepen, filter } = this.request;
    const { head } = this.view;
    return deepen?.depth === 1 && !filter && this.wantOids.every((oid) => oid === head?.oid);
  }

  /**
   * What determines the pack of a client that has nothing, and wants commits to a depth or objects
   * of a filter; undefined for any other.
   */
  private partKey(): ResultKey | undefined {
    const { deepen, filter, haveOids, shallowOids, takesOfsDelta } = this.request;
    if (haveOids.length > 0 || shallowOids.length > 0 || !(deepen ?? filter)) return undefined;
    if (deepen && (deepen.depth === undefined || deepen.isRelative)) return undefined;
    const wants = [...new Set(this.wantOids)].toSorted();
    return [
      "part of a pack",
      wants,
      deepen?.depth ?? null,
      filter ?? null,
      takesOfsDelta,
      this.tags,
    ];
  }

  private findRef(name: ByteText): AdvertisedRef {
    const ref = name === "HEAD" ? this.view.head : this.refs.get(name);
    if (!ref) throw new GitError("missing", `unknown ref ${name}`);
    return ref;
  }

  /**
   * The client's commits that a ref of this repository reaches, in the client's order.
   *
   * SECURITY: an object that no ref reaches counts as unknown, or an acknowledgment would reveal
   * that it is stored, and deltas could be based on it.
   */
  private findReached(oids: readonly Oid[]): Oid[] {
    const { graph } = this.repository;
    const tips = listTips(this.view);
    let commits: ReachableCommits | undefined;
    return oids.filter((oid) => {
      if (tips.has(oid)) return true;
      commits ??= new ReachableCommits(
        graph,
        Array.from(tips, (tip) => graph.find(tip)),
      );
      return commits.tipOf(graph.find(oid)) !== undefined;
    });
  }

  private nodeOf(oid: Oid): Node {
    const { catalog, graph } = this.repository;
    const found = catalog.find(oid);
    const location = found && peel(catalog, found);
    return location ? graph.nodeAt(location) : NO_NODE;
  }

  private findCut(): ShallowCut | undefined {
    const { deepen, shallowOids } = this.request;
    const { graph } = this.repository;
    if (!deepen) return undefined;
    if (deepen.depth !== undefined) {
      if (!deepen.isRelative) {
        const isUnlimited = deepen.depth >= DEPTH_INFINITE;
        // As in git, this removes the whole boundary of the client, wanted or not.
        const more = isUnlimited ? this.findReached(shallowOids).map((oid) => graph.find(oid)) : [];
        return cutByDepth(graph, [...this.tips, ...more], deepen.depth);
      }
      const boundary = new Set(shallowOids.map((oid) => graph.find(oid)));
      boundary.delete(NO_NODE);
      return cutRelative(graph, this.tips, boundary, deepen.depth);
    }
    const excluded = deepen.notRefs.map((name) => this.nodeOf(this.findShortRef(name).oid));
    const cut = cutByRange(graph, this.tips, excluded, deepen.sinceSeconds);
    if (cut.nodes.size === 0)
      throw new GitError("missing", "no commits selected for shallow requests");
    return cut;
  }

  /** Finds a ref by its short or full name, as in `deepen-not`. A whole id is no name. */
  private findShortRef(name: ByteText): AdvertisedRef {
    const prefixes = isWholeId(name) ? [] : SHORT_NAMES;
    for (const prefix of prefixes) {
      const ref = this.refs.get(`${prefix}${name}`);
      if (ref) return ref;
    }
    return this.findRef(name);
  }
}

/** The values of all refs, and the objects to which tags among them peel. */
function listTips({ refs }: RefView): Set<Oid> {
  return new Set(refs.flatMap(({ oid, peeledOid }) => (peeledOid ? [oid, peeledOid] : [oid])));
}

/**
 * SECURITY: only objects reachable from a ref may be fetched. Commits removed by a force push stay
 * stored for a while and must not be readable by their oid.
 */
async function refuseUnreachable(
  stored: StoredRepository,
  view: RefView,
  repository: OpenRepository,
  wantOids: readonly Oid[],
): Promise<void> {
  const tips = listTips(view);
  const others = wantOids.filter((oid) => !tips.has(oid));
  if (others.length === 0) return;
  const { catalog, graph } = repository;
  const isReachable = catalog.isByBlock ? findByBlock() : findAll();
  for (const oid of others) {
    if (!(await isReachable(oid))) throw missing(`upload-pack: not our ref ${oid}`);
  }

  function findAll(): (oid: Oid) => boolean {
    const reachable = findReachable(catalog, graph, tips);
    return (oid) => {
      const location = catalog.find(oid);
      return location !== undefined && reachable.has(location);
    };
  }

  // One by one: not all lists of introduced objects are read for a few objects.
  function findByBlock(): (oid: Oid) => Promise<boolean> {
    const refs = view.refs.map(({ name, oid, peeledOid = null }) => ({ name, oid, peeledOid }));
    const reachable = new ReachableObjects(repository, refs, stored.openGauge());
    return async (oid) => (await reachable.find(oid)) !== undefined;
  }
}
