import type { Answer } from "./call.ts";
import { countWork, type Work } from "./count-work.ts";
import { logged } from "./usage.ts";

/**
 * All that a caller can learn from an answer: its content, and the work on which its time depends.
 */
export interface Trace {
  readonly status: number;
  /** All headers but the request's id. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** But for SQL that is built once for all callers. */
  readonly work: Omit<Work, "sqlBuilds">;
  readonly d1Rounds: number;
  readonly r2Rounds: number;
  readonly statements: readonly string[];
}

/**
 * Sends a request and traces it.
 *
 * @param names The names in the request, which are replaced by their positions wherever the answer
 *   repeats them.
 */
export async function traced(
  send: () => Promise<Answer>,
  names: readonly string[] = [],
): Promise<Trace> {
  const counted = await sendCounted(send);
  const { answer, line, work, statements } = counted;
  const { sqlBuilds: _, ...rest } = work;
  const id = answer.headers.get("X-Request-Id") ?? "";
  const withoutNames = (text: string): string =>
    names.reduce((each, name, at) => each.replaceAll(name, `<${at}>`), text.replaceAll(id, "<id>"));
  const headers = [...answer.headers].filter(([name]) => name !== "x-request-id");
  return {
    status: answer.status,
    headers: Object.fromEntries(headers.map(([name, value]) => [name, withoutNames(value)])),
    body: JSON.parse(withoutNames(JSON.stringify(answer.body))) as unknown,
    work: rest,
    d1Rounds: line.d1Rounds,
    r2Rounds: line.r2Rounds,
    statements,
  };
}

async function sendCounted(send: () => Promise<Answer>) {
  let counts: { work: Work; statements: string[] } | undefined;
  const { answer, line } = await logged(async () => {
    const { result, work, statements } = await countWork(send);
    counts = { work, statements };
    return result;
  });
  if (!counts) throw new Error("nothing was counted");
  return { answer, line, ...counts };
}
