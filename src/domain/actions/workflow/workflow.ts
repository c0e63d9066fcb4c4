import type { JobPermissions, WorkflowFault } from "../../../db/schema/actions.ts";
import type { FilterPattern } from "./filter-pattern.ts";
import type { SourceMap } from "./source-node.ts";

/** When an event starts a workflow; a filter that is not there lets everything pass. */
export interface EventFilter {
  readonly types?: readonly string[];
  readonly branches?: readonly FilterPattern[];
  readonly branchesIgnore?: readonly FilterPattern[];
  readonly tags?: readonly FilterPattern[];
  readonly tagsIgnore?: readonly FilterPattern[];
  readonly paths?: readonly FilterPattern[];
  readonly pathsIgnore?: readonly FilterPattern[];
  /** Names of workflows, for `workflow_run`. */
  readonly workflows?: readonly FilterPattern[];
}

export const DISPATCH_INPUT_TYPES = [
  "string",
  "boolean",
  "number",
  "choice",
  "environment",
] as const;

/** A value that who starts a workflow by hand gives. */
export interface DispatchInput {
  readonly name: string;
  readonly type: (typeof DISPATCH_INPUT_TYPES)[number];
  readonly description: string;
  readonly isRequired: boolean;
  readonly default?: string;
  /** Of a `choice`: at least one. */
  readonly options?: readonly string[];
}

/** The group in which one run, or job, waits for another. Both are texts with expressions. */
export interface Concurrency {
  readonly group: string;
  readonly cancelInProgress: string | boolean;
}

/** A job of a file, before its matrix. */
export interface JobSource {
  /** Its key. */
  readonly id: string;
  /** Keys of jobs, each once. */
  readonly needs: readonly string[];
  readonly hasMatrix: boolean;
  /** Whether it runs another workflow, which its runner reads. */
  readonly isCall: boolean;
  /** Where its key stands in the file, in characters. */
  readonly offset: number;
  readonly source: SourceMap;
}

/** What a workflow file says. */
export interface Workflow {
  /** `.gitea/workflows/ci.yml`. */
  readonly path: string;
  /** Its `name`, or the file's. */
  readonly name: string;
  /** A text with expressions. */
  readonly runName?: string;
  /** By the names under `on`, known or not. */
  readonly triggers: ReadonlyMap<string, EventFilter>;
  /** Each is one for `parseCron`. */
  readonly crons: readonly string[];
  readonly dispatchInputs: readonly DispatchInput[];
  readonly concurrency?: Concurrency;
  readonly permissions?: JobPermissions;
  /** At least one, in the order of the file. */
  readonly jobs: readonly JobSource[];
  /** The file, and its text. */
  readonly source: SourceMap;
  readonly text: string;
}

export type ReadWorkflow =
  | { readonly kind: "workflow"; readonly workflow: Workflow }
  | { readonly kind: "faulty"; readonly faults: readonly WorkflowFault[] };
