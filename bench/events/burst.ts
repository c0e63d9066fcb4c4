import { formatCells, formatInteger } from "../support/table.ts";
import {
  makeRepositoryWithHooks,
  mapConcurrently,
  type Measured,
  measureCrowd,
  type Setup,
} from "./measure.ts";
import type { Burst } from "./options.ts";
import type { SimulatorCosts } from "./simulator.ts";

/** Many deliveries at once, and the same events without hooks. */
type MeasuredBurst = {
  burst: Burst;
  measured: Measured;
  withoutHooks: Measured;
  receiverCpuSeconds: number;
};

/**
 * What a delivery costs at most: of the service's process, and in calls of the jobs that deliver.
 */
const CPU_MS_MAX = 2;
const D1_CALLS_MAX = 0.5;
const MANY_HOOKS = 100;
/** From the response to a change until the last of a thousand hooks has its delivery. */
const LAST_SECONDS_MAX = 3;

export async function measureBursts(
  setup: Setup,
  bursts: readonly Burst[],
): Promise<MeasuredBurst[]> {
  const measured: MeasuredBurst[] = [];
  for (const [at, burst] of bursts.entries()) {
    measured.push(await measureBurst(setup, `burst-${at}`, burst));
    console.log(`measured: ${nameOf(burst)}, after ${(performance.now() / 1000).toFixed(0)} s`);
  }
  return measured;
}

/**
 * Measures the rounds with and without hooks in turns, since the machine may be busy for a while.
 */
async function measureBurst(setup: Setup, prefix: string, burst: Burst): Promise<MeasuredBurst> {
  const { repositories, hooks, events, rounds } = burst;
  const names = (kind: string): string[] =>
    Array.from({ length: repositories }, (_, at) => `${prefix}-${kind}-${at}`);
  const [hooked, unhooked] = [names("hooked"), names("unhooked")];
  await mapConcurrently(hooked, 4, (name) => makeRepositoryWithHooks(setup, name, hooks));
  await mapConcurrently(unhooked, 4, (name) => makeRepositoryWithHooks(setup, name, 0));
  const withHooks: Measured[] = [];
  const withoutHooks: Measured[] = [];
  let receiverCpuSeconds = 0;
  for (let round = 0; round < rounds; round++) {
    withoutHooks.push(await measureCrowd(setup, unhooked, events, 0, round));
    const before = setup.receiver.cpuSeconds();
    withHooks.push(await measureCrowd(setup, hooked, events, hooks, round));
    receiverCpuSeconds += setup.receiver.cpuSeconds() - before;
  }
  return {
    burst,
    measured: sumOf(withHooks),
    withoutHooks: sumOf(withoutHooks),
    receiverCpuSeconds,
  };
}

const sumOf = (list: readonly Measured[]): Measured => {
  const sum = (of: (one: Measured) => number): number =>
    list.reduce((total, one) => total + of(one), 0);
  const sorted = (of: (one: Measured) => number[]): number[] =>
    list.flatMap(of).toSorted((a, b) => a - b);
  return {
    events: sum(({ events }) => events),
    deliveries: sum(({ deliveries }) => deliveries),
    seconds: sum(({ seconds }) => seconds),
    fromAnswerMs: sorted(({ fromAnswerMs }) => fromAnswerMs),
    fromRequestMs: sorted(({ fromRequestMs }) => fromRequestMs),
    d1: {
      request: sum(({ d1 }) => d1.request),
      dispatch: sum(({ d1 }) => d1.dispatch),
      deliver: sum(({ d1 }) => d1.deliver),
    },
    messages: sum(({ messages }) => messages),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
  };
};

const nameOf = ({ repositories, hooks, events }: Burst): string =>
  [
    repositories > 1 ? `${repositories} repositories of` : "",
    events > 1 ? `${events} events of` : "one event of",
    hooks > 1 ? `${formatInteger(hooks)} hooks` : "1 hook",
  ]
    .filter((part) => part !== "")
    .join(" ");

const COLUMNS = [
  "burst",
  "deliveries",
  "per s",
  "p50 ms",
  "last ms",
  "CPU ms per delivery",
  "of it D1's hop",
  "queues",
  "receiver's CPU ms",
  "D1 calls per delivery",
  "D1 dispatch per event",
  "messages per event",
];

/**
 * A Markdown table. CPU time is that of the service's process beyond the same events without hooks.
 */
export function formatBursts(list: readonly MeasuredBurst[], costs: SimulatorCosts): string {
  const lines = list.map((one) => {
    const { measured, withoutHooks, receiverCpuSeconds } = one;
    const { events, deliveries, seconds, fromAnswerMs, d1, messages } = measured;
    const extraCalls = d1.dispatch + d1.deliver - withoutHooks.d1.dispatch;
    const extraMessages = messages - withoutHooks.messages;
    return [
      nameOf(one.burst),
      formatInteger(deliveries),
      (deliveries / seconds).toFixed(0),
      (fromAnswerMs[fromAnswerMs.length >> 1] ?? 0).toFixed(0),
      (fromAnswerMs.at(-1) ?? 0).toFixed(0),
      cpuMsOf(one).toFixed(2),
      ((extraCalls * costs.d1CallMs) / deliveries).toFixed(2),
      ((extraMessages * costs.messageMs) / deliveries).toFixed(2),
      ((1000 * receiverCpuSeconds) / deliveries).toFixed(2),
      callsOf(one).toFixed(3),
      (d1.dispatch / events).toFixed(1),
      (messages / events).toFixed(1),
    ];
  });
  return formatCells(COLUMNS, lines);
}

/** Compares each burst with what a delivery may cost. */
export function checkBursts(list: readonly MeasuredBurst[]): string[] {
  const lines: string[] = [];
  const check = (name: string, value: number, max: number): void => {
    lines.push(
      `${name}: ${value.toFixed(2)} of at most ${max}, ${value <= max ? "met" : "MISSED"}`,
    );
  };
  for (const one of list) {
    const name = nameOf(one.burst);
    // With few hooks, most of the CPU time is that of dispatching their event.
    if (one.burst.hooks >= MANY_HOOKS) {
      check(`${name}, CPU ms of a delivery`, cpuMsOf(one), CPU_MS_MAX);
    }
    // Events in a row are none at once: each takes a lease and a write of its own.
    if (one.burst.events === 1) {
      check(`${name}, D1 calls of a delivery`, callsOf(one), D1_CALLS_MAX);
    }
    if (one.burst.hooks >= 1000) {
      const lastMs = one.measured.fromAnswerMs.at(-1) ?? Number.NaN;
      check(`${name}, seconds until the last`, lastMs / 1000, LAST_SECONDS_MAX);
    }
  }
  return lines;
}

const cpuMsOf = ({ measured, withoutHooks }: MeasuredBurst): number =>
  (1000 * (measured.cpuSeconds - withoutHooks.cpuSeconds)) / measured.deliveries;

/** D1 calls of a delivery, by the jobs that deliver. */
const callsOf = ({ measured: { d1, deliveries } }: MeasuredBurst): number =>
  d1.deliver / deliveries;
