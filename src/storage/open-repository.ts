import { type OpenPack, PackCatalog } from "../git/pack/pack-catalog.ts";
import { PackedObjects } from "../git/pack/packed-objects.ts";
import type { Gauge } from "../git/store.ts";
import { CommitGraph } from "../git/walk/commit-graph.ts";
import type { KeptAnswers } from "./kept-answers.ts";

/** A repository at one moment, open for reading. */
export class OpenRepository {
  readonly catalog: PackCatalog;
  readonly objects: PackedObjects;
  /** What was worked out of it before. */
  readonly answers: KeptAnswers;
  private readonly openGauge: () => Gauge;
  private knownGraph: CommitGraph | undefined;

  /** @param openGauge For what reading holds in memory. */
  constructor(packs: readonly OpenPack[], answers: KeptAnswers, openGauge: () => Gauge) {
    this.answers = answers;
    this.openGauge = openGauge;
    this.catalog = new PackCatalog(packs);
    this.objects = new PackedObjects(this.catalog, openGauge());
  }

  /** All commits. Made when first asked for, since most reads of single objects need none. */
  get graph(): CommitGraph {
    if (this.knownGraph) return this.knownGraph;
    this.knownGraph = new CommitGraph(this.catalog);
    this.openGauge()(this.knownGraph.heldBytes);
    return this.knownGraph;
  }

  /** The same with one more pack, which is the youngest. */
  with(pack: OpenPack): OpenRepository {
    return new OpenRepository([...this.catalog.packs, pack], this.answers, this.openGauge);
  }
}
