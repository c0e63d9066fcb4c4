import type { Inputs } from "./inputs/read.ts";

/** Where a step of a request waits. */
type Place = "database" | "object";

/** A step of a request: one call. */
export type Step = {
  place: Place;
  isWrite: boolean;
  isGuard?: boolean;
  serviceMs: number;
  rowsRead: number;
  rowsWritten: number;
};

/** The steps of requests of one kind, one after the other, and what else they use. */
export type KindSteps = {
  name: string;
  steps: readonly Step[];
  cpuMs: number;
  /** HTTP requests. */
  requests: number;
  /** Whether it ends in a batch that writes. */
  isWrite: boolean;
  hasEvent: boolean;
};

/** Kinds that end in a batch that writes. */
const WRITES = new Set([
  "comment",
  "issue",
  "star",
  "file",
  "creation",
  "push",
  "packagePublish",
  "mirror",
]);
/**
 * A mirror reads its row, asks the other side, and writes what came of it; no benchmark counts it.
 */
const MIRROR_CALLS = 3;
/** Rows that it writes: the repository, and its entries in three indexes. */
const MIRROR_ROWS = 4;

/**
 * Rows that the archive of a delivery writes: its own with its entries in two indexes and, with few
 * hooks, that of its event with one.
 */
const ARCHIVED_ROWS = 5;

/** The steps of each kind of the workload. */
export function stepsOfKinds(inputs: Inputs): Map<string, KindSteps> {
  const names = Object.keys(inputs.workload.kinds);
  return new Map(names.map((name) => [name, stepsOfKind(inputs, name)]));
}

function stepsOfKind(inputs: Inputs, name: string): KindSteps {
  const { cost } = inputs;
  const isMirror = name === "mirror";
  const calls = isMirror ? MIRROR_CALLS : Math.round(cost(`${name}.d1Calls`));
  const rowsRead = isMirror ? cost("repository.rowsRead") : cost(`${name}.rowsRead`);
  const rowsWritten = isMirror ? MIRROR_ROWS : cost(`${name}.rowsWritten`);
  const objectCalls = isMirror ? cost("lsRefs.objectCalls") : cost(`${name}.objectCalls`);
  const isWrite = WRITES.has(name);
  const reads = calls - (isWrite ? 1 : 0);
  const isGit = ["lsRefs", "fetch", "clone", "push"].includes(name);

  const steps: Step[] = [];
  // The guard reads at most what it reads for a repository; git asks it with each of its requests.
  const guards = Math.max(1, isGit ? reads : 1);
  const guardRows = Math.min(rowsRead, guards * cost("repository.rowsRead"));
  const guard: Step = { ...readStep(inputs, guardRows / guards), isGuard: true };
  for (let count = 0; count < guards; count++) steps.push(guard);
  const others = Math.max(reads - guards, 0);
  for (let call = 0; call < others; call++) {
    steps.push(readStep(inputs, (rowsRead - guardRows) / others));
  }
  for (let call = 0; call < Math.round(objectCalls); call++) steps.push(objectStep(inputs));
  if (isWrite) steps.push(writeStep(inputs, rowsWritten));
  return {
    name,
    steps,
    cpuMs: cost(`${name}.cpuMs`),
    requests: isMirror ? 0 : cost(`${name}.requests`),
    isWrite,
    hasEvent: isWrite && !isMirror,
  };
}

/** The least time that a call takes of an object, and so of a database. */
const callMs = ({ published }: Inputs): number => 1000 / published("objects.requestsPerSecondMax");

export function readStep(inputs: Inputs, rowsRead: number): Step {
  const { cost, workload } = inputs;
  const sqlMs =
    workload.d1.statementsPerCall * cost("sqlite.statementMs") +
    rowsRead * cost("sqlite.rowReadMs");
  const serviceMs = Math.max(callMs(inputs), sqlMs);
  return { place: "database", isWrite: false, serviceMs, rowsRead, rowsWritten: 0 };
}

function writeStep(inputs: Inputs, rowsWritten: number): Step {
  const { cost, published, workload } = inputs;
  const sqlMs =
    workload.d1.statementsPerCall * cost("sqlite.statementMs") +
    rowsWritten * cost("sqlite.rowWrittenMs");
  const serviceMs = Math.max(callMs(inputs), sqlMs) + published("d1.writeMs");
  return { place: "database", isWrite: true, serviceMs, rowsRead: 0, rowsWritten };
}

const objectStep = (inputs: Inputs): Step => ({
  place: "object",
  isWrite: false,
  serviceMs: callMs(inputs),
  rowsRead: inputs.workload.objects.rowsReadPerCall,
  rowsWritten: 0,
});

/** The calls of one job, which some jobs of a kind do without. */
export type JobSteps = { steps: readonly Step[]; probability: number };

/**
 * The calls of the dispatch of one event, and of one delivery: at the primary, since jobs follow
 * writes.
 */
export function stepsOfJob(inputs: Inputs, job: "dispatch" | "delivery"): JobSteps {
  const { cost, workload } = inputs;
  const calls = cost(`${job}.d1Calls`);
  const rowsWritten = cost(`${job}.rowsWritten`) + (job === "delivery" ? ARCHIVED_ROWS : 0);
  const whole = Math.max(1, Math.ceil(calls));
  // A delivery leases its hook and records the attempt.
  const writes =
    job === "delivery" ? whole : Math.max(1, Math.round(whole * workload.jobWriteShare));
  const [read, write] = [
    { ...readStep(inputs, cost(`${job}.rowsRead`) / calls), isWrite: true },
    writeStep(inputs, (rowsWritten * whole) / (calls * writes)),
  ];
  const steps = Array.from({ length: whole }, (_, at) => (at < whole - writes ? read : write));
  return { steps, probability: calls / whole };
}
