import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { inProject } from "../project.ts";
import { type Check, verdictOf } from "./check.ts";
import { stronglyConnected } from "./strongly-connected.ts";

/**
 * Folders that import one another today, written as {@link nameOf} does. The check fails where one is not in this
 * list, and where one in it is gone: so the list only shrinks.
 */
const KNOWN: readonly string[] = [];

/** An import of one file by another. Type imports count: they tie folders together as well. */
export type Import = { from: string; line: number; to: string };

/** Members of a folder (files, and folders that end in a slash) that import each other in a circle. */
export type FolderCycle = { folder: string; members: string[]; shortest: Import[] };

/**
 * No folder takes part in a cycle of imports.
 *
 * In each folder, what is directly in it counts as one each: a file, or a folder with all it holds. Imports among
 * these must not form a circle. So siblings have an order; and a folder's own files stand above a folder in it
 * (`index.ts`, which lists routes) or below it (`env.ts`, which routes import), but none is both, directly or by
 * way of others.
 */
export const folderCycles: Check = {
  name: "cycles",
  run: async () => verdictOf(judgeFolders(readImports(inProject("."), "src"), KNOWN)),
};

/** @returns A complaint for each cycle that is not known, and for each known one that is gone. */
export function judgeFolders(imports: Import[], known: readonly string[]): string[] {
  const cycles = findFolderCycles(imports);
  const names = new Set(cycles.map(nameOf));
  const fresh = cycles.filter((cycle) => !known.includes(nameOf(cycle))).map(describe);
  const gone = known.filter((name) => !names.has(name));
  return [...fresh, ...gone.map((name) => `no longer a cycle, remove it from the list: ${name}`)];
}

/** The cycles of all folders, by folder. Each group of members that reach one another is one cycle. */
export function findFolderCycles(imports: Import[]): FolderCycle[] {
  const folders = new Set(
    imports.flatMap(({ from, to }) => [...ancestorsOf(from), ...ancestorsOf(to)]),
  );
  return [...folders].toSorted().flatMap((folder) => {
    const between = imports.flatMap((one) => {
      const from = memberOf(folder, one.from);
      const to = memberOf(folder, one.to);
      return from && to && from !== to ? [{ from, to, import: one }] : [];
    });
    // The linter finds cycles of files alone, and says more of them.
    const groups = stronglyConnected(between).filter((group) =>
      group.some((name) => name.endsWith("/")),
    );
    return groups.map((members) => ({
      folder,
      members: members.toSorted(),
      shortest: shortestCycle(members, between),
    }));
  });
}

const nameOf = ({ folder, members }: FolderCycle): string => `${folder}: ${members.join(" ")}`;

function describe(cycle: FolderCycle): string {
  const lines = cycle.shortest.map(({ from, line, to }) => `  ${from}:${line} imports ${to}`);
  return [`${nameOf(cycle)} import one another; the shortest way round:`, ...lines].join("\n");
}

type Edge = { from: string; to: string; import: Import };

/** The imports of the shortest circle within a group, found by a search from each member in turn. */
function shortestCycle(members: string[], edges: Edge[]): Import[] {
  const circles = members.map((start) =>
    circleFrom(
      start,
      edges.filter(({ from, to }) => members.includes(from) && members.includes(to)),
    ),
  );
  return circles.reduce((best, circle) => (circle.length < best.length ? circle : best));
}

function circleFrom(start: string, edges: Edge[]): Import[] {
  const ways = new Map<string, Import[]>([[start, []]]);
  for (const [at, way] of ways) {
    for (const edge of edges) {
      if (edge.from !== at) continue;
      if (edge.to === start) return [...way, edge.import];
      if (!ways.has(edge.to)) ways.set(edge.to, [...way, edge.import]);
    }
  }
  throw new Error(`${start} is in no cycle`);
}

function ancestorsOf(file: string): string[] {
  const parent = dirname(file);
  return parent === "." ? [] : [parent, ...ancestorsOf(parent)];
}

/** What is directly in a folder, and is or holds a file; undefined for a file elsewhere. */
function memberOf(folder: string, file: string): string | undefined {
  if (!file.startsWith(`${folder}/`)) return undefined;
  const [first = "", ...rest] = file.slice(folder.length + 1).split("/");
  return rest.length > 0 ? `${first}/` : first;
}

const IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

/** The imports among the files below `folder`, given and told by paths from `root`. */
export function readImports(root: string, folder: string): Import[] {
  const files = readdirSync(join(root, folder), { recursive: true })
    .map((name) => `${folder}/${String(name)}`)
    .filter((name) => /\.tsx?$/.test(name))
    .toSorted();
  return files.flatMap((from) => {
    const text = readFileSync(join(root, from), "utf8");
    return [...text.matchAll(IMPORT)].map(({ index, 1: path = "" }) => ({
      from,
      line: text.slice(0, index).split("\n").length,
      to: join(dirname(from), path),
    }));
  });
}
