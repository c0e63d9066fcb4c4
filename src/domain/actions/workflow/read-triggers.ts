import type { FileReader } from "./file-reader.ts";
import { type FilterPattern, parseFilterPattern } from "./filter-pattern.ts";
import { parseCron } from "./parse-cron.ts";
import { isNothing, readScalar, type SourceNode, valueOf } from "./source-node.ts";
import type { EventFilter } from "./workflow.ts";
import { WorkflowError } from "./workflow-error.ts";

/** Filters whose values are patterns, by their keys in a file. */
const FILTERS = {
  branches: "branches",
  "branches-ignore": "branchesIgnore",
  tags: "tags",
  "tags-ignore": "tagsIgnore",
  paths: "paths",
  "paths-ignore": "pathsIgnore",
  workflows: "workflows",
} as const satisfies Readonly<Record<string, keyof EventFilter>>;

/** Reads what stands under `on`: one event, a list of events, or a map of events with filters. */
export async function readTriggers(
  reader: FileReader,
  node: SourceNode | undefined,
): Promise<{ triggers: ReadonlyMap<string, EventFilter>; crons: readonly string[] }> {
  const triggers = new Map<string, EventFilter>();
  const crons: string[] = [];
  if (!node || isNothing(node)) {
    reader.fail("The workflow has no 'on'", node?.offset);
  } else if (node.kind === "map") {
    for (const [name, { value, offset }] of node.entries) {
      triggers.set(name, readEventFilter(reader, name, value));
      if (name === "schedule") crons.push(...(await readCrons(reader, value, offset)));
    }
  } else {
    for (const { text } of reader.readTexts(node, "'on'")) triggers.set(text, {});
  }
  return { triggers, crons };
}

function readEventFilter(reader: FileReader, name: string, node: SourceNode): EventFilter {
  // A runner takes any text in the place of filters for none.
  if (name === "schedule" || node.kind === "scalar") return {};
  const trigger: { -readonly [key in keyof EventFilter]: EventFilter[key] } = {};
  for (const [key, { value }] of reader.readEntries(node, `'${name}'`)) {
    if (key === "types") {
      const types = reader.readTexts(value, `'types' of '${name}'`);
      if (types.length > 0) trigger.types = types.map(({ text }) => text);
    } else if (Object.hasOwn(FILTERS, key)) {
      const patterns = readPatterns(reader, value, `'${key}' of '${name}'`);
      // An empty list filters nothing.
      if (patterns.length > 0) trigger[FILTERS[key as keyof typeof FILTERS]] = patterns;
    }
  }
  return trigger;
}

function readPatterns(reader: FileReader, node: SourceNode, name: string): FilterPattern[] {
  return reader.readTexts(node, name).flatMap(({ text, offset }) => {
    try {
      return parseFilterPattern(text);
    } catch (error) {
      if (!(error instanceof WorkflowError)) throw error;
      reader.fail(error.message, offset);
      return [];
    }
  });
}

async function readCrons(
  reader: FileReader,
  node: SourceNode,
  offset: number,
): Promise<readonly string[]> {
  const crons: string[] = [];
  if (node.kind !== "list") {
    reader.fail("'schedule' must be a list of 'cron' entries", offset);
    return [];
  }
  for (const item of node.items) {
    const cron = valueOf(item, "cron");
    const text = readScalar(cron);
    if (text === undefined) {
      reader.fail("An entry of 'schedule' must have a 'cron'", item.offset);
      continue;
    }
    const zone = readScalar(valueOf(item, "timezone"));
    const zoned = zone === undefined ? text : `TZ=${zone} ${text}`;
    try {
      await parseCron(zoned);
      crons.push(zoned);
    } catch (error) {
      if (!(error instanceof WorkflowError)) throw error;
      reader.fail(error.message, cron?.offset);
    }
  }
  return [...new Set(crons)];
}
