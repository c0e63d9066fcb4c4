import type { ExpressionScope } from "./expressions.ts";
import { evaluateNode } from "./evaluate-node.ts";
import { type SourceNode, valueOf } from "./source-node.ts";
import { WorkflowError } from "./workflow-error.ts";

/** The values of one job of a matrix, by name in the order of the file. */
export type MatrixValues = Readonly<Record<string, unknown>>;

/** Maximum jobs of a run. */
export const JOBS_MAX = 256;

/** Maximum entries of `include`, and of `exclude`. */
const ENTRIES_MAX = 1000;

/** The jobs of a matrix: the values of each. */
export function expandMatrix(matrix: SourceNode, scope: ExpressionScope): readonly MatrixValues[] {
  const evaluated = evaluateNode(matrix, scope);
  if (!isObject(evaluated)) throw new WorkflowError("A matrix must be a map", matrix.offset);
  const { include, exclude, ...axes } = evaluated;
  const excluding = readMaps(exclude, "exclude");
  const combinations = combine(axes, matrix).filter(
    (values) => !excluding.some((excluded) => contains(values, excluded)),
  );
  for (const excluded of excluding) {
    for (const name of Object.keys(excluded)) {
      if (!Object.hasOwn(axes, name))
        fail(`'exclude' names '${name}', which the matrix does not have`, "exclude");
    }
  }
  const added: MatrixValues[] = [];
  const extended = combinations.map((values): Record<string, unknown> => ({ ...values }));
  for (const included of readMaps(include, "include")) {
    let isUsed = false;
    for (const [index, original] of combinations.entries()) {
      const ofAxes = Object.entries(included).filter(([name]) => Object.hasOwn(original, name));
      if (!ofAxes.every(([name, value]) => isEqual(original[name], value))) continue;
      Object.assign(extended[index] ?? {}, included);
      isUsed = true;
    }
    if (!isUsed) added.push(included);
  }
  const all = [...extended, ...added];
  if (all.length === 0) throw new WorkflowError("The matrix has no jobs", matrix.offset);
  if (all.length > JOBS_MAX) throw tooMany(matrix);
  return all;

  function readMaps(list: unknown, key: string): readonly MatrixValues[] {
    if (list === undefined || list === null) return [];
    if (!Array.isArray(list) || !list.every(isObject))
      return fail(`'${key}' must be a list of maps`, key);
    if (list.length > ENTRIES_MAX) fail(`'${key}' has more than ${ENTRIES_MAX} entries`, key);
    return list;
  }

  function fail(message: string, key: string): never {
    throw new WorkflowError(message, (valueOf(matrix, key) ?? matrix).offset);
  }
}

/** All combinations of the values of axes; none without axes. */
function combine(axes: Record<string, unknown>, matrix: SourceNode): MatrixValues[] {
  let combinations: MatrixValues[] = [];
  for (const [name, axis] of Object.entries(axes)) {
    const values: readonly unknown[] = Array.isArray(axis) ? axis : [axis];
    const { offset } = valueOf(matrix, name) ?? matrix;
    if (values.length === 0)
      throw new WorkflowError(`'${name}' of the matrix has no values`, offset);
    if (values.length * Math.max(1, combinations.length) > JOBS_MAX) throw tooMany(matrix);
    const before: MatrixValues[] = combinations.length === 0 ? [{}] : combinations;
    combinations = before.flatMap((rest) =>
      values.map((value) => Object.assign({}, rest, { [name]: value })),
    );
  }
  return combinations;
}

function tooMany({ offset }: SourceNode): WorkflowError {
  return new WorkflowError(`A matrix has at most ${JOBS_MAX} jobs`, offset);
}

/** Whether all that an exclusion names is so. */
function contains(values: unknown, excluded: unknown): boolean {
  if (!isObject(values) || !isObject(excluded)) return isEqual(values, excluded);
  return Object.entries(excluded).every(([name, value]) => contains(values[name], value));
}

/** Ends at the first difference. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => isEqual(a[name], b[name]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
