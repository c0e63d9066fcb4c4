import type { Inputs } from "./inputs/read.ts";
import { KeptResults, stepsLeft } from "./kept-results.ts";
import { OTHER, PEAK, type SimulationOptions, type SimulationResult } from "./result.ts";
import { type ClassUse, type ResourceClass, type StationEntry, Stations } from "./resources.ts";
import { Draws } from "./simulator/draws.ts";
import { EventHeap } from "./simulator/event-heap.ts";
import { Histogram } from "./simulator/histogram.ts";
import { Zipf } from "./simulator/zipf.ts";
import {
  type KindSteps,
  type JobSteps,
  readStep,
  type Step,
  stepsOfJob,
  stepsOfKinds,
} from "./steps.ts";
import { Totals } from "./totals.ts";
import { type Arrival, DAY_MS, rateAt, Traffic, type Window, windowsOf } from "./traffic.ts";

/** From this share of the highest load on, an hour is of the peak. */
const PEAK_SHARE = 0.95;

type Job = "request" | "dispatch" | "delivery" | "cron";

/** A request or a job on its way. */
type Task = Arrival & {
  job: Job;
  steps: readonly Step[];
  /** The step that comes next; jobs begin at their queue, two before the first. */
  at: number;
  startedMs: number;
  weight: number;
  phase: string;
  /** Time that no resource limits, at the end. */
  delayMs: number;
};

/** Rows that a call of the schedule reads to find what is due. */
const CRON_ROWS = 10;
/** As in wrangler.toml. */
const RETRY_MS = 10_000;
const AT_QUEUE = -2;
const AT_CONSUMER = -1;
const MINUTE_MS = 60_000;
/**
 * A consumer goes on to the next message after this time; the delivery continues in the background.
 */
const DELIVERY_HOLD_MS_MAX = 1000;

/** Simulates a day. */
export function simulate(inputs: Inputs, options: SimulationOptions): SimulationResult {
  return new Simulation(inputs, options).run();
}

class Simulation {
  readonly #inputs: Inputs;
  readonly #options: SimulationOptions;
  readonly #draws: Draws;
  readonly #repositories: Zipf;
  readonly #traffic: Traffic;
  readonly #stations: Stations;
  readonly #kept: KeptResults;
  readonly #kinds: Map<string, KindSteps>;
  readonly #jobSteps: Record<"dispatch" | "delivery" | "cron", JobSteps>;
  readonly #heap = new EventHeap();
  readonly #tasks: (Task | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #result: SimulationResult;
  #window: Window = { fromMs: 0, toMs: 0, weight: 1, burst: undefined };
  #phase = OTHER;

  constructor(inputs: Inputs, options: SimulationOptions) {
    this.#inputs = inputs;
    this.#options = options;
    this.#draws = new Draws(options.seed);
    this.#repositories = new Zipf(inputs.workload.repositories, inputs.workload.popularity);
    this.#traffic = new Traffic(inputs, this.#repositories, this.#draws);
    this.#stations = new Stations(inputs, options.hasReplicas);
    this.#kept = new KeptResults(inputs, this.#draws);
    this.#kinds = stepsOfKinds(inputs);
    this.#jobSteps = {
      dispatch: stepsOfJob(inputs, "dispatch"),
      delivery: stepsOfJob(inputs, "delivery"),
      cron: { steps: [{ ...readStep(inputs, CRON_ROWS), isWrite: true }], probability: 1 },
    };
    this.#result = {
      options,
      phases: new Map(),
      responses: new Map(),
      deliveries: new Map(),
      totals: new Totals(inputs),
      arrived: 0,
      completed: 0,
      refused: 0,
      sentAgain: 0,
      kept: { requests: 0, guard: 0, answer: 0 },
    };
  }

  run(): SimulationResult {
    const windows = windowsOf(this.#inputs, this.#options.sampleMs);
    for (const [at, window] of windows.entries()) {
      const nextMs = windows[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
      this.#simulateWindow(window, nextMs);
      if (nextMs < DAY_MS) this.#stations.skip(window.toMs, nextMs, window.toMs - window.fromMs);
    }
    return this.#result;
  }

  /** Simulates what arrives in a window, and what is under way until the next one begins. */
  #simulateWindow(window: Window, nextMs: number): void {
    this.#window = window;
    const middleMs = (window.fromMs + window.toMs) / 2;
    const base = rateAt(this.#inputs, this.#options.scale, middleMs);
    const highest = rateAt(
      this.#inputs,
      this.#options.scale,
      this.#inputs.workload.diurnal.peakHour * (DAY_MS / 24),
    );
    this.#phase = window.burst?.name ?? (base >= PEAK_SHARE * highest ? PEAK : OTHER);
    const burst = window.burst ? (this.#options.scale * window.burst.perSecond) / 1000 : 0;
    const cron = this.#inputs.workload.cronCallsPerMinute / MINUTE_MS;
    const rate = base + burst + cron;

    this.#warm(window.fromMs, rate);
    let arrivalMs = window.fromMs + this.#draws.exponential(1 / rate);
    let isOpen = true;
    for (;;) {
      const nowMs = Math.min(arrivalMs < window.toMs ? arrivalMs : Infinity, this.#heap.nextTime);
      if (nowMs >= nextMs || nowMs === Number.POSITIVE_INFINITY) break;
      if (isOpen && nowMs >= window.toMs) {
        this.#stations.mark();
        isOpen = false;
      }
      if (nowMs === arrivalMs) {
        this.#arrive(nowMs, this.#draws.uniform() * rate, burst, cron);
        arrivalMs += this.#draws.exponential(1 / rate);
      } else this.#advance(nowMs, this.#heap.pop());
    }
    if (isOpen) this.#stations.mark();
    this.#closeWindow(window);
  }

  /** Lets isolates keep what the requests before a window would have left. */
  #warm(fromMs: number, rate: number): void {
    this.#kept.begin(rate);
    const beginMs = fromMs - this.#inputs.workload.kept.ms;
    for (let at = beginMs; at < fromMs; at += this.#draws.exponential(1 / rate)) {
      const { burst } = this.#window;
      const isOfBurst = burst && this.#draws.uniform() * rate * 1000 < burst.perSecond;
      const arrival = isOfBurst ? this.#traffic.nextOf(burst) : this.#traffic.next();
      this.#kept.note(arrival, this.#kindOf(arrival), at);
    }
  }

  #kindOf({ kind }: Arrival): KindSteps {
    const steps = this.#kinds.get(kind);
    if (!steps) throw new Error(`no steps of ${kind}`);
    return steps;
  }

  #closeWindow(window: Window): void {
    const lengthMs = window.toMs - window.fromMs;
    for (const [of, { busiest, mean }] of this.#stations.closeWindow(lengthMs)) {
      const use = this.#use(of, this.#phase);
      use.busiest = Math.max(use.busiest, busiest);
      use.mean = Math.max(use.mean, mean);
    }
  }

  #use(of: ResourceClass, phase: string): ClassUse {
    const { phases } = this.#result;
    let classes = phases.get(phase);
    if (!classes) phases.set(phase, (classes = new Map()));
    let use = classes.get(of);
    if (!use) classes.set(of, (use = { busiest: 0, mean: 0, waits: new Histogram(), refused: 0 }));
    return use;
  }

  #arrive(nowMs: number, at: number, burst: number, cron: number): void {
    const isCron = at < cron;
    const arrival =
      this.#window.burst && at >= cron && at < cron + burst
        ? this.#traffic.nextOf(this.#window.burst)
        : this.#traffic.next();
    const weight = arrival.isOfBurst ? 1 : this.#window.weight;
    if (isCron) {
      this.#begin({ ...arrival, job: "cron", steps: this.#jobSteps.cron.steps }, nowMs, weight, 0);
      return;
    }
    const kind = this.#kindOf(arrival);
    const part = this.#kept.note(arrival, kind, nowMs);
    const { kept } = this.#result;
    kept.requests++;
    if (part) kept[part]++;
    const steps = stepsLeft(kind, part, this.#inputs.workload.kept.ms > 0);
    const delayMs = this.#result.totals.noteRequest(
      kind,
      weight,
      this.#isCold(arrival),
      this.#draws,
    );
    this.#begin({ ...arrival, job: "request", steps }, nowMs, weight, delayMs);
  }

  /** Whether the data center has no blocks of the repository, since nobody read it there lately. */
  #isCold({ repository, region }: Arrival): boolean {
    const { workload } = this.#inputs;
    const share =
      repository === 0 ? workload.monorepo.share : this.#repositories.shareOf(repository);
    const mean =
      (this.#options.scale * workload.requestsPerDay * (workload.regions[region] ?? 0)) / DAY_MS;
    return this.#draws.uniform() < Math.exp(-share * mean * 1000 * workload.r2.cacheSeconds);
  }

  #begin(
    begun: Arrival & { job: Job; steps: readonly Step[]; startedMs?: number },
    nowMs: number,
    weight: number,
    delayMs: number,
  ): void {
    this.#result.arrived++;
    this.#schedule(nowMs, {
      ...begun,
      at: begun.job === "request" || begun.job === "cron" ? 0 : AT_QUEUE,
      // A job's time is that since the request that it follows from.
      startedMs: begun.startedMs ?? nowMs,
      weight,
      phase: this.#phase,
      delayMs,
    });
  }

  #schedule(timeMs: number, task: Task): void {
    const id = this.#free.pop() ?? this.#tasks.length;
    this.#tasks[id] = task;
    this.#heap.push(timeMs, id);
  }

  #advance(nowMs: number, id: number): void {
    const task = this.#tasks[id];
    if (!task) throw new Error(`no task ${id}`);
    if (task.at === AT_QUEUE || task.at === AT_CONSUMER) {
      this.#advanceJob(nowMs, id, task);
      return;
    }
    const step = task.steps[task.at];
    if (!step) {
      this.#finish(nowMs, task);
      this.#release(id);
      return;
    }
    const endMs = this.#take(nowMs, task, step);
    if (endMs === undefined) {
      this.#refuse(nowMs, id, task);
      return;
    }
    task.at++;
    this.#heap.push(endMs, id);
  }

  /** A refused request fails; a message comes again, since what it names is still to be done. */
  #refuse(nowMs: number, id: number, task: Task): void {
    if (task.job === "dispatch" || task.job === "delivery") {
      this.#result.sentAgain++;
      task.at = AT_QUEUE;
      this.#heap.push(nowMs + RETRY_MS, id);
      return;
    }
    this.#result.refused++;
    this.#release(id);
  }

  #release(id: number): void {
    this.#tasks[id] = undefined;
    this.#free.push(id);
  }

  /** @returns When the call is answered; undefined if it is refused. */
  #take(nowMs: number, task: Task, step: Step): number | undefined {
    const { d1, objects } = this.#inputs.workload;
    this.#result.totals.noteStep(step, task.weight);
    if (step.place === "object") {
      const entry = this.#stations.object(task.repository);
      const serviceMs = this.#draws.logNormal(step.serviceMs, objects.variation);
      return this.#serve(entry, nowMs, serviceMs, task, objects.networkMs);
    }
    const entry = this.#stations.database(task.region, step.isWrite);
    const serviceMs = this.#draws.logNormal(step.serviceMs, d1.variation);
    return this.#serve(entry, nowMs, serviceMs, task, d1.networkMs);
  }

  #serve(
    entry: StationEntry,
    nowMs: number,
    serviceMs: number,
    task: Task,
    networkMs: number,
  ): number | undefined {
    const endMs = entry.station.serve(nowMs, serviceMs);
    const use = this.#use(entry.of, task.phase);
    if (endMs === undefined) {
      use.refused++;
      return undefined;
    }
    use.waits.note(endMs - serviceMs - nowMs);
    return endMs + networkMs;
  }

  #advanceJob(nowMs: number, id: number, task: Task): void {
    const isDelivery = task.job === "delivery";
    if (task.at === AT_QUEUE) {
      const queue = isDelivery ? this.#stations.deliveryQueue : this.#stations.eventQueue;
      const messageMs = 1000 / this.#inputs.published("queues.messagesPerSecondMax");
      const sentMs = this.#serve(queue, nowMs, messageMs, task, 0);
      if (sentMs === undefined) {
        // The schedule sends again what was not sent.
        this.#result.sentAgain++;
        this.#heap.push((Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS, id);
        return;
      }
      task.at = AT_CONSUMER;
      this.#heap.push(sentMs, id);
      return;
    }
    const { d1, receiverMs } = this.#inputs.workload;
    const callsMs = task.steps.length * d1.networkMs;
    const answerMs = isDelivery ? this.#draws.logNormal(receiverMs, 1) : 0;
    const holdMs = Math.min(DELIVERY_HOLD_MS_MAX, answerMs) + callsMs;
    const consumers = isDelivery ? this.#stations.deliveryConsumers : this.#stations.eventConsumers;
    const endMs = this.#serve(consumers, nowMs, holdMs, task, 0) ?? nowMs;
    task.at = 0;
    task.delayMs = answerMs;
    this.#heap.push(endMs - holdMs, id);
  }

  #finish(nowMs: number, task: Task): void {
    const { responses, deliveries, totals } = this.#result;
    this.#result.completed++;
    const endMs = nowMs + task.delayMs;
    if (task.job === "delivery") note(deliveries, task.phase, endMs - task.startedMs);
    if (task.job === "request" && task.phase === PEAK)
      note(responses, task.kind, endMs - task.startedMs);
    if (task.job === "request" && this.#kinds.get(task.kind)?.hasEvent) {
      totals.noteJob("dispatch", task.weight);
      this.#begin(
        { ...task, job: "dispatch", steps: this.#stepsOf("dispatch") },
        nowMs,
        task.weight,
        0,
      );
    }
    if (task.job !== "dispatch") return;
    for (let left = this.#deliveriesOf(task); left > 0; left--) {
      totals.noteJob("delivery", task.weight);
      this.#begin(
        { ...task, job: "delivery", steps: this.#stepsOf("delivery") },
        nowMs,
        task.weight,
        0,
      );
    }
  }

  #stepsOf(job: "dispatch" | "delivery"): readonly Step[] {
    const { steps, probability } = this.#jobSteps[job];
    return this.#draws.uniform() < probability ? steps : [];
  }

  /** A whole number with the mean of the task. */
  #deliveriesOf({ hooksPerEvent }: Task): number {
    return Math.floor(hooksPerEvent) + Number(this.#draws.uniform() < hooksPerEvent % 1);
  }
}

function note(histograms: Map<string, Histogram>, name: string, durationMs: number): void {
  let histogram = histograms.get(name);
  if (!histogram) histograms.set(name, (histogram = new Histogram()));
  histogram.note(durationMs);
}
