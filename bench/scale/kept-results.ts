import type { Inputs } from "./inputs/read.ts";
import type { Draws } from "./simulator/draws.ts";
import type { KindSteps, Step } from "./steps.ts";
import type { Arrival } from "./traffic.ts";

/** What of a request an isolate has kept: its guard, or the whole answer. */
export type KeptPart = "guard" | "answer" | undefined;

type Isolate = { entries: Map<string, number>; writtenMs: number };

/**
 * What isolates keep of guards and of answers to anonymous readers, as `src/storage/kept.ts` does:
 * for a time, and until the isolate writes.
 */
export class KeptResults {
  readonly #inputs: Inputs;
  readonly #draws: Draws;
  /** Requests per millisecond. */
  #rate = 0;
  readonly #isolates = new Map<number, Isolate>();

  constructor(inputs: Inputs, draws: Draws) {
    this.#inputs = inputs;
    this.#draws = draws;
  }

  /** Notes a request at a time. @returns What it need not ask for. */
  note({ repository, region }: Arrival, kind: KindSteps, nowMs: number): KeptPart {
    const { kept } = this.#inputs.workload;
    if (kept.ms === 0) return undefined;
    const isolate = this.#isolateOf(region);
    if (kind.isWrite) {
      isolate.writtenMs = nowMs;
      return undefined;
    }
    const isAnonymous = this.#draws.uniform() < (kept.anonymous[kind.name] ?? 0);
    const answers = kept.answers[kind.name];
    if (isAnonymous && answers !== undefined) {
      const answer = Math.floor(this.#draws.uniform() * answers);
      if (this.#find(isolate, `${kind.name} ${answer} ${repository}`, nowMs)) return "answer";
    }
    if (kept.visitRequests > 1 && this.#draws.uniform() > 1 / kept.visitRequests) return "guard";
    const caller = isAnonymous ? "" : Math.floor(this.#draws.uniform() * kept.callersPerRepository);
    return this.#find(isolate, `${caller} ${repository}`, nowMs) ? "guard" : undefined;
  }

  /** Whether a result is kept; else it is from now on. */
  #find({ entries, writtenMs }: Isolate, key: string, nowMs: number): boolean {
    const sinceMs = entries.get(key);
    const { ms } = this.#inputs.workload.kept;
    if (sinceMs !== undefined && sinceMs > writtenMs && nowMs < sinceMs + ms) return true;
    entries.set(key, nowMs);
    return false;
  }

  /** An isolate of a region, which has as many as its requests need. */
  #isolateOf(region: number): Isolate {
    const { kept, regions } = this.#inputs.workload;
    const perSecond = 1000 * this.#rate * (regions[region] ?? 0);
    const count = Math.max(1, Math.round(perSecond / kept.isolateRequestsPerSecond));
    const id = region * 1e6 + Math.floor(this.#draws.uniform() * count);
    let isolate = this.#isolates.get(id);
    if (!isolate) this.#isolates.set(id, (isolate = { entries: new Map(), writtenMs: -1 }));
    return isolate;
  }

  /** Begins a window, in which nothing is kept yet. @param rate Requests per millisecond. */
  begin(rate: number): void {
    this.#rate = rate;
    this.#isolates.clear();
  }
}

/**
 * The steps that are left of a request where some of it is kept. Git asks the same guard with each
 * request of a fetch, to the same isolate: the first of them is kept for the others.
 *
 * @param isKeeping Whether isolates keep anything at all.
 */
export function stepsLeft(
  { steps, isWrite }: KindSteps,
  kept: KeptPart,
  isKeeping: boolean,
): readonly Step[] {
  if (kept === "answer") return [];
  if (!isKeeping || isWrite) return steps;
  const first = kept === "guard" ? undefined : steps.find(({ isGuard }) => isGuard);
  return steps.filter((step, at) => !step.isGuard || at === steps.indexOf(first as Step));
}
