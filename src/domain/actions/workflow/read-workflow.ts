import { type Expressions, openExpressions } from "./expressions.ts";
import { FileReader } from "./file-reader.ts";
import { readDispatchInputs } from "./dispatch-inputs.ts";
import { readConcurrency } from "./read-concurrency.ts";
import { checkExpressions, checkMaps, readJobs } from "./read-jobs.ts";
import { readPermissions } from "./read-permissions.ts";
import { readTriggers } from "./read-triggers.ts";
import { parseSource, valueOf } from "./source-node.ts";
import type { ReadWorkflow } from "./workflow.ts";
import { WorkflowError } from "./workflow-error.ts";

/** Maximum size of a file, in bytes. */
const BYTES_MAX = 512 * 1024;

/**
 * Reads a workflow file.
 *
 * @param content The file, or its text if it is known to be one.
 */
export async function readWorkflow(
  path: string,
  content: string | Uint8Array,
): Promise<ReadWorkflow> {
  const size = typeof content === "string" ? content.length : content.byteLength;
  if (size > BYTES_MAX) return faulty(`A workflow file has at most ${BYTES_MAX / 1024} KiB`);
  const text = typeof content === "string" ? content : decode(content);
  if (text === undefined) return faulty("The file is not UTF-8");
  const reader = new FileReader(text);
  try {
    const workflow = await readFile(reader, path, await openExpressions());
    const { faults } = reader;
    if (workflow && faults.length === 0) return { kind: "workflow", workflow };
  } catch (error) {
    if (!(error instanceof WorkflowError)) throw error;
    reader.fail(error.message, error.offset);
  }
  return { kind: "faulty", faults: reader.faults };
}

async function readFile(reader: FileReader, path: string, expressions: Expressions) {
  const source = await parseSource(reader.text);
  if (source?.kind !== "map")
    throw new WorkflowError("A workflow file must be a map", source?.offset);
  const on = valueOf(source, "on");
  checkMaps(reader, source);
  for (const [key, { value }] of source.entries) {
    // Nothing under `on` is evaluated here.
    if (key !== "on") checkExpressions(reader, expressions, value);
  }
  const name = reader.readText(valueOf(source, "name"), "'name'");
  const runName = reader.readText(valueOf(source, "run-name"), "'run-name'");
  const concurrency = readConcurrency(reader, valueOf(source, "concurrency"));
  const permissions = readPermissions(valueOf(source, "permissions"));
  return {
    path,
    name: name?.trim() ? name : path.slice(path.lastIndexOf("/") + 1),
    ...(runName?.trim() ? { runName } : {}),
    ...(await readTriggers(reader, on)),
    dispatchInputs: readDispatchInputs(reader, on),
    ...(concurrency ? { concurrency } : {}),
    ...(permissions ? { permissions } : {}),
    jobs: readJobs(reader, expressions, valueOf(source, "jobs")),
    source,
    text: reader.text,
  };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return undefined;
  }
}

function faulty(message: string): ReadWorkflow {
  return { kind: "faulty", faults: [{ message }] };
}
