import type { Expressions } from "./expressions.ts";
import type { FileReader, TextAt } from "./file-reader.ts";
import { inFile } from "./evaluate-node.ts";
import { readConcurrency } from "./read-concurrency.ts";
import { isNothing, readScalar, type SourceNode, valueOf } from "./source-node.ts";
import type { JobSource } from "./workflow.ts";

/** Maximum jobs of a file. */
const SOURCES_MAX = 256;
/** Keys of a job and a step whose values are maps, where they are no expressions. */
const MAPS = ["env", "with", "outputs", "services"];

/** Reads the jobs of a file, and checks what would fail on each runner. */
export function readJobs(
  reader: FileReader,
  expressions: Expressions,
  node: SourceNode | undefined,
): readonly JobSource[] {
  const jobs: JobSource[] = [];
  const needs = new Map<string, readonly TextAt[]>();
  for (const [id, { value, offset }] of reader.readEntries(node, "'jobs'")) {
    if (value.kind !== "map") {
      reader.fail(`The job '${id}' must be a map`, offset);
      continue;
    }
    const isCall = readScalar(valueOf(value, "uses")) !== undefined;
    if (!isCall && isNothing(valueOf(value, "runs-on"))) {
      reader.fail(`The job '${id}' has no 'runs-on'`, offset);
    }
    const needed = reader.readTexts(valueOf(value, "needs"), `'needs' of '${id}'`);
    needs.set(id, needed);
    const hasMatrix = !isNothing(valueOf(valueOf(value, "strategy"), "matrix"));
    const names = [...new Set(needed.map(({ text }) => text))];
    jobs.push({ id, needs: names, hasMatrix, isCall, offset, source: value });
    readConcurrency(reader, valueOf(value, "concurrency"));
    checkMaps(reader, value);
    checkCondition(reader, expressions, valueOf(value, "if"));
    checkSteps(reader, expressions, valueOf(value, "steps"));
  }
  if (jobs.length === 0) reader.fail("The workflow has no jobs", node?.offset);
  if (jobs.length > SOURCES_MAX) {
    reader.fail(`A workflow has at most ${SOURCES_MAX} jobs`, jobs[SOURCES_MAX]?.offset);
    return jobs;
  }
  checkNeeds(reader, jobs, needs);
  return jobs;
}

function checkSteps(
  reader: FileReader,
  expressions: Expressions,
  node: SourceNode | undefined,
): void {
  if (!node || isNothing(node)) return;
  if (node.kind !== "list") {
    reader.fail("'steps' must be a list", node.offset);
    return;
  }
  for (const step of node.items) {
    const hasRun = !isNothing(valueOf(step, "run"));
    const hasUses = !isNothing(valueOf(step, "uses"));
    if (step.kind !== "map") reader.fail("A step must be a map", step.offset);
    else if (hasRun && hasUses) reader.fail("A step has 'run' or 'uses', not both", step.offset);
    else if (!hasRun && !hasUses) reader.fail("A step must have 'run' or 'uses'", step.offset);
    checkMaps(reader, step);
    checkCondition(reader, expressions, valueOf(step, "if"));
  }
}

/** An `if` is an expression, with or without `${{ }}`. */
function checkCondition(
  reader: FileReader,
  expressions: Expressions,
  node: SourceNode | undefined,
): void {
  if (node?.kind !== "scalar" || typeof node.value !== "string" || !node.text.trim()) return;
  reader.attempt(() => inFile(node, () => expressions.check(node.text, true)));
}

/** Maps, where they are not one expression. */
export function checkMaps(reader: FileReader, node: SourceNode): void {
  for (const key of MAPS) {
    const value = valueOf(node, key);
    if (!readScalar(value)?.includes("${{")) reader.readEntries(value, `'${key}'`);
  }
}

/** Each job that is needed exists, and no job needs itself through others. */
function checkNeeds(
  reader: FileReader,
  jobs: readonly JobSource[],
  needs: ReadonlyMap<string, readonly TextAt[]>,
): void {
  for (const { id } of jobs) {
    for (const { text, offset } of needs.get(id) ?? []) {
      if (!needs.has(text)) {
        reader.fail(`The job '${id}' needs the job '${text}', which does not exist`, offset);
      }
    }
  }
  const done = new Set<string>();
  for (const { id } of jobs) visit(id, []);

  function visit(id: string, path: readonly string[]): void {
    const start = path.indexOf(id);
    if (start >= 0) {
      const circle = [...path.slice(start), id];
      const last = needs.get(circle.at(-2) ?? id)?.find(({ text }) => text === id);
      reader.fail(`Jobs need each other in a circle: ${circle.join(" needs ")}`, last?.offset);
      return;
    }
    if (done.has(id)) return;
    for (const { text } of needs.get(id) ?? []) visit(text, [...path, id]);
    done.add(id);
  }
}

/** How expressions are written, everywhere in a file. */
export function checkExpressions(
  reader: FileReader,
  expressions: Expressions,
  root: SourceNode,
): void {
  const seen = new Set<SourceNode>();
  check(root);

  function check(node: SourceNode): void {
    // Aliases are the same object.
    if (seen.has(node)) return;
    seen.add(node);
    if (node.kind === "list") for (const item of node.items) check(item);
    if (node.kind === "map") for (const { value } of node.entries.values()) check(value);
    if (node.kind !== "scalar" || !node.text.includes("${{")) return;
    reader.attempt(() => inFile(node, () => expressions.check(node.text, false)));
  }
}
