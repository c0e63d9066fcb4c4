import type { JobPermissions, WorkflowFault } from "../../../db/schema/actions.ts";
import { pause } from "../../../lib/time-slice.ts";
import { evaluateNode, evaluateText, inFile } from "./evaluate-node.ts";
import { expandMatrix, JOBS_MAX, type MatrixValues } from "./expand-matrix.ts";
import {
  type Contexts,
  type Expressions,
  type ExpressionScope,
  openExpressions,
} from "./expressions.ts";
import { FileReader } from "./file-reader.ts";
import { ALL_PERMISSIONS, readPermissions } from "./read-permissions.ts";
import {
  isNothing,
  readScalar,
  type SourceEntry,
  type SourceMap,
  type SourceNode,
  toSourceNode,
  valueOf,
} from "./source-node.ts";
import type { JobSource, Workflow } from "./workflow.ts";
import { WorkflowError } from "./workflow-error.ts";
import { writeSource } from "./write-source.ts";

/** A job of a run, as it is stored. */
export interface PlannedJob {
  readonly jobId: string;
  /** As in `test (20)`. */
  readonly name: string;
  readonly needs: readonly string[];
  readonly hasCondition: boolean;
  /** In lower case, each once. */
  readonly labels: readonly string[];
  /** The workflow file with this job alone. */
  readonly payload: string;
  readonly continuesOnError: boolean;
  readonly timeoutMinutes: number;
  readonly permissions: JobPermissions;
  readonly maxParallel: number | null;
  readonly failsFast: boolean;
  readonly concurrency?: {
    /** The group; or, as long as it is not evaluated, a text whose expressions name `needs`. */
    readonly group: string;
    readonly isEvaluated: boolean;
    readonly cancelsInProgress: boolean;
  };
}

/** What a workflow says of a run; each "" where it says nothing. */
export interface PlannedWorkflow {
  /** From `run-name`. */
  readonly title: string;
  /** The group whose runs wait for each other. */
  readonly group: string;
  readonly cancelsInProgress: boolean;
  readonly jobs: readonly PlannedJob[];
}

export type PlannedJobs = PlannedWorkflow | { readonly faults: readonly WorkflowFault[] };

const TIMEOUT_MINUTES = 360;
const NAME_MAX = 255;
/** Maximum characters of the payloads of a run, and of one. */
const PAYLOADS_MAX = 8 * 2 ** 20;
const PAYLOAD_MAX = 2 ** 20;
/** Parts of the file that all jobs have. */
const SHARED = ["name", "on", "env", "defaults"];

/**
 * Makes the jobs of a run: one for each combination of each matrix, with its expressions evaluated
 * as far as the service needs them.
 */
export async function planJobs(workflow: Workflow, contexts: Contexts): Promise<PlannedJobs> {
  const expressions = await openExpressions();
  const reader = new FileReader(workflow.text);
  const scope = expressions.open(contexts);
  const namingScope = scope.lenient();
  const top = planTop(workflow, reader, namingScope);
  const jobs: PlannedJob[] = [];
  let length = 0;
  for (const source of workflow.jobs) {
    const planner = new JobPlanner(workflow, source, expressions);
    const matrices = reader.attempt(() => planner.expand(scope)) ?? [];
    for (const [index, matrix] of matrices.entries()) {
      if (jobs.length >= JOBS_MAX) {
        reader.fail(`A run has at most ${JOBS_MAX} jobs`, source.offset);
        return { faults: reader.faults };
      }
      const job = reader.attempt(() =>
        planner.plan(matrix, { index, total: matrices.length }, scope, namingScope),
      );
      if (!job) break;
      length += job.payload.length;
      if (job.payload.length > PAYLOAD_MAX || length > PAYLOADS_MAX) {
        reader.fail("The jobs of the run are too large", source.offset);
        return { faults: reader.faults };
      }
      jobs.push(job);
      const pausing = pause(job.payload.length);
      if (pausing) await pausing;
    }
  }
  return reader.faults.length > 0 ? { faults: reader.faults } : { ...top, jobs };
}

/** Evaluates what stands beside the jobs. */
function planTop(
  { source }: Workflow,
  reader: FileReader,
  scope: ExpressionScope,
): Omit<PlannedWorkflow, "jobs"> {
  const concurrency = valueOf(source, "concurrency");
  const cancels = valueOf(concurrency, "cancel-in-progress");
  return {
    title: evaluate(valueOf(source, "run-name")),
    group: evaluate(groupOf(concurrency)),
    cancelsInProgress: evaluate(cancels).toLowerCase() === "true",
  };

  function evaluate(node: SourceNode | undefined): string {
    if (node?.kind !== "scalar") return "";
    return reader.attempt(() => evaluateText(node, scope).trim()) ?? "";
  }
}

/** The group of a `concurrency`: a text, or one of its keys. */
function groupOf(node: SourceNode | undefined): SourceNode | undefined {
  return node?.kind === "map" ? valueOf(node, "group") : node;
}

/** Makes the jobs of one job of a file. */
class JobPlanner {
  private readonly workflow: Workflow;
  private readonly job: JobSource;
  private readonly expressions: Expressions;

  constructor(workflow: Workflow, job: JobSource, expressions: Expressions) {
    this.workflow = workflow;
    this.job = job;
    this.expressions = expressions;
  }

  /** @throws WorkflowError */
  expand(scope: ExpressionScope): readonly (MatrixValues | undefined)[] {
    const matrix = valueOf(this.valueOf("strategy"), "matrix");
    if (!matrix || isNothing(matrix)) return [undefined];
    this.refuseNeeds(matrix, "a matrix");
    return expandMatrix(matrix, scope);
  }

  /** @throws WorkflowError */
  plan(
    matrix: MatrixValues | undefined,
    position: { readonly index: number; readonly total: number },
    outerScope: ExpressionScope,
    outerNamingScope: ExpressionScope,
  ): PlannedJob {
    const { job, workflow } = this;
    const strategy = this.readStrategy(outerScope);
    const values = {
      matrix: matrix ?? {},
      strategy: {
        "fail-fast": strategy.failsFast,
        "max-parallel": strategy.maxParallel ?? position.total,
        "job-index": position.index,
        "job-total": position.total,
      },
    };
    const scope = outerScope.with(values);
    const namingScope = outerNamingScope.with(values);
    const name = this.readName(matrix, namingScope);
    const runsOn = this.readRunsOn(scope);
    const concurrency = this.readGroup(namingScope, values.matrix);
    return {
      jobId: job.id,
      name,
      needs: job.needs,
      hasCondition: Boolean(readScalar(this.valueOf("if"))?.trim()),
      labels: [...new Set(runsOn.map((label) => label.toLowerCase()))],
      payload: this.writePayload(name, runsOn, matrix, strategy),
      continuesOnError: this.evaluate("continue-on-error", scope) === true,
      timeoutMinutes: this.readTimeout(scope),
      permissions:
        readPermissions(this.valueOf("permissions")) ?? workflow.permissions ?? ALL_PERMISSIONS,
      ...strategy,
      ...(concurrency ? { concurrency } : {}),
    };
  }

  private valueOf(key: string): SourceNode | undefined {
    return valueOf(this.job.source, key);
  }

  /** What the results of other jobs decide is not known yet. */
  private refuseNeeds(node: SourceNode, what: string): void {
    if (node.kind === "list") for (const item of node.items) this.refuseNeeds(item, what);
    if (node.kind === "map") {
      for (const { value } of node.entries.values()) this.refuseNeeds(value, what);
    }
    if (node.kind !== "scalar" || typeof node.value !== "string") return;
    if (inFile(node, () => this.expressions.names(node.text, "needs"))) {
      throw new WorkflowError(`'needs' can't be used in ${what}`, node.offset);
    }
  }

  private evaluate(key: string, scope: ExpressionScope): unknown {
    const node = this.valueOf(key);
    if (!node) return undefined;
    this.refuseNeeds(node, `'${key}'`);
    return evaluateNode(node, scope);
  }

  private readStrategy(scope: ExpressionScope): Pick<PlannedJob, "failsFast" | "maxParallel"> {
    const node = this.valueOf("strategy");
    const failFast = valueOf(node, "fail-fast");
    const maxParallel = valueOf(node, "max-parallel");
    const most = maxParallel ? Number(evaluateNode(maxParallel, scope)) : 0;
    return {
      failsFast: !failFast || String(evaluateNode(failFast, scope)).toLowerCase() !== "false",
      maxParallel: Number.isInteger(most) && most > 0 ? most : null,
    };
  }

  private readName(matrix: MatrixValues | undefined, scope: ExpressionScope): string {
    const { job } = this;
    const node = this.valueOf("name");
    const text = readScalar(node);
    let name = job.id;
    if (node?.kind === "scalar" && text?.includes("${{")) {
      name = evaluateText(node, scope).trim() || job.id;
    } else {
      if (text?.trim()) name = text;
      if (matrix) name += ` (${leavesOf(matrix).join(", ")})`;
    }
    return name.length > NAME_MAX ? `${name.slice(0, NAME_MAX - 1)}…` : name;
  }

  private readRunsOn(scope: ExpressionScope): readonly string[] {
    const node = this.valueOf("runs-on");
    if (!node || isNothing(node)) return [];
    const value = this.evaluate("runs-on", scope);
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    const { labels, group } = isMap ? (value as Record<string, unknown>) : { labels: value };
    // Runners take a group for a label.
    const all = [labels, group].flat().filter((label) => label !== undefined && label !== null);
    const names = all.map((label) => leavesOf(label).join().trim());
    if (names.length === 0 || names.includes("")) {
      throw new WorkflowError(`'runs-on' of '${this.job.id}' has an empty label`, node.offset);
    }
    return names;
  }

  private readTimeout(scope: ExpressionScope): number {
    const node = this.valueOf("timeout-minutes");
    if (!node || isNothing(node)) return TIMEOUT_MINUTES;
    const minutes = Number(this.evaluate("timeout-minutes", scope));
    if (!(minutes > 0)) {
      throw new WorkflowError("'timeout-minutes' must be a number above 0", node.offset);
    }
    return Math.ceil(Math.min(minutes, Number.MAX_SAFE_INTEGER));
  }

  private readGroup(scope: ExpressionScope, matrix: MatrixValues): PlannedJob["concurrency"] {
    const node = this.valueOf("concurrency");
    const group = groupOf(node);
    if (group?.kind !== "scalar" || isNothing(group)) return undefined;
    const cancels = valueOf(node, "cancel-in-progress");
    if (cancels) this.refuseNeeds(cancels, "'cancel-in-progress'");
    const isEvaluated = !this.expressions.names(group.text, "needs");
    return {
      group: isEvaluated
        ? evaluateText(group, scope)
        : this.expressions.inline(group.text, "matrix", matrix),
      isEvaluated,
      cancelsInProgress: cancels
        ? String(evaluateNode(cancels, scope)).toLowerCase() === "true"
        : false,
    };
  }

  /** The file as a runner gets it: without the other jobs, and with one value for each name. */
  private writePayload(
    name: string,
    runsOn: readonly string[],
    matrix: MatrixValues | undefined,
    strategy: Pick<PlannedJob, "failsFast" | "maxParallel">,
  ): string {
    const { source, offset, id } = this.job;
    const replaced = new Map<string, unknown>([["name", name]]);
    if (runsOn.length > 0) replaced.set("runs-on", runsOn.length === 1 ? runsOn[0] : runsOn);
    if (matrix) {
      const single = Object.entries(matrix).map(([key, value]) => [key, [value]] as const);
      const { failsFast, maxParallel } = strategy;
      replaced.set("strategy", {
        "fail-fast": failsFast,
        ...(maxParallel === null ? {} : { "max-parallel": maxParallel }),
        matrix: Object.fromEntries(single),
      });
    }
    const entries = new Map<string, SourceEntry>();
    for (const [key, value] of replaced) {
      entries.set(key, at(toSourceNode(escapeExpressions(value), offset)));
    }
    for (const [key, entry] of source.entries) {
      if (key !== "needs" && !replaced.has(key)) entries.set(key, entry);
    }
    const file = new Map<string, SourceEntry>();
    for (const key of SHARED) {
      const entry = this.workflow.source.entries.get(key);
      if (entry) file.set(key, entry);
    }
    file.set("jobs", at(toMap([[id, at(toMap(entries))]])));
    return writeSource(toMap(file));

    function at(value: SourceNode): SourceEntry {
      return { offset, value };
    }

    function toMap(parts: Iterable<readonly [string, SourceEntry]>): SourceMap {
      return { kind: "map", entries: new Map(parts), offset };
    }
  }
}

/**
 * Lets a runner take `${{` in computed texts for what it is.
 *
 * SECURITY: a title or a branch may hold one, and the runner would evaluate it, with secrets.
 */
function escapeExpressions(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("${{", () => "${{ '${{' }}");
  if (Array.isArray(value)) return value.map(escapeExpressions);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, escapeExpressions(item)]);
  return Object.fromEntries(entries) as unknown;
}

/** The scalars of a value, as texts. */
function leavesOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leavesOf);
  if (value === undefined || value === null) return [""];
  return typeof value === "string" ? [value] : [JSON.stringify(value)];
}
