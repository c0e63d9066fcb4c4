import type { Inputs } from "./inputs/read.ts";
import type { Draws } from "./simulator/draws.ts";
import type { KindSteps, Step } from "./steps.ts";

/** What a day uses of the platform, in the units of its bill. */
export class Totals {
  requests = 0;
  cpuMs = 0;
  logLines = 0;
  rowsRead = 0;
  rowsWritten = 0;
  d1Calls = 0;
  objectCalls = 0;
  objectRowsRead = 0;
  objectRowsWritten = 0;
  queueOperations = 0;
  r2Writes = 0;
  r2Reads = 0;
  events = 0;
  deliveries = 0;
  /** Requests whose CPU time exceeds the platform's limit. */
  overCpu = 0;
  /** Pushes and publications whose body the platform's entrance refuses. */
  overBody = 0;
  readonly #inputs: Inputs;

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
  }

  /** @returns The time of the request that no resource limits. */
  noteRequest(kind: KindSteps, weight: number, isCold: boolean, draws: Draws): number {
    const { workload, cost, published } = this.#inputs;
    const megabytes = workload.kinds[kind.name]?.megabytes ?? 0;
    const size = megabytes === 0 ? 0 : draws.logNormal(megabytes, workload.sizeVariation);
    const isUpload = kind.name === "push" || kind.name === "packagePublish";
    const perMb =
      kind.name === "push"
        ? cost("push.cpuMsPerMb")
        : kind.name === "clone"
          ? cost("clone.cpuMsPerMb")
          : 0;
    const cpuMs = kind.cpuMs + perMb * size;
    const reads = this.#readsOf(kind.name, isCold);
    this.requests += weight * kind.requests;
    this.logLines += weight * Math.max(1, kind.requests);
    this.cpuMs += weight * cpuMs;
    this.r2Reads += weight * reads;
    if (isUpload) this.r2Writes += weight * workload.r2.writesPerPush;
    if (kind.name === "push")
      this.objectRowsWritten += weight * workload.objects.rowsWrittenPerPush;
    if (cpuMs > published("workers.cpuMsMax")) this.overCpu += weight;
    if (isUpload && size * 1e6 > published("workers.bodyBytesMax")) this.overBody += weight;
    // Reads of one request wait for one another, three deep at most.
    return cpuMs + Math.min(3, reads) * workload.r2.latencyMs;
  }

  #readsOf(kind: string, isCold: boolean): number {
    const { r2 } = this.#inputs.workload;
    const cold = isCold ? (r2.coldReads[kind] ?? 0) : 0;
    // A clone streams each pack, and a package its file, from the bucket.
    if (kind === "clone") return cold + r2.packsPerRepository;
    return kind === "packageRead" ? cold + 1 : cold;
  }

  noteStep({ place, rowsRead, rowsWritten }: Step, weight: number): void {
    if (place === "object") {
      this.objectCalls += weight;
      this.objectRowsRead += weight * rowsRead;
      return;
    }
    this.d1Calls += weight;
    this.rowsRead += weight * rowsRead;
    this.rowsWritten += weight * rowsWritten;
  }

  noteJob(job: "dispatch" | "delivery", weight: number): void {
    // A write, a read and a delete.
    this.queueOperations += 3 * weight;
    if (job === "dispatch") this.events += weight;
    else this.deliveries += weight;
    this.cpuMs += weight * this.#inputs.cost(`${job}.cpuMs`);
    this.logLines += weight / 5;
  }
}
