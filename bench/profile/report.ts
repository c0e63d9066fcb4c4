import { formatCells } from "../support/table.ts";
import type { Cost } from "./version.ts";

/** The share of a request's CPU time from which a part has a line of its own. */
const SHARE_MIN = 0.05;

const SMALL = `parts below ${100 * SHARE_MIN} %`;
const OUTSIDE = "simulators of bindings, HTTP, log, native code";

/**
 * A Markdown table of the parts of a request, by the means of the rounds.
 *
 * @param versions The costs of each round, of one version or of two.
 */
export function formatShares(door: string, versions: readonly (readonly Cost[])[]): string {
  const means = versions.map(meanOf);
  const names = new Set(means.flatMap((cost) => [...cost.parts.keys()]));
  const isLarge = (part: string): boolean =>
    means.some((cost) => (cost.parts.get(part) ?? 0) >= SHARE_MIN * cost.all);
  const large = [...names].filter(isLarge);
  const last = means.at(-1);
  large.sort((a, b) => (last?.parts.get(b) ?? 0) - (last?.parts.get(a) ?? 0));

  const smallOf = ({ parts }: Cost): number =>
    [...parts].reduce((sum, [part, ms]) => (large.includes(part) ? sum : sum + ms), 0);
  const insideOf = ({ parts }: Cost): number =>
    [...parts.values()].reduce((sum, ms) => sum + ms, 0);
  const line = (name: string, msOf: (cost: Cost) => number): string[] => [
    name,
    ...means.flatMap((cost) => {
      const ms = msOf(cost);
      return [ms.toFixed(3), `${((100 * ms) / cost.all).toFixed(0)} %`];
    }),
  ];
  const isBusy = means.some((cost) => insideOf(cost) > cost.all);
  const note = isBusy
    ? "\n\nThe parts are more than the CPU time: other programs took the processor meanwhile."
    : "";
  const head = means.length === 1 ? ["ms", "share"] : ["before ms", "share", "after ms", "share"];
  const table = formatCells(
    [door, ...head],
    [
      ...large.map((part) => line(part, ({ parts }) => parts.get(part) ?? 0)),
      line(SMALL, smallOf),
      line(OUTSIDE, (cost) => Math.max(0, cost.all - insideOf(cost))),
      line("CPU of all processes", ({ all }) => all),
    ],
  );
  return table + note;
}

function meanOf(costs: readonly Cost[]): Cost {
  const names = new Set(costs.flatMap(({ parts }) => [...parts.keys()]));
  return {
    all: mean(costs.map(({ all }) => all)),
    parts: new Map(
      [...names].map((name) => [name, mean(costs.map(({ parts }) => parts.get(name) ?? 0))]),
    ),
  };
}

/** Rather than the median: a part that few samples found is missing in most rounds. */
const mean = (values: number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
