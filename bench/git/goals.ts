import { formatCells } from "../support/table.ts";
import type { CaseName } from "./case-names.ts";
import type { Row } from "./report.ts";
import type { Size } from "./sizes.ts";

/** A goal of a case. */
type Goal = {
  text: string;
  name: CaseName;
  /** The repositories to which it applies; all if undefined. */
  sizes?: readonly Size[];
  /** The value that is compared with the limit; undefined if not measured. */
  value: (row: Row, rows: Row[]) => number | undefined;
  /** Upper bound of the value; with `isFloor`, lower bound. */
  limit: number;
  isFloor?: boolean;
};

const wall = ({ ours, theirs }: Row): number => ours.seconds / theirs.seconds;
const CLONES_AT_ONCE = 10;
const BUFFERED_MB_MAX = 64;
const CLONES_RISE_MB_MAX = 64;

const cpu = ({ ours, theirs }: Row): number => ours.cpuSeconds / theirs.cpuSeconds;

const buffered = (name: CaseName): Goal => ({
  text: `${name}: MB buffered`,
  name,
  value: ({ ours }) => ours.usage?.bufferedBytes && ours.usage.bufferedBytes / 1e6,
  limit: BUFFERED_MB_MAX,
});

const GOALS: readonly Goal[] = [
  { text: "clone: wall", name: "clone", sizes: ["medium", "wide"], value: wall, limit: 1 },
  {
    text: "push: server CPU",
    name: "push",
    value: cpu,
    limit: 1.2,
  },
  { text: "clone: server CPU", name: "clone", value: cpu, limit: 1.5 },
  { text: "one pack: server CPU", name: "one-pack", value: cpu, limit: 1.5 },
  { text: "push: wall", name: "push", value: wall, limit: 2 },
  {
    text: "fetch of one commit: objects",
    name: "fetch",
    value: ({ objects }) => objects && objects.ours / objects.theirs,
    limit: 1,
  },
  { text: "fetch of one commit: wall", name: "fetch", value: wall, limit: 1.5 },
  { text: "clone --depth=1: wall", name: "depth-1", value: wall, limit: 1.5 },
  { text: "clone --filter=blob:none: wall", name: "blob-none", value: wall, limit: 1.5 },
  { text: "ls-remote: wall", name: "ls-remote", sizes: ["wide"], value: wall, limit: 2 },
  buffered("push"),
  buffered("clone"),
  {
    text: "ten packs at once: throughput of one",
    name: "ten-packs",
    value: ({ size, ours }, rows) => {
      const one = rows.find((row) => row.size === size && row.name === "one-pack");
      return one && (CLONES_AT_ONCE * one.ours.seconds) / ours.seconds;
    },
    limit: 1,
    isFloor: true,
  },
  {
    // Whatever the size of the repository.
    text: "ten packs at once: MB of RSS rise",
    name: "ten-packs",
    value: ({ ours }) => ours.riseBytes && ours.riseBytes / 1e6,
    limit: CLONES_RISE_MB_MAX,
  },
  // A difference of 10% is within the measurement error.
  { text: "fork: time of creating", name: "fork", value: wall, limit: 1.1 },
];

/** A table of all measured goals and their results. */
export function formatGoals(rows: Row[]): string {
  const lines = GOALS.flatMap((goal) =>
    rows.filter((row) => row.name === goal.name).map((row) => formatGoal(goal, row, rows)),
  );
  return formatCells(["goal", "repository", "value", "limit", "result"], lines);
}

function formatGoal(goal: Goal, row: Row, rows: Row[]): string[] {
  const { text, sizes, limit, isFloor = false } = goal;
  const value = goal.value(row, rows);
  const shownLimit = `${isFloor ? "≥" : "≤"} ${limit}`;
  const isMet = value !== undefined && (isFloor ? value >= limit : value <= limit);
  const applies = sizes === undefined || sizes.includes(row.size);
  const result = value === undefined ? "not measured" : isMet ? "met" : "MISSED";
  const shownResult = applies ? result : `(${result})`;
  return [text, row.size, value === undefined ? "-" : value.toFixed(2), shownLimit, shownResult];
}
