import type { Node, Pair } from "yaml";

import { parseYaml, YamlTooLong } from "../../../lib/yaml.ts";
import { WorkflowError } from "./workflow-error.ts";

/** A text, number, truth value or nothing. */
export interface SourceScalar {
  readonly kind: "scalar";
  /** As it is written, without quotes. */
  readonly text: string;
  readonly value: string | number | boolean | null;
  /** Whether it stands without quotes on one line, so that its text says its type. */
  readonly isPlain: boolean;
  /** Where it starts in the file, in characters, and each `${{` in it. */
  readonly offset: number;
  readonly expressions: readonly number[];
}

interface SourceList {
  readonly kind: "list";
  readonly items: readonly SourceNode[];
  readonly offset: number;
}

export interface SourceMap {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, SourceEntry>;
  readonly offset: number;
}

export interface SourceEntry {
  /** Where the key stands. */
  readonly offset: number;
  readonly value: SourceNode;
}

/**
 * A part of a workflow file. An anchor and its aliases are one object, so a file of nested aliases
 * is no larger here than as a text.
 */
export type SourceNode = SourceScalar | SourceList | SourceMap;

/** Maximum levels of lists and maps in each other. */
const DEPTH_MAX = 64;
const TOO_DEEP = `The file has more than ${DEPTH_MAX} levels`;
/** Maximum characters and parts of the file with all aliases written out. */
const EXPANDED_MAX = 2 ** 20;

/**
 * Reads a YAML text, of which only the first document counts, as for runners.
 *
 * @returns undefined for a text without content.
 * @throws WorkflowError
 */
export async function parseSource(text: string): Promise<SourceNode | undefined> {
  const document = await parseFirst(text);
  const [error] = document?.errors ?? [];
  if (error) {
    const isTooDeep = error.message.startsWith("Maximum call stack");
    throw new WorkflowError(isTooDeep ? TOO_DEEP : error.message, error.pos[0]);
  }
  const { isAlias, isMap, isScalar, isSeq } = await import("yaml");
  const anchors = new Map<string, SourceNode | "unfinished">();
  const sizes = new Map<SourceNode, number>();
  const root = document?.contents ? convert(document.contents, 0) : undefined;
  if (root && sizeOf(root) > EXPANDED_MAX) {
    throw new WorkflowError("The aliases of the file stand for too much text", root.offset);
  }
  return root;

  function convert(node: Node, depth: number): SourceNode {
    const offset = node.range?.[0] ?? 0;
    if (depth > DEPTH_MAX) {
      throw new WorkflowError(TOO_DEEP, offset);
    }
    if (isAlias(node)) {
      const found = anchors.get(node.source);
      if (!found) throw new WorkflowError(`There is no anchor '${node.source}'`, offset);
      if (found === "unfinished") {
        throw new WorkflowError(`The alias '${node.source}' is a part of itself`, offset);
      }
      return found;
    }
    const { anchor } = node as { anchor?: string };
    if (anchor !== undefined) anchors.set(anchor, "unfinished");
    const converted = convertContent(node, offset, depth);
    if (anchor !== undefined) anchors.set(anchor, converted);
    return converted;
  }

  function convertContent(node: Node, offset: number, depth: number): SourceNode {
    if (isMap<Node, Node | null>(node)) {
      return measured({ kind: "map", entries: convertPairs(node.items, depth), offset });
    }
    if (isSeq<Node>(node)) {
      const items = node.items.map((item) => convert(item, depth + 1));
      return measured({ kind: "list", items, offset });
    }
    if (!isScalar(node)) throw new WorkflowError("This is no value", offset);
    const { value, source, type } = node;
    const isPlain = type === "PLAIN";
    const known = toScalarValue(value);
    const written = isPlain && typeof known !== "string" ? source : undefined;
    return measured({
      kind: "scalar",
      text: written ?? String(known ?? ""),
      value: known,
      isPlain,
      offset,
      expressions: findAll(text, "${{", offset, node.range?.[1] ?? offset),
    });
  }

  function convertPairs(
    pairs: readonly Pair<Node, Node | null>[],
    depth: number,
  ): Map<string, SourceEntry> {
    const entries = new Map<string, SourceEntry>();
    const merged: SourceNode[] = [];
    for (const { key, value } of pairs) {
      const offset = key.range?.[0] ?? 0;
      const name = convert(key, depth + 1);
      if (name.kind !== "scalar") throw new WorkflowError("A key must be a text", offset);
      const content = value ? convert(value, depth + 1) : toSourceNode(null, offset);
      if (name.text === "<<" && name.isPlain) merged.push(content);
      else entries.set(name.text, { offset, value: content });
    }
    for (const content of merged) {
      for (const map of content.kind === "list" ? content.items : [content]) {
        if (map.kind !== "map") throw new WorkflowError("Only maps can be merged", map.offset);
        for (const [name, entry] of map.entries) {
          if (!entries.has(name)) entries.set(name, entry);
        }
      }
    }
    return entries;
  }

  function measured<T extends SourceNode>(node: T): T {
    let size = 1;
    if (node.kind === "scalar") size += node.text.length;
    if (node.kind === "list") for (const item of node.items) size += sizeOf(item);
    if (node.kind === "map") {
      for (const [name, { value }] of node.entries) size += name.length + sizeOf(value);
    }
    sizes.set(node, size);
    return node;
  }

  function sizeOf(node: SourceNode): number {
    return sizes.get(node) ?? 1;
  }
}

async function parseFirst(text: string) {
  try {
    const [document] = await parseYaml(text, "core");
    return document;
  } catch (error) {
    if (error instanceof YamlTooLong)
      throw new WorkflowError(`The file is too long: ${error.message}`);
    if (error instanceof RangeError) throw new WorkflowError(TOO_DEEP);
    throw error;
  }
}

/** The text of a scalar; undefined for lists, maps and nothing. */
export function readScalar(node: SourceNode | undefined): string | undefined {
  return node?.kind === "scalar" && node.value !== null ? node.text : undefined;
}

/** Whether a key without a value stands there. */
export function isNothing(node: SourceNode | undefined): boolean {
  return !node || (node.kind === "scalar" && node.value === null);
}

/** The value under a key of a map; undefined if there is none. */
export function valueOf(node: SourceNode | undefined, key: string): SourceNode | undefined {
  return node?.kind === "map" ? node.entries.get(key)?.value : undefined;
}

/** A value that was computed, at the place of the file that made it. */
export function toSourceNode(value: unknown, offset: number): SourceNode {
  if (Array.isArray(value)) {
    return { kind: "list", items: value.map((item) => toSourceNode(item, offset)), offset };
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(
      ([name, item]) => [name, { offset, value: toSourceNode(item, offset) }] as const,
    );
    return { kind: "map", entries: new Map(entries), offset };
  }
  const known = toScalarValue(value);
  const isPlain = typeof known !== "string";
  const text = String(known ?? "");
  return { kind: "scalar", text, value: known, isPlain, offset, expressions: [] };
}

/** Other values than these are texts; dates, for example, are not a type here. */
function toScalarValue(value: unknown): SourceScalar["value"] {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return value;
  }
  return typeof value === "bigint" ? Number(value) : null;
}

function findAll(text: string, part: string, from: number, end: number): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part, from); at >= 0 && at < end; at = text.indexOf(part, at + 1)) {
    found.push(at);
  }
  return found;
}

/** Line and column of a character of a text, from 1. */
export function locate(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - before.lastIndexOf("\n") };
}
