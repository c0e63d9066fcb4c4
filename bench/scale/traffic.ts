import type { Burst, Inputs } from "./inputs/read.ts";
import { cumulate, type Draws, hash } from "./simulator/draws.ts";
import type { Zipf } from "./simulator/zipf.ts";

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** The monorepo is no rank: its traffic comes beside that of all others. */
const MONOREPO = 0;
/** The repository whose webhooks many receive. */
const HOT = 3;
/** Bursts of pushes hit this many of the most popular repositories. */
const POPULAR = 20_000;

/** A time of the day that is simulated, arrival by arrival. */
export type Window = {
  fromMs: number;
  toMs: number;
  /**
   * How many milliseconds of the day each of its milliseconds stands for, in totals without bursts.
   */
  weight: number;
  burst: Burst | undefined;
};

/** What arrives: a kind of the workload, for a repository. */
export type Arrival = {
  kind: string;
  repository: number;
  region: number;
  hooksPerEvent: number;
  isOfBurst: boolean;
};

/**
 * The windows of a day: one in the middle of each half hour, and each burst. Samples of whole half
 * hours leave nothing out: the bursts are then cut out of them.
 */
export function windowsOf({ workload }: Inputs, sampleMs: number): Window[] {
  const slotMs = HOUR_MS / 2;
  const length = Math.min(sampleMs, slotMs);
  const isWhole = length === slotMs;
  const bursts = workload.bursts.map((burst): Window => {
    const fromMs = burst.hour * HOUR_MS;
    // The samples stand for the whole day, so that the window of a burst adds only the burst.
    return { fromMs, toMs: fromMs + burst.seconds * 1000, weight: Number(isWhole), burst };
  });
  const regular = Array.from({ length: DAY_MS / slotMs }, (_, slot): Window => {
    const slotFromMs = slot * slotMs;
    const burst = isWhole ? bursts.find((one) => one.fromMs === slotFromMs) : undefined;
    const fromMs = burst?.toMs ?? slotFromMs + (slotMs - length) / 2;
    const toMs = slotFromMs + (slotMs + length) / 2;
    return { fromMs, toMs, weight: slotMs / length, burst: undefined };
  });
  return [...regular, ...bursts].toSorted((a, b) => a.fromMs - b.fromMs);
}

/** Requests per millisecond, without bursts. */
export function rateAt({ workload }: Inputs, scale: number, timeMs: number): number {
  const { peakHour, peakToMean } = workload.diurnal;
  const phase = (2 * Math.PI * (timeMs - peakHour * HOUR_MS)) / DAY_MS;
  return ((scale * workload.requestsPerDay) / DAY_MS) * (1 + (peakToMean - 1) * Math.cos(phase));
}

/** Draws what arrives. */
export class Traffic {
  readonly #inputs: Inputs;
  readonly #repositories: Zipf;
  readonly #draws: Draws;
  readonly #kinds: string[];
  readonly #weights: number[];
  readonly #regions: number[];
  readonly #byMonorepo: ReadonlySet<string>;
  readonly #monorepoShare: number;

  constructor(inputs: Inputs, repositories: Zipf, draws: Draws) {
    const { kinds, regions, monorepo } = inputs.workload;
    this.#inputs = inputs;
    this.#repositories = repositories;
    this.#draws = draws;
    this.#kinds = Object.keys(kinds);
    this.#weights = cumulate(Object.values(kinds).map(({ share }) => share));
    this.#regions = cumulate(regions);
    this.#byMonorepo = new Set(monorepo.kinds);
    this.#monorepoShare = monorepo.share;
  }

  next(): Arrival {
    const kind = this.#kinds[this.#draws.weighted(this.#weights)] ?? "";
    const isMonorepo = this.#byMonorepo.has(kind) && this.#draws.uniform() < this.#monorepoShare;
    return this.#arrival(kind, isMonorepo ? MONOREPO : this.#anyRepository());
  }

  nextOf(burst: Burst): Arrival {
    const kinds = Object.keys(burst.kinds);
    const kind = kinds[this.#draws.weighted(cumulate(Object.values(burst.kinds)))] ?? "";
    const arrival = this.#arrival(kind, this.#target(burst));
    return {
      ...arrival,
      hooksPerEvent: burst.hooksPerEvent ?? arrival.hooksPerEvent,
      isOfBurst: true,
    };
  }

  #arrival(kind: string, repository: number): Arrival {
    return {
      kind,
      repository,
      region: this.#draws.weighted(this.#regions),
      hooksPerEvent: this.#inputs.workload.hooksPerEvent,
      isOfBurst: false,
    };
  }

  #anyRepository(): number {
    return this.#repositories.draw(this.#draws.uniform);
  }

  #target({ target }: Burst): number {
    const { count } = this.#repositories;
    switch (target) {
      case "hot":
        return Math.min(HOT, count);
      case "monorepo":
        return MONOREPO;
      case "popular":
        return 1 + Math.floor(this.#draws.uniform() * Math.min(POPULAR, count));
      default:
        return 1 + (hash(Math.floor(this.#draws.uniform() * 2 ** 31)) % count);
    }
  }
}
